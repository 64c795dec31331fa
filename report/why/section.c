/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/why/section.h"

#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/wrap.h"

#include <stdarg.h>

void section_print_head(const struct layout *layout, const char *format, ...)
{
	char text[FORMAT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	print_lines_on(layout, text, 0);
}

void section_print_table(const struct section *section, const struct layout *layout, struct query *query)
{
	char span[FORMAT_BYTES];

	if (section->more)
		section_print_head(layout, "%s over %s%s", section->head,
				   column_duration(query, "span_ns", 1, span), section->more);
	else
		section_print_head(layout, "%s", section->head);
	table_print_on(layout, query, section->columns, section->columns_count);
}

bool section_has_fired(const struct query *query)
{
	_cleanup_query_ struct query capture = query_begin(
		query->database, "SELECT 1 FROM capture WHERE capture_id = ?1 AND resource IS NOT NULL",
		query->id, 0);

	return query_next(&capture);
}
