/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/wrap.h"

#include "report/text/format.h"

#include <ctype.h>
#include <string.h>

/* The bytes of the word at the begin of the text. A number keeps what it counts: "0.1 %" is one word. */
static size_t word_bytes(const char *text)
{
	size_t bytes = strcspn(text, " "), more = text[bytes] ? strcspn(text + bytes + 1, " ") : 0;
	bool is_counted = more && bytes && isdigit((unsigned char)text[bytes - 1]) &&
			  !isdigit((unsigned char)text[bytes + 1]);

	return is_counted ? bytes + 1 + more : bytes;
}

void print_wrapped_on(const struct layout *layout, const char *text, int indent)
{
	int column = indent;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		int length = (int)word_bytes(text);

		if (column > indent && column + 1 + length > layout->columns) {
			fprintf(layout->out, "\n%*s", indent, "");
			column = indent;
		}
		column += fprintf(layout->out, "%s%.*s", column > indent ? " " : "", length, text);
		text += length;
	}
	fputc('\n', layout->out);
}

void print_wrapped(FILE *out, const char *text, int indent)
{
	print_wrapped_on(&(struct layout){ .out = out, .columns = REPORT_COLUMNS }, text, indent);
}

void print_lines_on(const struct layout *layout, char *text, int indent)
{
	if (layout->columns >= REPORT_COLUMNS) {
		fprintf(layout->out, "%s\n", text);
		return;
	}
	for (char *at = text; (at = strchr(at, '\n')); at++)
		*at = ' ';
	print_wrapped_on(layout, text, indent);
}

void print_labelled_on(const struct layout *layout, const char *label, const char *text)
{
	fprintf(layout->out, "    %-*s", LAYOUT_LABEL_COLUMNS - 4, label);
	print_wrapped_on(layout, text, LAYOUT_LABEL_COLUMNS);
}
