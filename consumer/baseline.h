/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * baseline.h owns when each rule gets its next baseline: a capture of the rings' history alone, taken while the rule is
 * calm, to compare captures with. It runs on the draining thread.
 */
#ifndef BOURDON_CONSUMER_BASELINE_H
#define BOURDON_CONSUMER_BASELINE_H

#include "consumer/recorder.h"

/* When the last baseline of a rule was taken, or when the rule came into force. */
struct baseline_rule {
	uint32_t rule_id;
	uint64_t last_ns; /* CLOCK_MONOTONIC */
};

struct baselines {
	uint64_t every_ns; /* 0: there are none */
	const struct configuration *configuration;
	struct baseline_rule *rules; /* of configuration->rules, in the same order */
	size_t count;
};

/*
 * Follows the configuration, which stays until the next call. A rule that did not change keeps its time. Returns 0, or
 * -ENOMEM: then there are no baselines.
 */
int baselines_follow(struct baselines *baselines, const struct configuration *configuration, uint64_t now_ns);
void baselines_free(struct baselines *baselines);

/*
 * The rule whose baseline is due and overdue longest, of those that are calm; NULL: none. A rule is calm if it has a watch
 * or no pressure to watch, all its watches can be read, and the last cooldown of each, and of its kills and latencies, ended before
 * the history that a baseline would have.
 */
const struct rule *baselines_due(const struct baselines *baselines, const struct watches *watches,
				 uint64_t now_ns);

/* Notes that the rule's baseline was taken, or could not be: the next one is due after `every_ns`. */
void baselines_note(struct baselines *baselines, const struct rule *rule, uint64_t now_ns);

/*
 * Call it once a second: takes one baseline that is due, if no capture is under way, waits, or was in the history that it
 * would have.
 */
void baselines_tick(struct baselines *baselines, struct recorder *recorder, uint64_t now_ns);

#endif
