/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_latency.h"

#include "common/base/cleanup.h"
#include "common/protocol/latency_metrics.h"
#include "consumer/store/latency_rows.h"

#include <errno.h>
#include <stdlib.h>

static int write_rows(struct sql *sql, struct latency_statements *statements, int64_t capture_id,
		      const struct latency_rows *rows)
{
	_cleanup_free_ sqlite3_int64 *ids =
		calloc(rows->labels_count + 1UL, sizeof(*ids)); /* 0: not known yet */
	int result = ids ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		const struct latency_row *row = &rows->rows[i];
		const struct latency_row_label *label = &rows->labels[row->label];
		sqlite3_int64 *id = &ids[row->label];

		if (!*id)
			result = sql_insert(sql, &statements->add_label, "histogram_label",
					    "ON CONFLICT(metric, label) DO UPDATE SET label = label "
					    "RETURNING label_id",
					    id,
					    SQL_COLUMNS(SQL_TEXT(metric, latency_metric_names[label->metric]),
							SQL_TEXT(label, label->text)));
		if (!result)
			result = sql_insert(
				sql, &statements->add_row, "histogram_row", NULL, NULL,
				SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id), SQL_NUMBER(label_id, *id),
					    SQL_TEXT(span, latency_span_names[row->span]),
					    SQL_NUMBER(bucket, row->bucket), SQL_NUMBER(count, row->count),
					    SQL_NUMBER(sum, row->sum)));
	}
	return result;
}

static int write_measured(struct sql *sql, struct latency_statements *statements, int64_t capture_id,
			  const struct capture *capture, uint32_t metric, uint32_t span)
{
	const struct latency *latency = &capture->latency;
	const struct latency_events *events = &latency->events[span][metric];
	uint64_t from_ns, to_ns, begins_ns = span == LATENCY_DURING ? latency->from_ns : latency->before_ns,
				 ends_ns = span == LATENCY_DURING ? latency->until_ns : latency->from_ns;

	latency_measured(latency, latency_metric_group(metric), span, &from_ns, &to_ns);
	return sql_insert(sql, &statements->add_measured, "latency_measured", NULL, NULL,
			  SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id),
				      SQL_TEXT(metric, latency_metric_names[metric]),
				      SQL_TEXT(span, latency_span_names[span]),
				      SQL_NUMBER(from_at, capture_wall_ns(&capture->trigger, from_ns)),
				      SQL_NUMBER(to_at, capture_wall_ns(&capture->trigger, to_ns)),
				      SQL_NUMBER(wanted_ns, ends_ns > begins_ns ? ends_ns - begins_ns : 0),
				      SQL_NUMBER(events, events->events), SQL_NUMBER(lost, events->lost),
				      SQL_NUMBER(unpaired, events->unpaired),
				      SQL_NUMBER(absurd, events->absurd)));
}

int store_latency_write(struct sql *sql, struct latency_statements *statements, int64_t capture_id,
			const struct capture *capture, const struct resolved *resolved)
{
	const struct latency *latency = &capture->latency;
	_cleanup_latency_rows_ struct latency_rows rows = { 0 };
	int result;

	if (!latency->groups)
		return 0;
	result = latency_rows_make(latency, capture, resolved, &rows);
	if (!result)
		result = write_rows(sql, statements, capture_id, &rows);
	for (uint32_t metric = 0; metric < METRICS && !result; metric++)
		for (uint32_t span = 0; span < LATENCY_SPANS && !result; span++)
			if (latency->groups >> latency_metric_group(metric) & 1)
				result = write_measured(sql, statements, capture_id, capture, metric, span);
	return result;
}
