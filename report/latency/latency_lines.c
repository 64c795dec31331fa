/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/latency/latency_lines.h"

#include "common/protocol/latency_line.h"
#include "common/protocol/live_line.h"
#include "common/system/options.h"
#include "common/text/escape_name.h"

#include <errno.h>
#include <string.h>

static const char *const measured_columns[] = { "metric", "span", "from_at",  "to_at", "wanted_ns",
						"events", "lost", "unpaired", "absurd" };
static const char *const bucket_columns[] = { "metric", "span", "label", "bucket", "count", "sum" };
#define COLUMNS_MAX ARRAY_SIZE(measured_columns)

struct reading {
	struct latency_interval *interval;
	struct rows measured, buckets;
};

void latency_interval_free(struct latency_interval *interval)
{
	latencies_free(&interval->latencies);
	*interval = (struct latency_interval){ 0 };
}

static bool read_number(const struct status_line *line, const char *key, uint64_t most, int64_t *ret_number)
{
	unsigned long long number;

	if (options_number(status_line_get(line, key), 0, most, &number) < 0)
		return false;
	*ret_number = (int64_t)number;
	return true;
}

/* Adds the line's fields: the first `texts` of them are texts, the others numbers. Returns 1; 0: it is damaged; or -ENOMEM. */
static int add_row(struct rows *rows, const struct status_line *line, uint32_t texts)
{
	struct value values[COLUMNS_MAX];

	for (uint32_t i = 0; i < rows->columns_count; i++) {
		char *text = (char *)status_line_get(line, rows->columns[i]);
		int64_t number;

		if (i < texts) {
			/* in place: it points into a text that is ours, unless it is empty */
			if (!*text)
				return 0;
			escape_name_undo(text);
			values[i] = value_text(text);
		} else {
			if (!read_number(line, rows->columns[i], INT64_MAX, &number))
				return 0;
			values[i] = value_number(number);
		}
	}
	return rows_add(rows, values) < 0 ? -ENOMEM : 1;
}

/* Returns 1 at the end of the interval, 0, or -errno. */
static int read_line(struct reading *reading, char *text)
{
	struct latency_interval *interval = reading->interval;
	struct status_line line;
	int64_t missed;
	int added = 0;

	if (status_line_parse(text, &line) < 0) {
		interval->malformed++;
		return 0;
	}
	if (!strcmp(line.kind, LATENCY_INTERVAL))
		return read_number(&line, "from_at", INT64_MAX, &interval->from_at) &&
				       read_number(&line, "to_at", INT64_MAX, &interval->to_at) &&
				       read_number(&line, "left_out", INT64_MAX, &interval->left_out)
			       ? 1
			       : -EPROTO;
	if (!strcmp(line.kind, LATENCY_MEASURED))
		added = add_row(&reading->measured, &line, 2);
	else if (!strcmp(line.kind, LATENCY_BUCKET))
		added = add_row(&reading->buckets, &line, 3);
	else if (!strcmp(line.kind, LIVE_MISSED) && read_number(&line, "intervals", UINT32_MAX, &missed)) {
		interval->missed = (uint32_t)missed;
		added = 1;
	}
	interval->malformed += !added;
	return added < 0 ? added : 0;
}

int latency_lines_read(char *text, struct latency_interval *ret_interval)
{
	struct reading reading = { .interval = ret_interval,
				   .measured = rows_of(measured_columns),
				   .buckets = rows_of(bucket_columns) };
	struct query measured, buckets;
	int result = 0;

	*ret_interval = (struct latency_interval){ 0 };
	for (char *at = text, *line; !result && (line = strsep(&at, "\n"));)
		result = read_line(&reading, line);
	measured = query_of_rows(NULL, &reading.measured);
	buckets = query_of_rows(NULL, &reading.buckets);
	if (result == 1)
		result = latencies_of(&measured, &buckets, &ret_interval->latencies);
	else if (!result)
		result = -EPROTO;
	rows_free(&reading.measured);
	rows_free(&reading.buckets);
	return result;
}
