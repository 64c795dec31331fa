/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/format.h"

#include "common/text/escape.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BLOCK "█"

char *format_bar(int64_t value, int64_t peak, size_t columns, char *into, size_t into_bytes)
{
	const size_t block_bytes = strlen(BLOCK);
	size_t filled = 0;

	if (value > 0 && peak > 0)
		filled = value >= peak ? columns : (size_t)((double)columns * (double)value / (double)peak);
	if (value > 0 && !filled)
		filled = 1;
	into[0] = '\0';
	for (size_t used = 0; filled && used + block_bytes < into_bytes; filled--, used += block_bytes)
		memcpy(into + used, BLOCK, block_bytes + 1);
	return into;
}

const char *format_eighths(double part, bool is_utf8)
{
	static const char *const blocks[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", BLOCK };
	int filled = part <= 0 ? 0 : part >= 1 ? 8 : (int)(part * 8 + 0.5);

	return is_utf8 ? blocks[filled] : filled >= 4 ? "#" : " ";
}

char *format_fine_bar(int64_t value, int64_t peak, size_t columns, char *into, size_t into_bytes)
{
	double filled = value > 0 && peak > 0 ? (double)columns * (double)value / (double)peak : 0;

	if (value > 0 && filled < 1.0 / 8)
		filled = 1.0 / 8;
	into[0] = '\0';
	for (size_t used = 0; filled >= 1.0 / 16 && columns; filled -= 1, columns--)
		used += (size_t)snprintf(into + used, used < into_bytes ? into_bytes - used : 0, "%s",
					 format_eighths(filled, true));
	return into;
}

const char *format_spark(double value, double most, bool is_utf8)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const marks[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
	int level = value > 0 && most > 0 ? (int)((value < most ? value / most : 1) * 8 + 0.5) : 0;

	if (!level && value > 0)
		level = 1;
	return (is_utf8 ? blocks : marks)[level];
}

char *format_cut(char *text, size_t columns, size_t text_bytes)
{
	char *end = text;

	if (format_columns(text) <= columns)
		return text;
	for (size_t kept = 0; *end && (!format_begins_character(*end) || ++kept < columns); end++)
		;
	snprintf(end, text_bytes - (size_t)(end - text), FORMAT_ELLIPSIS);
	return text;
}

char *format_cut_name(const char *name, size_t columns, char *into, size_t into_bytes)
{
	size_t left = format_columns(name);

	if (left <= columns || *name != '/') {
		snprintf(into, into_bytes, "%s", name);
		return format_cut(into, columns, into_bytes);
	}
	/* whole characters */
	for (; *name && left + 1 > columns; left--)
		for (name++; *name && !format_begins_character(*name); name++)
			;
	snprintf(into, into_bytes, FORMAT_ELLIPSIS "%s", name);
	return into;
}

char *format_basename(const char *path, char *into, size_t into_bytes)
{
	const char *slash = strrchr(path, '/');

	return escape_terminal(slash && slash[1] ? slash + 1 : path, into, into_bytes);
}

char *format_folded(const char *text, char *into, size_t into_bytes)
{
	escape_terminal(text, into, into_bytes);
	for (char *at = into; *at; at++)
		if (*at == ' ' && isdigit((unsigned char)at[1]))
			*at = '_';
	return into;
}

void format_escaped(FILE *out, const char *text, char mark, format_escape *escape)
{
	for (;;) {
		unsigned int code, length;
		char character[5] = { 0 }, escaped[24];
		size_t plain = 0;

		while (text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' && text[plain] != mark)
			plain++;
		fwrite(text, 1, plain, out);
		text += plain;
		if (!*text)
			return;
		length = escape_utf8(text, &code);
		if (!length)
			length = 1;
		memcpy(character, text, length);
		fputs(escape(character, escaped, sizeof(escaped)), out);
		text += length;
	}
}

#define PLACE_COLUMNS_LEAST 20

char *format_place(const char *name, int columns, char *into)
{
	size_t most = columns > PLACE_COLUMNS_LEAST ? (size_t)columns : PLACE_COLUMNS_LEAST;
	char cut[FORMAT_BYTES], escaped[FORMAT_BYTES];

	/* before it is escaped, too: `escaped` would have the begin of a long one */
	format_cut_name(name, most, cut, sizeof(cut));
	return format_cut_name(escape_terminal(cut, escaped, sizeof(escaped)), most, into, FORMAT_BYTES);
}
