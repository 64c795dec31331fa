/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own_counters.h owns what the consumer counts of itself, beside what the in-kernel programs count: the
 * draining thread adds, the store thread writes it to the database, and status shows it.
 */
#ifndef BOURDON_CONSUMER_PROCESS_OWN_COUNTERS_H
#define BOURDON_CONSUMER_PROCESS_OWN_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

enum own_counter {
	OWN_STALE_EVENTS,    /* of patterns that were not in force any more */
	OWN_UNKNOWN_RECORDS, /* from the rings, of no type that is known */
	OWN_ERROR_RECORDS,   /* from the errors ring */
	OWN_CAPTURES,        /* begun */
	OWN_SUPPRESSED,      /* triggers that cooldown, or too many captures, kept from one */
	OWN_SPURIOUS,        /* kernel triggers without the stall that they were armed for */
	OWN_GRANTS,          /* kernel triggers on descriptors that bourdon-grant passed */
	OWN_GRANTS_REFUSED,  /* or did not pass, or the kernel did not arm */
	OWN_FILES_GRANTED,   /* mapped files and perf maps that bourdon-grant passed */
	OWN_FILES_REFUSED,   /* or did not pass */
	OWN_RELOADS,
	OWN_RELOADS_REFUSED,     /* for a mistake in the configuration */
	OWN_SYMBOLIZERS,         /* started, to name frames */
	OWN_SYMBOLIZER_REQUESTS, /* to them */
	OWN_MAPPINGS_DROPPED, /* and processes, whose mappings there was no room for: no names, no tables */
	OWN_WALKS_STUCK,      /* over the mappings, for a process that keeps its memory map locked */
	OWN_COUNTERS,
};

extern const char *const own_counter_names[OWN_COUNTERS];

struct own_counters {
	atomic_uint_fast64_t values[OWN_COUNTERS];
};

static inline void own_count(struct own_counters *counters, enum own_counter counter)
{
	atomic_fetch_add_explicit(&counters->values[counter], 1, memory_order_relaxed);
}

static inline uint64_t own_counted(struct own_counters *counters, enum own_counter counter)
{
	return atomic_load_explicit(&counters->values[counter], memory_order_relaxed);
}

#endif
