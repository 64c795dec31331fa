/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * measuring.h owns which groups of latencies are measured, and what rules and metrics see of them: it reads the kernel's table at the
 * ends of epochs, and only the groups that somebody wants and in which something happened. On the draining thread.
 */
#ifndef BOURDON_CONSUMER_MEASURING_H
#define BOURDON_CONSUMER_MEASURING_H

#include "consumer/host/histograms.h"
#include "consumer/host/latency_past.h"
#include "consumer/process/own_counters.h"
#include "consumer/recorder.h"

#include <stdbool.h>

/* The kernel's table has as many epochs that ended for certain: metrics are read so often. */
#define MEASURING_METRICS_EPOCHS (HISTOGRAM_EPOCHS_KEPT - 1U)

struct measuring {
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	struct histograms_on on;
	uint32_t of_rules;      /* groups that the rules in force want */
	uint32_t of_triggers;   /* of these, those whose values fire */
	uint32_t of_clients;    /* groups that live clients watch */
	uint64_t window_epochs; /* the longest of all triggers */
	bool feeds_metrics;
	uint32_t unread;                  /* groups that are on, or were since they were read */
	uint64_t read_to[LATENCY_GROUPS]; /* epochs before it were read, or are of before the group was on */
	uint64_t epoch;                   /* now, at the last measuring_tick() */
	uint64_t metrics_epoch;           /* when they were last read for metrics alone */
	struct latency_past past;
	struct log_limit failed;
};

/* What is passed outlives it. */
void measuring_open(struct measuring *latencies, const struct kernel_objects *kernel,
		    struct own_counters *own_counters);
void measuring_free(struct measuring *latencies);

/*
 * Switches on what the rules in force, the captures under way and live clients want, and all else off. Logs a group that a rule names and the
 * loader does not offer, and a window that is rounded up.
 */
void measuring_follow(struct measuring *latencies, const struct configuration *configuration,
		      const struct recorder *recorder, uint64_t now_ns);

/* Call it whenever captures or clients may have begun or ended: the same for these. Changes nothing unless something has changed. */
void measuring_note(struct measuring *latencies, const struct recorder *recorder, uint64_t now_ns);

/* What live clients watch from now on; measuring_note() switches it. */
void measuring_watch(struct measuring *latencies, uint32_t groups);

/* Before a capture begins of this rule, which is in no configuration. Returns the groups that it names and the loader does not offer. */
uint32_t measuring_want(struct measuring *latencies, const struct rule *rule, uint64_t now_ns);

/*
 * Call it once a second: at the end of an epoch it reads what rules' triggers and metrics need. Returns whether `past` has a new
 * epoch, to be compared with the rules.
 */
bool measuring_tick(struct measuring *latencies, uint64_t now_ns);

/* When the daemon ends: switches everything off. */
void measuring_end(struct measuring *latencies, uint64_t now_ns);

/* The names of the groups, as `probes =` takes them: "block, lock", or "none". */
#define LATENCY_GROUPS_TEXT_BYTES 96
const char *measuring_names(uint32_t groups, char into[LATENCY_GROUPS_TEXT_BYTES]);

#endif
