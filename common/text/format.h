/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format.h owns how quantities look, and how wide text is on a terminal. What writes a text terminates it, cuts it to the size of
 * `into`, and returns that.
 * Room: quantities and names as text. Any program, any thread; it writes where the caller says.
 */
#ifndef BOURDON_COMMON_TEXT_FORMAT_H
#define BOURDON_COMMON_TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#define FORMAT_ELLIPSIS "…"

/* Three digits and a unit with `space` between them: "1.24 s", "350 ms". A double does not overflow. */
char *format_duration(double ns, const char *space, char *into, size_t into_bytes);

/* Three digits and a unit: "1.24 MiB", "17 B". */
char *format_size(double bytes, char *into, size_t into_bytes);

/* "97.1 %"; "<0.1 %" for a value that is not zero but would be shown as zero. */
char *format_percent(double percent, char *into, size_t into_bytes);

/* Continuation bytes of a UTF-8 character take no column. */
bool format_begins_character(char byte);

/* The number of characters in a well-formed UTF-8 text, each one column wide. */
size_t format_columns(const char *text);

/* Shortens a text to so many columns, in the middle: "long-na…ervice". */
char *format_shorten(const char *text, size_t columns, char *into, size_t into_bytes);

#endif
