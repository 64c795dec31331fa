/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_key.h reads `latency =` of a rule: conditions on quantiles of latencies. */
#ifndef BOURDON_CONSUMER_RULES_LATENCY_KEY_H
#define BOURDON_CONSUMER_RULES_LATENCY_KEY_H

#include "common/protocol/latency_metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULE_LATENCIES_MAX 16
#define LATENCY_WINDOW_MAX_NS 600000000000ULL

/* A quantile of a latency is longer than its limit: "runqueue.p99 > 20ms / 10s". */
struct latency_trigger {
	uint32_t metric; /* METRIC_* */
	enum latency_quantile quantile;
	uint64_t limit_ns;
	/* whole epochs: HISTOGRAM_EPOCH_NS to LATENCY_WINDOW_MAX_NS */
	uint64_t window_ns;
	uint64_t asked_ns; /* as it was written, before it was rounded up */
};

#define LATENCY_KEY_WHY_BYTES 512

/*
 * Adds conditions such as "runqueue.p99 > 20ms / 10s", parted by commas, to the `*count` that the rule has already. 0, or -EINVAL
 * with the reason in `ret_why`, which names the word that is wrong; then some of them may have been added.
 */
int latency_key_parse(const char *value, struct latency_trigger latencies[RULE_LATENCIES_MAX], size_t *count,
		      char ret_why[LATENCY_KEY_WHY_BYTES]);

/* Whether both fire alike. */
bool latency_trigger_is_same(const struct latency_trigger *a, const struct latency_trigger *b);

#endif
