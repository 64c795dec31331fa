/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * supervisor.h runs the symbolizers of one capture, one at a time. It replaces one that died, a few times at
 * most. The first symbolizer runs at nice 19; if it has no answer after 2 s, or half of the time, the next has the daemon's own
 * priority within the budget, and nice 5 beyond it.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_SUPERVISOR_H
#define BOURDON_CONSUMER_SYMBOLS_SUPERVISOR_H

#include "consumer/process/cpu_budget.h"
#include "consumer/process/own_counters.h"
#include "consumer/symbols/files_read.h"

#include <stdbool.h>
#include <stdint.h>

struct supervisor {
	int spawner_socket;
	struct own_counters *counters; /* may be NULL */
	uint64_t deadline_ns, idle_until_ns;
	int socket;                /* to the current symbolizer; negative: none */
	bool late;                 /* start further symbolizers at a higher priority */
	struct cpu_budget *budget; /* may be NULL */
	bool is_now;               /* the current one is within the budget */
	uint64_t since_ns;         /* it was started */
	struct files_read read;    /* by the current one */
	unsigned int replaced;     /* because it was not credible for a file */
	bool no_more;
	unsigned int deaths;
	uint32_t failures; /* recorded in the capture's loss table */
};

/* Does not wait for names after `deadline_ns` (CLOCK_MONOTONIC). */
struct supervisor supervisor_begin(int spawner_socket, struct own_counters *counters,
				   struct cpu_budget *budget, uint64_t deadline_ns);
void supervisor_end(struct supervisor *symbolizers);

/*
 * Starts a symbolizer unless one is running. Returns false if none is available any more, which it has
 * logged.
 */
bool supervisor_need(struct supervisor *symbolizers);

/*
 * As supervisor_need(), for this file, which the symbolizer will be given: one that is credible for it (files_read.h), unless
 * this capture has replaced some for that reason already.
 */
bool supervisor_need_for(struct supervisor *symbolizers, const struct stat *file);

/* Returns the deadline (CLOCK_MONOTONIC, ns) for the next answer, and counts the request. */
uint64_t supervisor_patience(struct supervisor *symbolizers);

/*
 * Ends the current symbolizer, which failed on a file with this -errno. Returns true if it only got too
 * little CPU time at nice 19: the caller then repeats the request with a new one, which gets more.
 */
bool supervisor_lose(struct supervisor *symbolizers, const char *over, int result);

#endif
