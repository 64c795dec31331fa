/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/csv.h"

#include "common/cleanup.h"
#include "common/escape.h"

#include <stdbool.h>
#include <string.h>

/* The bytes at the begin of the text that stand for themselves. */
static size_t plain_bytes(const char *text)
{
	size_t bytes = 0;

	while (text[bytes] >= ' ' && text[bytes] < 0x7f && text[bytes] != '"')
		bytes++;
	return bytes;
}

/* Writes other characters one at a time: a text may have any length, and nothing is allocated. */
void csv_part(FILE *out, const char *text)
{
	for (;;) {
		unsigned int code, length;
		char character[5] = { 0 }, safe[24];
		size_t plain = plain_bytes(text);

		fwrite(text, 1, plain, out);
		text += plain;
		if (!*text)
			return;
		length = escape_utf8(text, &code);
		if (!length)
			length = 1;
		memcpy(character, text, length);
		escape_terminal(character, safe, sizeof(safe));
		fputs(*safe == '"' ? "\"\"" : safe, out);
		text += length;
	}
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
	fputc('"', out);
	csv_begin(out, text);
	fputc('"', out);
}
