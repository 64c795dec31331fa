/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/latency/latency_choice.h"

#include "report/model/rows.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *latency_metric_text(const char *metric)
{
	static const char *const texts[METRICS] = {
		[METRIC_RUNQUEUE] = "from becoming runnable to a CPU",
		[METRIC_OFFCPU] = "off CPU, by what was waited for",
		[METRIC_BLOCK] = "from the queue to the end of a request to a disk",
		[METRIC_LOCK] = "waiting for a lock",
		[METRIC_MEMORY] = "in reclaim and compaction, and for pages read",
		[METRIC_SOFTIRQ] = "in a soft interrupt",
		[METRIC_EXEC] = "from the start of a process to its first exec",
		[METRIC_FORK] = "from fork to the first CPU",
		[METRIC_BLOCK_QUEUE] = "of that, before the device had the request",
		[METRIC_BLOCK_SERVICE] = "of that, since the device had it",
		[METRIC_BLOCK_SIZE] = "bytes of a request",
		[METRIC_REQUEST] = "from the arrival of a request to the last byte of its answer",
		[METRIC_REQUEST_FIRST] = "of that, up to the first byte of the answer",
		[METRIC_REQUEST_UNREAD] = "of that, before the server read it",
		[METRIC_REQUEST_ON_CPU] = "of that, since then, on a CPU",
		[METRIC_REQUEST_QUEUED] = "of that, since then, waiting for a CPU",
		[METRIC_REQUEST_BLOCKED] = "of that, since then, blocked",
		[METRIC_REQUEST_MULTIPLEXED] = "the same of connections on which requests overlap",
	};

	for (uint32_t i = 0; i < METRICS; i++)
		if (!strcmp(metric, latency_metric_names[i]))
			return texts[i];
	return "";
}

double latency_rate(const struct latency_metric *metric, const struct latency_label *label,
		    enum latency_span span)
{
	const struct latency_measured *measured = &metric->measured[span];
	int64_t ns = subtract_saturated(measured->to_at, measured->from_at);

	return ns > 0 ? (double)label->spans[span].count * 1e9 / (double)ns : 0;
}

bool latency_choice_names(const struct latency_choice *choice, const char *metric)
{
	for (const char *name = choice->metrics; name; name = strchr(name, ',')) {
		name += *name == ',';
		if (latency_is_of(metric, name, strcspn(name, ",")))
			return true;
	}
	return !choice->metrics;
}

/* ---- the order of labels ---- */

static int64_t time_of(const struct latency_label *label, enum latency_span span)
{
	return label->spans[span == LATENCY_SPANS ? LATENCY_DURING : span].sum;
}

static int64_t growth_of(const struct latency_label *label)
{
	return subtract_saturated(label->spans[LATENCY_DURING].p99, label->spans[LATENCY_BEFORE].p99);
}

struct ordering {
	const struct latency_choice *choice;
	const char *metric;
};

static int compare_labels(const void *a, const void *b, void *user)
{
	const struct ordering *ordering = user;
	const struct latency_choice *choice = ordering->choice;
	const struct latency_label *left = *(const struct latency_label *const *)a,
				   *right = *(const struct latency_label *const *)b;
	int order = latency_is_idle(ordering->metric, left->label) -
		    latency_is_idle(ordering->metric, right->label);

	if (!order && choice->by_growth)
		order = compare_numbers(growth_of(right), growth_of(left));
	if (!order)
		order = compare_numbers(time_of(right, choice->span), time_of(left, choice->span));
	return order ? order : strcmp(left->label, right->label);
}

static bool is_wanted(const struct latency_choice *choice, const struct latency_label *label)
{
	if (choice->span != LATENCY_SPANS && !label->spans[choice->span].count)
		return false;
	return !choice->label || !fnmatch(choice->label, label->label, 0);
}

int latency_choose_labels(const struct latency_choice *choice, const struct latency_metric *metric,
			  struct chosen_labels *ret_chosen)
{
	struct chosen_labels chosen = { .labels = calloc(metric->labels_count + 1UL,
							 sizeof(const struct latency_label *)) };
	struct ordering ordering = { choice, metric->metric };

	if (!chosen.labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < metric->labels_count; i++)
		if (is_wanted(choice, &metric->labels[i]))
			chosen.labels[chosen.count++] = &metric->labels[i];
	if (chosen.count)
		qsort_r(chosen.labels, chosen.count, sizeof(*chosen.labels), compare_labels, &ordering);
	if (choice->limit >= 0 && chosen.count > choice->limit) {
		chosen.left_out = chosen.count - (uint32_t)choice->limit;
		chosen.count = (uint32_t)choice->limit;
	}
	*ret_chosen = chosen;
	return 0;
}

void chosen_labels_free(struct chosen_labels *chosen)
{
	free(chosen->labels);
	*chosen = (struct chosen_labels){ 0 };
}
