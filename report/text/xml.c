/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/xml.h"

#include "common/text/escape.h"
#include "report/text/format.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Two code points that end each plane are no characters; XML 1.0 forbids those of the first. */
static const char *allowed(const char *safe, unsigned int code)
{
	return (code & 0xfffe) == 0xfffe ? "\xef\xbf\xbd" : safe;
}

static const char *entity_of(const char *safe)
{
	switch (*safe) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return safe;
	}
}

/* Writes the character at `text`, and returns its bytes. `safe` is its form for a terminal. */
static unsigned int read_character(const char *text, char safe[24], unsigned int *code)
{
	unsigned int length = escape_utf8(text, code);
	char character[5] = { 0 };

	if (!length) {
		length = 1;
		*code = 0;
	}
	memcpy(character, text, length);
	escape_terminal(character, safe, 24);
	return length;
}

/* One character at a time: a text may have any length, and nothing is allocated. */
void xml_text_cut(FILE *out, const char *text, size_t characters)
{
	size_t written = 0;
	unsigned int code;
	char safe[24];

	while (*text) {
		unsigned int length = read_character(text, safe, &code);
		size_t columns = format_columns(safe);
		bool is_last = !text[length];

		if (written + columns + !is_last > characters) {
			if (characters)
				fputs("…", out);
			return;
		}
		fputs(strlen(safe) == 1 ? entity_of(safe) : allowed(safe, code), out);
		written += columns;
		text += length;
	}
}

void xml_text(FILE *out, const char *text)
{
	xml_text_cut(out, text, SIZE_MAX / 2);
}
