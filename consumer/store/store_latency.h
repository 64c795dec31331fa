/* SPDX-License-Identifier: GPL-2.0-only */
/* store_latency.h writes the rows of a capture's histograms (latency_rows.h) into the database. */
#ifndef BOURDON_CONSUMER_STORE_STORE_LATENCY_H
#define BOURDON_CONSUMER_STORE_STORE_LATENCY_H

#include "common/sql/sql.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

/* Each is made when its first row is written. */
struct latency_statements {
	sqlite3_stmt *add_label, *add_row, *add_measured;
};

/* Returns 0 or -errno, as all functions of sql.h do. */
int store_latency_write(struct sql *sql, struct latency_statements *statements, int64_t capture_id,
			const struct capture *capture, const struct resolved *resolved);

#endif
