/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recording.h owns what is read for one capture that is under way besides the rings: accounts, pressure, statistics, what recording
 * it costs, and what the kernel programs lose meanwhile. The recorder (recorder.h) owns the captures and calls this, on the draining
 * thread.
 */
#ifndef BOURDON_CONSUMER_RECORDING_H
#define BOURDON_CONSUMER_RECORDING_H

#include "common/protocol/counters.h"
#include "consumer/capture/capture_scope.h"
#include "consumer/capture/stall_clocks.h"
#include "consumer/process/kernel_objects.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/own_usage.h"
#include "consumer/rules/configuration.h"
#include "consumer/tracking.h"

/* What captures are recorded from. All outlive the recorder. */
struct recording_sources {
	const struct kernel_objects *kernel;
	struct tracking *tracking; /* walks when a capture needs it, and owns `usage` */
	struct cgroups *cgroups;
	struct own_counters *own_counters;
	const struct own_usage *own_usage;
	const struct clock *clock;
	const struct histograms_on *latencies; /* which are measured */
	uint64_t accounts_valid_ns; /* the kernel's accounts are complete since then. The recorder sets it */
};

/* A capture that is under way, with what the draining thread needs to know about it. */
struct recording {
	const struct recording_sources *sources;
	struct capture *capture;
	const struct configuration *configuration; /* the configuration that holds `rule`; NULL: none does */
	const struct rule *rule;                   /* of a capture on demand, capture->trigger.asking->rule */
	char *cgroup;                /* the watch's cgroup, or what was asked for; NULL: the whole system */
	const struct trigger *fired; /* the watch's, with cgroup_id; NULL: none */
	uint64_t cgroup_id;
	struct stall_clocks *clocks; /* which run for this capture; NULL: they do not */
	uint64_t counters_at_begin[COUNTERS];
	uint64_t stale_at_begin;
	uint64_t missed_at_begin;            /* program_costs_missed() */
	struct own_level levels[OWN_QUEUES]; /* the largest within the capture */
	uint64_t cgroups_due_ns;             /* when the files of its cgroups are to be read again */
};

struct capture_scope recording_scope(const struct recording *recording);

/*
 * Call it when `capture` has been begun: what the accounts, usage, pressure and counters have now is of before it. Starts the stall
 * clocks for the capture, unless they run for another one. NULL: it has none.
 */
void recording_begin(struct recording *recording, struct stall_clocks *clocks, uint64_t now_ns);

/* Then, after a walk and the first drain: on a large host these reads take time, and samples in the rings are overwritten. */
void recording_begin_statistics(struct recording *recording);

/* Call it four times a second: reads pressure, the accounts of threads, and what is read again each second. */
void recording_follow(struct recording *recording, uint64_t now_ns);

/*
 * Call it when the rings were just drained for the capture number `drained` of those that are under way, so late: what the queues had
 * at the most since the last time is in all of them.
 */
void recording_note_levels(struct recording *recordings, size_t count, size_t drained, uint64_t late_ns);

/*
 * Call it after a walk. The first walk since the capture began starts the expectation, the last one before
 * its end closes it.
 */
void recording_expect(const struct recording *recording, bool ends);

/* The accounts are of the wanted history, whatever the rings have of it. */
void recording_begin_accounts(const struct recording *recording, uint64_t now_ns);

/* At the capture's end, before the walk and the last drain. Logs a failure. */
void recording_end_accounts(const struct recording *recording);

/* After them: leaves in the accounts what the capture is about. */
void recording_settle_accounts(const struct recording *recording);

/* The number of cgroups that the rule did not watch. The rule may be replaced; then the number at the beginning counts. */
void recording_note_unwatched(const struct recording *recording);

/* Closes all of it, and notes in the ledger what was lost. */
void recording_end(struct recording *recording, uint64_t now_ns);

#endif
