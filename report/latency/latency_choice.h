/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_choice.h owns which metrics and labels `bourdon latency` shows, and in what order.
 *
 * Room: histograms of latencies as text and JSON. Called by its subcommand, and by picture for the page; it reads the model.
 */
#ifndef BOURDON_REPORT_LATENCY_LATENCY_CHOICE_H
#define BOURDON_REPORT_LATENCY_LATENCY_CHOICE_H

#include "common/protocol/latency_metrics.h"
#include "report/model/latencies.h"

#include <stdbool.h>
#include <stdint.h>

struct latency_choice {
	const char *
		metrics; /* names of metrics or groups, a comma between two, which have been checked; NULL: all */
	const char *label;      /* a glob; NULL: all */
	enum latency_span span; /* LATENCY_SPANS: both, and what is ordered is what was during the capture */
	bool by_growth;         /* of p99 against before; else by time */
	int64_t limit;          /* labels of each metric; negative: all */
	bool is_live;           /* it is of an interval of what goes on, and of no capture */
};

/* The labels of a metric that are shown, most important first. */
struct chosen_labels {
	const struct latency_label **labels;
	uint32_t count;
	uint32_t left_out; /* by the limit */
};

#define _cleanup_chosen_labels_ _cleanup_(chosen_labels_free)

/* Whether the metric of this name was chosen. */
bool latency_choice_names(const struct latency_choice *choice, const char *metric);

/* Returns 0 or -ENOMEM. The labels are the metric's. */
int latency_choose_labels(const struct latency_choice *choice, const struct latency_metric *metric,
			  struct chosen_labels *ret_chosen);
void chosen_labels_free(struct chosen_labels *chosen);

/* Events of the label in each second that was measured; 0: none was. */
double latency_rate(const struct latency_metric *metric, const struct latency_label *label,
		    enum latency_span span);

/* What a metric measures, in a few words; "": a newer bourdond's. */
const char *latency_metric_text(const char *metric);

#endif
