/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency.h owns the histograms of a capture: what the kernel programs measured within its span, from its history on, and as long
 * before that. The draining thread gathers them; the worker thread makes rows of them (store_latency.h).
 *
 * The kernel counts in epochs of HISTOGRAM_EPOCH_NS. An epoch belongs to the part of the time in which its middle lies; the one in
 * which the capture ends belongs to it. A capture without a history begins exactly: what its first epoch has by then is of before.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_LATENCY_H
#define BOURDON_CONSUMER_CAPTURE_LATENCY_H

#include "common/base/hash_index.h"
#include "common/protocol/latency_metrics.h"
#include "consumer/host/histograms.h"

#include <stdbool.h>
#include <stdint.h>

/* Distinct buckets of one capture; what is beyond is counted as lost. */
#define LATENCY_VALUES_MAX 32768U

struct latency_value {
	struct histogram_key key;
	uint64_t span; /* LATENCY_*: with the key, what it is found by */
	uint64_t count, sum;
};

/* What became of a metric's events in a span. */
struct latency_events {
	uint64_t events, lost, unpaired, absurd;
};

/* The path of a cgroup that a value is of. */
struct latency_owner {
	uint64_t cgroup_id;
	const char *name; /* of shared_text.h: its unit, else its path; NULL: not known */
};

/* The function of the kernel at a frame that wanted a lock. */
struct latency_caller {
	uint64_t frame; /* histogram_key.object */
	char *function; /* owned; NULL: not known */
};

/* Begins as zeros. */
struct latency {
	uint32_t groups; /* that are measured: a bit for each LATENCY_* */
	uint64_t since_ns[LATENCY_GROUPS];
	uint64_t before_ns, from_ns,
		until_ns;    /* where the two spans begin, and the second one ends; CLOCK_MONOTONIC */
	uint64_t begun_ns;   /* without a history: when the table was read at the begin; else 0 */
	uint64_t next_epoch; /* those before it are in the values */
	struct latency_value *values;
	uint32_t values_count, values_room;
	struct hash_index values_index;
	struct latency_events events[LATENCY_SPANS][METRICS];
	struct latency_owner *owners; /* from latency_end() on */
	uint32_t owners_count, owners_room;
	struct latency_caller *callers; /* from latency_name_callers() on */
	uint32_t callers_count, callers_room;
};

/* Begins: reads what there is of the time before. The capture is to end at end_ns. Without groups nothing is ever read. 0 or -errno. */
int latency_begin(struct latency *latency, const struct kernel_objects *kernel,
		  const struct histograms_on *on, uint64_t from_ns, uint64_t end_ns, uint64_t now_ns);

/* Call it now and then: reads epochs that have ended before the kernel uses their slots again. 0 or -errno. */
int latency_follow(struct latency *latency, const struct kernel_objects *kernel, uint64_t now_ns);

/* Reads the rest, up to now. `path` gives that of a cgroup, or NULL. 0 or -errno. */
int latency_end(struct latency *latency, const struct kernel_objects *kernel, uint64_t now_ns,
		const char *(*path)(void *user, uint64_t cgroup_id), void *user);

/*
 * Instead of the three: what the groups that are on have of the epochs from `from_epoch` on and before `until_epoch`, which have ended,
 * and as `before` of the one before these. There are HISTOGRAM_EPOCHS_KEPT - 1 epochs that ended for certain. 0 or -errno.
 */
int latency_read_ended(struct latency *latency, const struct kernel_objects *kernel,
		       const struct histograms_on *on, uint64_t from_epoch, uint64_t until_epoch,
		       const char *(*path)(void *user, uint64_t cgroup_id), void *user);

/* Names the callers of the kernel's locks. `function` writes the name, or returns false. 0 or -ENOMEM. */
#define LATENCY_FUNCTION_BYTES 128
int latency_name_callers(struct latency *latency,
			 bool (*function)(void *user, int32_t frame, char into[LATENCY_FUNCTION_BYTES]),
			 void *user);

/* NULL: not known. */
const char *latency_owner_name(const struct latency *latency, uint64_t cgroup_id);
const char *latency_caller_name(const struct latency *latency, uint64_t frame);

/* What of a span was really measured, of a group; from_ns is not after to_ns. */
void latency_measured(const struct latency *latency, uint32_t group, uint32_t span, uint64_t *ret_from_ns,
		      uint64_t *ret_to_ns);

void latency_free(struct latency *latency);

/* Of these functions, what needs no kernel, for tests. 0 or -ENOMEM. */

/* Takes the epochs up to that one, without it. `ends`: the last of these is the one in which the capture ends. */
int latency_take(struct latency *latency, const struct histogram_reading *reading, uint64_t until_epoch,
		 bool ends);

/* At the begin: what the epoch that is under way has so far is of before, and of no later reading of it. */
int latency_take_first(struct latency *latency, const struct histogram_reading *reading);

#endif
