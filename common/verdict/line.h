/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * line.h owns lines of words and names that fit a width: names are shortened in the middle, words and numbers stay whole. A name
 * that could be read as more than a name is in quotation marks.
 */
#ifndef BOURDON_VERDICT_LINE_H
#define BOURDON_VERDICT_LINE_H

#include <stddef.h>

#define LINE_PARTS 40U
#define LINE_WORDS_BYTES 768U

struct line {
	struct line_part {
		const char *name;   /* the caller's; NULL: words */
		size_t from, bytes; /* of words */
	} parts[LINE_PARTS];
	size_t count, used;
	char words[LINE_WORDS_BYTES];
};

void line_words(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The name must outlive the line. NULL adds nothing. */
void line_name(struct line *line, const char *name);

/* Writes it in at most `width` columns, if names of LINE_NAME_LEAST columns fit, and in `into_bytes` in any case. Returns `into`. */
#define LINE_NAME_LEAST 9U
char *line_write(const struct line *line, size_t width, char *into, size_t into_bytes);

#endif
