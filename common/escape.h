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

/*
 * A name that others chose, in the form that leaves bourdond, for the database and the control socket: what a
 * terminal must not see is \xHH here, too, and so is a backslash that could be taken for the beginning of
 * such an escape. So the form is well-formed UTF-8 without control characters, escape_terminal() leaves it as
 * it is, and no two names have the same. The caller frees; NULL without memory.
 */
char *escape_name(const char *name);

/* Whether a name is its own such form, as almost all are. */
bool escape_name_is_plain(const char *name);

/* The name of such a form, in place. */
void escape_name_undo(char *text);

/* Writes `text` as the inside of a JSON string; bytes that are not UTF-8 become U+FFFD. Same limits. */
char *escape_json(const char *text, char *into, size_t into_bytes);

/*
 * The length in bytes of the well-formed UTF-8 sequence at `text` (RFC 3629: no overlong form, no
 * surrogate, at most U+10FFFF), or 0 where there is none. `*ret_code` is its code point.
 */
unsigned int escape_utf8(const char *text, unsigned int *ret_code);

#endif
