/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/format.h"

#include "common/cleanup.h"
#include "common/escape.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "…"
#define BLOCK "█"

struct unit {
	double size;
	const char *name;
};

/* Writes three digits and the unit that fits. The units ascend. */
static char *format_scaled(double value, const struct unit *units, size_t units_count, const char *space,
			   char *into, size_t into_bytes)
{
	size_t unit = 0;
	char number[400]; /* DBL_MAX has 309 digits */
	double size;
	int decimals;

	while (unit + 1 < units_count && fabs(value) >= 999.5 * units[unit].size)
		unit++;
	size = fabs(value) / units[unit].size;
	decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
	snprintf(number, sizeof(number), "%.*f", decimals, value / units[unit].size);
	if (decimals) {
		char *end = number + strlen(number);

		while (end[-1] == '0')
			*--end = '\0';
		if (end[-1] == '.')
			end[-1] = '\0';
	}
	snprintf(into, into_bytes, "%s%s%s", number, space, units[unit].name);
	return into;
}

char *format_duration(double ns, const char *space, char *into, size_t into_bytes)
{
	static const struct unit units[] = { { 1, "ns" }, { 1e3, "µs" }, { 1e6, "ms" }, { 1e9, "s" } };

	return format_scaled(ns, units, ARRAY_SIZE(units), space, into, into_bytes);
}

char *format_size(double bytes, char *into, size_t into_bytes)
{
	static const struct unit units[] = {
		{ 1, "B" }, { 0x1p10, "KiB" }, { 0x1p20, "MiB" }, { 0x1p30, "GiB" }, { 0x1p40, "TiB" }
	};

	return format_scaled(bytes, units, ARRAY_SIZE(units), " ", into, into_bytes);
}

char *format_percent(double percent, char *into, size_t into_bytes)
{
	if (percent > 0 && percent < 0.05)
		snprintf(into, into_bytes, "<0.1 %%");
	else
		snprintf(into, into_bytes, "%.1f %%", percent);
	return into;
}

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

const char *format_spark(double value, double most, bool is_utf8)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const marks[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
	int level = value > 0 && most > 0 ? (int)((value < most ? value / most : 1) * 8 + 0.5) : 0;

	if (!level && value > 0)
		level = 1;
	return (is_utf8 ? blocks : marks)[level];
}

/* Continuation bytes of a UTF-8 character take no column. */
static bool begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t format_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += begins_character(*text);
	return columns;
}

char *format_cut(char *text, size_t columns, size_t text_bytes)
{
	char *end = text;

	if (format_columns(text) <= columns)
		return text;
	for (size_t kept = 0; *end && (!begins_character(*end) || ++kept < columns); end++)
		;
	snprintf(end, text_bytes - (size_t)(end - text), ELLIPSIS);
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
		for (name++; *name && !begins_character(*name); name++)
			;
	snprintf(into, into_bytes, ELLIPSIS "%s", name);
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
