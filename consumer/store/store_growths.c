/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_growths.h"

/* Two stacks of the capture are one row where all their frames are the same, and two of its processes may be. */
#define GROWTH_ROW_SUM                                                                                       \
	"ON CONFLICT DO UPDATE SET samples = samples + excluded.samples, bytes = bytes + excluded.bytes"

int store_growths_write(struct sql *sql, sqlite3_stmt **add_growth, const struct growths *growths,
			const struct capture_ids *ids)
{
	int result = 0;

	for (uint32_t i = 0; i < growths->count && !result; i++) {
		const struct growth_row *row = &growths->rows[i];

		result = sql_insert(sql, add_growth, "growth_row", GROWTH_ROW_SUM, NULL,
				    SQL_COLUMNS(SQL_NUMBER(capture_id, ids->capture_id),
						SQL_NUMBER(process_id, ids->processes[row->process]),
						SQL_NUMBER(stack_id, ids->stacks[row->stack]),
						SQL_NUMBER(samples, row->samples),
						SQL_NUMBER(bytes, row->bytes)));
	}
	return result;
}
