/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/csv.h"

#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "report/text/format.h"

#include <stdbool.h>
#include <string.h>

/* A quotation mark is doubled. */
static char *escape_field(const char *text, char *into, size_t into_bytes)
{
	return *text == '"' ? strcpy(into, "\"\"") : escape_terminal(text, into, into_bytes);
}

void csv_part(FILE *out, const char *text)
{
	format_escaped(out, text, '"', escape_field);
}

/* How a formula begins, in ASCII or in full width; alone, such a sign is a text. A tab and a line feed are escaped. */
static bool begins_formula(const char *text)
{
	static const char *const signs[] = { "=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20" };

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (!strncmp(text, signs[i], strlen(signs[i])) && text[strlen(signs[i])])
			return true;
	return false;
}

static bool is_negative_number(const char *text)
{
	size_t digits = *text == '-' ? strspn(text + 1, "0123456789.") : 0;

	return digits && !text[1 + digits];
}

void csv_begin(FILE *out, const char *text)
{
	if (begins_formula(text) && !is_negative_number(text))
		fputc('\'', out);
	csv_part(out, text);
}

void csv_text(FILE *out, const char *text)
{
	if (!text)
		return;
	fputc('"', out);
	csv_begin(out, text);
	fputc('"', out);
}
