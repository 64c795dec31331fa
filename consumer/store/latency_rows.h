/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_rows.h owns the rows of histograms. What the kernel keeps apart by numbers has a label that people know here: several of
 * them may have the same.
 */
#ifndef BOURDON_CONSUMER_STORE_LATENCY_ROWS_H
#define BOURDON_CONSUMER_STORE_LATENCY_ROWS_H

#include "common/base/cleanup.h"
#include "common/base/hash_index.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

/* Of some 16 bytes each in the database. Labels that have no room for their rows are one, "other". */
#define LATENCY_ROWS_MAX 4000U

struct latency_row_label {
	uint64_t metric;
	char *text;
	uint64_t weight; /* sum of its values */
	uint32_t rows;
	bool is_kept;
};

struct latency_row {
	uint32_t label, span, bucket, reserved; /* what it is found by */
	uint64_t count, sum;
};

struct latency_rows {
	struct latency_row_label *labels;
	uint32_t labels_count, labels_room;
	struct hash_index labels_index;
	struct latency_row *rows;
	uint32_t count, room;
	struct hash_index index;
};

/*
 * Makes the rows of what was measured. `capture` and `resolved` have the stacks of those who waited for futexes; NULL: there are none.
 * 0 or -ENOMEM; the caller frees the rows in either case.
 */
int latency_rows_make(const struct latency *latency, const struct capture *capture,
		      const struct resolved *resolved, struct latency_rows *ret_rows);
void latency_rows_free(struct latency_rows *rows);

#define _cleanup_latency_rows_ _cleanup_(latency_rows_free)

#endif
