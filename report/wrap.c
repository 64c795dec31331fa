/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/wrap.h"

#include "report/format.h"

#include <string.h>

void print_wrapped_on(const struct layout *layout, char *text, int indent)
{
	int column = indent;
	char *rest;

	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		int length = (int)strlen(word);

		if (column > indent && column + 1 + length > layout->columns) {
			fprintf(layout->out, "\n%*s", indent, "");
			column = indent;
		}
		column += fprintf(layout->out, "%s%s", column > indent ? " " : "", word);
	}
	fputc('\n', layout->out);
}

void print_wrapped(FILE *out, char *text, int indent)
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
