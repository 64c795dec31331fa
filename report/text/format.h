/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format.h owns how quantities and names look on a terminal of REPORT_COLUMNS columns. A function with
 * `into` writes a terminated text there, cut to its size, and returns it.
 */
#ifndef BOURDON_REPORT_TEXT_FORMAT_H
#define BOURDON_REPORT_TEXT_FORMAT_H

#include "common/text/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define REPORT_COLUMNS 100

/* Holds a line of escaped text of REPORT_COLUMNS characters, each at most four bytes. */
#define FORMAT_BYTES 512

/*
 * A bar with `columns` characters for `peak`, and fewer for a smaller `value`; at least one if it is not
 * zero.
 */
char *format_bar(int64_t value, int64_t peak, size_t columns, char *into, size_t into_bytes);

/* The same in eighths of a character; at least one eighth. */
char *format_fine_bar(int64_t value, int64_t peak, size_t columns, char *into, size_t into_bytes);

/* A character that is filled from the left, for a part of 0 to 1 of it. Without UTF-8 it is full or a blank. */
const char *format_eighths(double part, bool is_utf8);

/* The character of a sparkline: as high as the value beside `most`; a blank for 0 alone. Without UTF-8 as dark. */
const char *format_spark(double value, double most, bool is_utf8);

/* Cuts text that is longer than `columns`; the last character is then an ellipsis. */
char *format_cut(char *text, size_t columns, size_t text_bytes);

/* A name of at most `columns` characters: of a path that is longer the end is left, which says most; of others the begin. */
char *format_cut_name(const char *name, size_t columns, char *into, size_t into_bytes);

/* The same, escaped, in as many columns as are left, but in 20 at least. `into` has FORMAT_BYTES bytes. */
char *format_place(const char *name, int columns, char *into);

/* The part after the last slash, escaped. */
char *format_basename(const char *path, char *into, size_t into_bytes);

/*
 * A part of a folded line: escaped, so that it has no line break, and with no blank before a digit, because
 * flame graph tools read the last number of a line as the count, and a number before it as a second count.
 */
char *format_folded(const char *text, char *into, size_t into_bytes);

/*
 * Writes text that may have any length, with nothing allocated: printable ASCII as it is, but for quotation marks and `mark`; each
 * other character as `escape` writes it, which is escape_json(), escape_terminal() or as these.
 */
typedef char *format_escape(const char *character, char *into, size_t into_bytes);
void format_escaped(FILE *out, const char *text, char mark, format_escape *escape);

#endif
