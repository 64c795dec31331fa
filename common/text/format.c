/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text/format.h"

#include "common/base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Continuation bytes of a UTF-8 character take no column. */
bool format_begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t format_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += format_begins_character(*text);
	return columns;
}

/* The end of the first `columns` characters. */
static const char *skip(const char *text, size_t columns)
{
	for (; *text && (columns || !format_begins_character(*text)); text++)
		columns -= format_begins_character(*text);
	return text;
}

char *format_shorten(const char *text, size_t columns, char *into, size_t into_bytes)
{
	size_t all = format_columns(text), kept = columns ? columns - 1 : 0, end = kept / 2;

	if (all <= columns)
		snprintf(into, into_bytes, "%s", text);
	else
		snprintf(into, into_bytes, "%.*s" FORMAT_ELLIPSIS "%s", (int)(skip(text, kept - end) - text),
			 text, skip(text, all - end));
	return into;
}
