/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * escape.h makes text from other processes (a comm, path, symbol or cgroup name) safe to show to people and
 * programs: it cannot act as a control sequence or as syntax.
 */
#ifndef BOURDON_COMMON_TEXT_ESCAPE_H
#define BOURDON_COMMON_TEXT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes `text` for a terminal: printable ASCII and well-formed UTF-8 without deceptive characters stay, every
 * other byte becomes \xHH. Truncates on a whole character if `into` is full; always terminates it. Returns
 * `into`. `into_bytes` must be at least 1.
 */
char *escape_terminal(const char *text, char *into, size_t into_bytes);

/* One character of a JSON string, at most, with the NUL: two surrogates. */
#define JSON_ESCAPE_BYTES 13U

/*
 * Writes `text` as the inside of a JSON string; bytes that are not UTF-8 become U+FFFD, and deceptive characters \uXXXX, so
 * that they act neither where the file is shown nor where it is part of a script. Size and truncation as in
 * escape_terminal().
 */
char *escape_json(const char *text, char *into, size_t into_bytes);

/*
 * Returns the length in bytes of the well-formed UTF-8 sequence at `text` (RFC 3629: no overlong form, no
 * surrogate, at most U+10FFFF), or 0 if there is none. Sets `*ret_code` to its code point.
 */
unsigned int escape_utf8(const char *text, unsigned int *ret_code);

/*
 * True for C0, DEL, C1, for each character that Unicode lets programs ignore (Default_Ignorable_Code_Point), for
 * others that are invisible or change the text direction, and for each space but U+0020: with them one name
 * could look like another.
 */
bool escape_is_deceptive(unsigned int code);

#endif
