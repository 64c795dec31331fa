/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/verdict/line.h"

#include "common/text/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A line has at most so many columns: each has at most four bytes. */
#define WIDTH_MAX 240U

static struct line_part *new_part(struct line *line)
{
	return line->count < LINE_PARTS ? &line->parts[line->count++] : NULL;
}

void line_words(struct line *line, const char *format, ...)
{
	struct line_part *part = new_part(line);
	va_list arguments;
	int length;

	if (!part)
		return;
	va_start(arguments, format);
	length = vsnprintf(line->words + line->used, sizeof(line->words) - line->used, format, arguments);
	va_end(arguments);
	*part = (struct line_part){ .from = line->used, .bytes = length > 0 ? (size_t)length : 0 };
	if (part->bytes >= sizeof(line->words) - line->used)
		part->bytes = sizeof(line->words) - line->used - 1;
	line->used += part->bytes;
}

void line_name(struct line *line, const char *name)
{
	struct line_part *part = name ? new_part(line) : NULL;

	if (part)
		*part = (struct line_part){ .name = name };
}

/* A cgroup's name may have blanks: without marks its words would be the line's. */
static bool needs_marks(const char *name)
{
	return !*name || strpbrk(name, " \"");
}

/* Appends the name in so many columns, with its marks. */
static void write_name(const char *name, size_t columns, char *into, size_t into_bytes)
{
	size_t used = strlen(into);
	bool marks = needs_marks(name);
	char *begin = into + used;

	if (used + 3 >= into_bytes)
		return;
	if (marks)
		*begin++ = '"';
	format_shorten(name, columns - (marks ? 2 : 0), begin,
		       into_bytes - (size_t)(begin - into) - (marks ? 1 : 0));
	for (char *at = begin; marks && (at = strchr(at, '"'));)
		*at = '\'';
	if (marks)
		strcat(begin, "\"");
}

/* The columns of each name, so that the line fits: the longest become shorter. */
static void fit(const struct line *line, size_t width, size_t columns[LINE_PARTS])
{
	size_t all = 0;

	for (size_t i = 0; i < line->count; i++) {
		const struct line_part *part = &line->parts[i];
		char words[LINE_WORDS_BYTES];

		snprintf(words, sizeof(words), "%.*s", (int)part->bytes, line->words + part->from);
		columns[i] = part->name ? format_columns(part->name) + (needs_marks(part->name) ? 2 : 0)
					: format_columns(words);
		/* no line has room for more, and the loop below ends soon */
		if (part->name && columns[i] > WIDTH_MAX)
			columns[i] = WIDTH_MAX;
		all += columns[i];
	}
	while (all > width) {
		size_t longest = LINE_PARTS;

		for (size_t i = 0; i < line->count; i++)
			if (line->parts[i].name && columns[i] > LINE_NAME_LEAST &&
			    (longest == LINE_PARTS || columns[i] > columns[longest]))
				longest = i;
		if (longest == LINE_PARTS)
			return;
		columns[longest]--;
		all--;
	}
}

char *line_write(const struct line *line, size_t width, char *into, size_t into_bytes)
{
	size_t columns[LINE_PARTS];

	fit(line, width && width < WIDTH_MAX ? width : WIDTH_MAX, columns);
	*into = '\0';
	for (size_t i = 0; i < line->count; i++) {
		const struct line_part *part = &line->parts[i];
		size_t used = strlen(into);

		if (part->name)
			write_name(part->name, columns[i], into, into_bytes);
		else
			snprintf(into + used, into_bytes - used, "%.*s", (int)part->bytes,
				 line->words + part->from);
	}
	return into;
}
