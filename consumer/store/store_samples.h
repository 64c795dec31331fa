/* SPDX-License-Identifier: GPL-2.0-only */
/* store_samples.h owns the rows of sample_row: the samples and intervals of a capture, with their times. */
#ifndef BOURDON_CONSUMER_STORE_STORE_SAMPLES_H
#define BOURDON_CONSUMER_STORE_STORE_SAMPLES_H

#include "common/sql/sql.h"
#include "consumer/capture/capture.h"
#include "consumer/store/store_threads.h"

/* Each is made when its first row is written. */
struct samples_statements {
	sqlite3_stmt *add_sample_class, *add_sample;
};

/* Of targets. */
struct sample_counts {
	int64_t processes, stacks, samples, intervals;
};

/* Adds to the counts, which were zeroed. Returns 0 or -errno, as all functions of sql.h do. */
int store_samples_write(struct sql *sql, struct samples_statements *statements, const struct capture *capture,
			const struct capture_ids *ids, struct sample_counts *counts);

#endif
