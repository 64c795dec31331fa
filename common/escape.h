/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * escape.h owns how text that came from elsewhere (a comm, a path, a symbol, a cgroup name) is written
 * where a person or a program reads it, so that it cannot be taken for anything but text.
 */
#ifndef BOURDON_ESCAPE_H
#define BOURDON_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes `text` for a terminal: printable ASCII and well-formed UTF-8 that is no control character stay,
 * every other byte becomes \xHH. Cuts on a whole character when `into` is full; always terminates it.
 * Returns `into`. `into_bytes` must be at least 1.
 */
char *escape_terminal(const char *text, char *into, size_t into_bytes);

/* Writes `text` as the inside of a JSON string; bytes that are not UTF-8 become U+FFFD. Same limits. */
char *escape_json(const char *text, char *into, size_t into_bytes);

/*
 * The length in bytes of the well-formed UTF-8 sequence at `text` (RFC 3629: no overlong form, no
 * surrogate, at most U+10FFFF), or 0 where there is none. `*ret_code` is its code point.
 */
unsigned int escape_utf8(const char *text, unsigned int *ret_code);

/* C0, DEL and C1, and what turns the direction or hides: a name could show as another name. */
bool escape_is_deceptive(unsigned int code);

#endif
