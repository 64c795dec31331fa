/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/wrap.h"

#include "report/format.h"

#include <string.h>

void print_wrapped(FILE *out, char *text, int indent)
{
	int column = indent;
	char *rest;

	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		int length = (int)strlen(word);

		if (column > indent && column + 1 + length > REPORT_COLUMNS) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		}
		column += fprintf(out, "%s%s", column > indent ? " " : "", word);
	}
	fputc('\n', out);
}
