/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format.h owns how quantities and names read in a terminal of REPORT_COLUMNS columns. Every function
 * writes a terminated text into `into`, cut where it does not fit, and returns `into`.
 */
#ifndef BOURDON_REPORT_FORMAT_H
#define BOURDON_REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define REPORT_COLUMNS 100

/* Enough for a line of escaped text, each column a UTF-8 character of four bytes. */
#define FORMAT_BYTES 512

/* Three digits and a unit, `space` between them: "1.24 s", "350 ms". Takes a double: nothing overflows. */
char *format_duration(double ns, const char *space, char *into, size_t into_bytes);

/* Likewise "1.24 MiB", "17 B". */
char *format_size(double bytes, char *into, size_t into_bytes);

/* "97.1 %"; what is there but too little to show is "<0.1 %". */
char *format_percent(double percent, char *into, size_t into_bytes);

/* A bar of at most `columns` for `value`, where `peak` has them all; one for the least that is not zero. */
char *format_bar(int64_t value, int64_t peak, size_t columns, char *into, size_t into_bytes);

/* How many columns a well-formed UTF-8 text takes, one a character. */
size_t format_columns(const char *text);

/* Cuts text that is longer than `columns`, and marks that with an ellipsis. */
char *format_cut(char *text, size_t columns, size_t text_bytes);

/* What follows the last slash, escaped. */
char *format_basename(const char *path, char *into, size_t into_bytes);

/*
 * Part of a line for flame graph tools: escaped, so that the line ends where it should, and with no space
 * before a digit, as they read the last number as the count and one before it as a second count.
 */
char *format_folded(const char *text, char *into, size_t into_bytes);

#endif
