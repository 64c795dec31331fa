/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/column_text.h"

#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/text/format.h"

char *column_text(const struct query *query, const char *name, size_t columns, char *into)
{
	return format_cut(escape_terminal(query_text(query, name), into, FORMAT_BYTES), columns,
			  FORMAT_BYTES);
}

char *column_duration(const struct query *query, const char *name, double unit_ns, char *into)
{
	return format_duration(query_real(query, name) * unit_ns, " ", into, FORMAT_BYTES);
}

char *column_count(const struct query *query, const char *name, const char *one, const char *many, char *into)
{
	int64_t count = query_number(query, name);

	snprintf(into, FORMAT_BYTES, "%lld %s", (long long)count, plural((uint64_t)count, one, many));
	return into;
}

char *column_percent(const struct query *query, char *into)
{
	return format_percent(query_real(query, "percent"), into, FORMAT_BYTES);
}
