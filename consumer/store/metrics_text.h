/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * metrics_text.h owns the names of the metrics, and their text in Prometheus' exposition format. There are no labels
 * but rules, which are root's, and words of fixed lists: no process, unit or cgroup can add a series.
 */
#ifndef BOURDON_CONSUMER_STORE_METRICS_TEXT_H
#define BOURDON_CONSUMER_STORE_METRICS_TEXT_H

#include "common/kernel/psi.h"
#include "consumer/capture/capture.h"
#include "consumer/host/program_costs.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/own_usage.h"

/* Captures of one rule, resource and verdict. */
struct metrics_series {
	char rule[64];
	const char *resource; /* "latency": of one; "": of a kill */
	const char *cause;    /* a word of verdict_kind_names */
	uint64_t captures;
	int64_t last_at; /* the newest trigger, Unix ns */
};

#define METRICS_AVERAGES 3 /* of 10 s, 60 s and 300 s */

/* All that one file of metrics says. */
struct metrics_facts {
	const struct metrics_series *series;
	size_t series_count;
	const uint64_t *losses;            /* of LOSS_REASONS, summed over captures */
	const uint64_t *counters;          /* of OWN_COUNTERS */
	const struct own_counters *own;    /* for its queues */
	const struct program_costs *costs; /* NULL: not known */
	bool has_psi[PSI_RESOURCES];
	struct psi_totals psi[PSI_RESOURCES];
	double averages[PSI_RESOURCES][PSI_KINDS][METRICS_AVERAGES]; /* in percent */
	struct own_used used;
	int64_t database_bytes; /* with its log; -1: not known */
	uint64_t database_bytes_max;
	int64_t started_at; /* Unix ns */
};

void metrics_text(const struct metrics_facts *facts, FILE *out);

#endif
