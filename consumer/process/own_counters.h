/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own_counters.h owns what the consumer counts of itself, beside the counters of the in-kernel programs, and how full its queues
 * are. Any thread may add; the worker thread writes the counters to the database, and status shows all.
 */
#ifndef BOURDON_CONSUMER_PROCESS_OWN_COUNTERS_H
#define BOURDON_CONSUMER_PROCESS_OWN_COUNTERS_H

#include "common/protocol/latency_metrics.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum own_counter {
	OWN_STALE_EVENTS,      /* process events of patterns that are no longer in force */
	OWN_UNKNOWN_RECORDS,   /* ring-buffer records of an unknown type */
	OWN_ERROR_RECORDS,     /* records of the errors ring */
	OWN_CAPTURES,          /* captures begun */
	OWN_SUPPRESSED,        /* triggers suppressed by a cooldown or by too many captures */
	OWN_SPURIOUS,          /* wake-ups by kernel triggers below their threshold */
	OWN_LATE,              /* kernel triggers that did not come in time: a read of the total fired */
	OWN_GRANTS,            /* kernel triggers armed on descriptors from bourdon-grant */
	OWN_GRANTS_REFUSED,    /* requests that bourdon-grant refused, or that the kernel did not arm */
	OWN_FILES_GRANTED,     /* mapped files and perf maps that bourdon-grant passed */
	OWN_FILES_REFUSED,     /* or did not pass */
	OWN_FILES_DEFERRED,    /* files that had to wait: too many need bourdon-grant, or it hangs */
	OWN_CGROUPS_UNWATCHED, /* cgroups that a rule did not watch, for lack of room */
	OWN_WITHOUT_TARGET,    /* triggers of watches whose targets had all ended */
	OWN_ASKED,             /* captures on demand that began */
	OWN_ASKED_REFUSED,     /* requests to the control socket that were refused */
	OWN_LINES_UNREAD,      /* lines, or seconds of lines, that its clients did not read, and lost */
	OWN_RELOADS,
	OWN_RELOADS_REFUSED,     /* reloads refused because of a mistake */
	OWN_SYMBOLIZERS,         /* symbolizers started to name frames */
	OWN_SYMBOLIZER_REQUESTS, /* to them */
	OWN_MAPPINGS_DROPPED,    /* mappings and processes beyond the limit: no names, no unwind tables */
	OWN_WALKS_STUCK,         /* mapping scans held up by a process that holds its mmap lock */
	OWN_WALKS_PAUSED,        /* mapping scans that ended with their time and went on later */
	OWN_ACTIVITY_LOOKS,      /* looks at the activity of all threads */
	OWN_ACTIVITY_MISSED, /* looks that were due, and not taken: too much CPU time, too late, or failed */
	OWN_ACTIVITY_LOST,   /* minutes of activity that were not written to the database */
	OWN_BASELINES,       /* baselines of rules that were written */
	OWN_BASELINES_LOST, /* baselines that gave way to a capture, found no room, or could not be written */
	OWN_JOURNAL_ENTRIES, /* captures that the journal took an entry of */
	OWN_JOURNAL_LOST, /* captures whose entry it did not take: it is missing, or was full for a minute */
	OWN_HOOK_LOST,    /* captures that the hook is not told of: their file could not be written */
	OWN_METRICS_LOST, /* times that the file of metrics could not be written */
	OWN_ASKED_TOO_OFTEN, /* connections that were closed: their users asked too often */
	OWN_COUNTERS,
};

extern const char *const own_counter_names[OWN_COUNTERS];

/* What waits for the consumer. */
enum own_queue {
	OWN_QUEUE_ONCPU, /* slots of the CPU that has most to be read, at a drain while a capture is under way */
	OWN_QUEUE_OFFCPU, /* the same of intervals off CPU */
	OWN_QUEUE_EVENTS, /* records of ring buffers that one reading consumed: events, errors, paths */
	OWN_QUEUE_JOBS,   /* of the worker thread */
	OWN_QUEUES,
};

extern const char *const own_queue_names[OWN_QUEUES];

/* Records of events have no time. */
static inline bool own_queue_has_lag(enum own_queue queue)
{
	return queue != OWN_QUEUE_EVENTS;
}

struct own_level {
	uint64_t depth;
	uint64_t lag_ns; /* how late a drain was, or how long the oldest job waited */
};

struct own_gauge {
	atomic_uint_fast64_t now, most,
		recent; /* the last one; the largest since the start, since own_queue_take() */
};

#define OWN_LATENCY_OCTAVES (LATENCY_BUCKETS / BUCKETS_AN_OCTAVE)

/* What was read of one metric of latencies since the start, for rules' triggers or metrics. */
struct own_latency {
	/* how many values: below 8 ns, below 16, below 32... */
	atomic_uint_fast64_t octaves[OWN_LATENCY_OCTAVES];
	atomic_uint_fast64_t sum_ns;
	/* events that found no room in the kernel's table, or were read too late */
	atomic_uint_fast64_t lost;
	atomic_uint_fast64_t unpaired, absurd; /* as of struct histogram_tally */
	atomic_bool was_on;
};

struct own_counters {
	atomic_uint_fast64_t values[OWN_COUNTERS];
	struct {
		struct own_gauge depth, lag_ns;
		uint64_t room; /* 0: not known. Set before other threads run */
	} queues[OWN_QUEUES];
	struct own_latency latencies[METRICS]; /* the draining thread alone adds to it */
};

void own_queue_note(struct own_counters *counters, enum own_queue queue, struct own_level level);

/* The largest of both since the last call. */
struct own_level own_queue_take(struct own_counters *counters, enum own_queue queue);

static inline void own_count(struct own_counters *counters, enum own_counter counter)
{
	atomic_fetch_add_explicit(&counters->values[counter], 1, memory_order_relaxed);
}

static inline void own_count_many(struct own_counters *counters, enum own_counter counter, uint64_t number)
{
	atomic_fetch_add_explicit(&counters->values[counter], number, memory_order_relaxed);
}

static inline uint64_t own_counted(struct own_counters *counters, enum own_counter counter)
{
	return atomic_load_explicit(&counters->values[counter], memory_order_relaxed);
}

#endif
