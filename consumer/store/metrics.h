/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * metrics.h owns the sums that bourdond tells Prometheus, and the file that it writes them to, for the textfile collector of the
 * node exporter. Nothing listens on a port. Without [metrics] textfile nothing is written.
 */
#ifndef BOURDON_CONSUMER_STORE_METRICS_H
#define BOURDON_CONSUMER_STORE_METRICS_H

#include "common/system/log.h"
#include "common/verdict/verdict.h"
#include "consumer/capture/capture.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/own_usage.h"
#include "consumer/rules/settings.h"
#include "consumer/store/metrics_text.h"
#include "consumer/symbols/resolved.h"

/* Beyond these, captures of a rule count as those of rule "(more)". */
#define METRICS_SERIES_MAX 1024U
/* With "(more)", for each resource, latencies, or the kill that has none, and each verdict. */
#define METRICS_SERIES_ALL (METRICS_SERIES_MAX + (PSI_RESOURCES + 2U) * VERDICT_KINDS)

struct metrics {
	const char *state_dir;
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	const struct own_usage *own_usage;
	char file[INI_LINE_BYTES + 1];
	uint64_t every_ns, due_ns; /* CLOCK_MONOTONIC; 0: nothing is written */
	uint64_t database_bytes_max;
	int64_t started_at;
	struct metrics_series *series;
	size_t series_count;
	uint64_t losses[LOSS_REASONS];
	struct log_limit not_written;
};

/* What is passed outlives it. */
void metrics_open(struct metrics *ret_metrics, const char *state_dir, const struct kernel_objects *kernel,
		  const struct own_usage *own_usage, struct own_counters *own_counters, int64_t started_at);

/* Removes the file: what it says is not true of the next daemon. */
void metrics_close(struct metrics *metrics);

/* Follows the settings: removes the file if it is another one now, and is due at once. */
void metrics_follow(struct metrics *metrics, const struct settings *settings, uint64_t now_ns);

/* Adds a capture that was written. */
void metrics_add(struct metrics *metrics, const struct capture *capture, const struct resolved *resolved,
		 enum verdict_kind verdict);

/* Writes the file, at due_ns. Logs a failure, at most once a minute. */
void metrics_write(struct metrics *metrics, uint64_t now_ns);

/* The text of a pressure file: three averages of each kind, in percent. 0 or -EBADMSG. */
int metrics_parse_averages(const char *text, double ret_averages[PSI_KINDS][METRICS_AVERAGES]);

#endif
