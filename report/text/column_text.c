/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/column_text.h"

#include "common/protocol/latency_metrics.h"
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

static uint64_t positive(const struct query *query, const char *name)
{
	int64_t number = query_number(query, name);

	return number > 0 ? (uint64_t)number : 0;
}

char *column_latency(const struct query *query, char *into)
{
	char metric[FORMAT_BYTES], quantile[FORMAT_BYTES], text[LATENCY_TEXT_BYTES];

	latency_text(column_text(query, "latency_metric", 16, metric),
		     column_text(query, "latency_quantile", 8, quantile),
		     positive(query, "latency_observed_ns"), positive(query, "latency_limit_ns"),
		     positive(query, "latency_window_ns"), text);
	snprintf(into, FORMAT_BYTES, "%s", text);
	return into;
}

char *column_percent(const struct query *query, char *into)
{
	return format_percent(query_real(query, "percent"), into, FORMAT_BYTES);
}
