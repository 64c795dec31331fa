/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/csv.h"

#include "common/escape.h"

#include <string.h>

/* Writes one character at a time: a text may have any length, and nothing is allocated. */
void csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		unsigned int code, length = escape_utf8(text, &code);
		char character[5] = { 0 }, safe[24];

		if (!length)
			length = 1;
		memcpy(character, text, length);
		escape_terminal(character, safe, sizeof(safe));
		fputs(*safe == '"' ? "\"\"" : safe, out);
		text += length;
	}
	fputc('"', out);
}
