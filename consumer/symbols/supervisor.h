/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * supervisor.h owns the symbolizers of one capture: one at a time, replaced when a file was its end, a few
 * times; at first one that takes what CPU time nobody else wants, then one that competes.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_SYMBOLIZER_SUPERVISOR_H
#define BOURDON_CONSUMER_SYMBOLS_SYMBOLIZER_SUPERVISOR_H

#include "consumer/process/own_counters.h"

#include <stdbool.h>
#include <stdint.h>

struct supervisor {
	int spawner_socket;
	struct own_counters *counters; /* or NULL */
	uint64_t deadline_ns, idle_until_ns;
	int socket; /* to the one in hand, or negative */
	bool late;  /* from here on they compete */
	bool no_more;
	unsigned int deaths;
	uint32_t failures; /* for the ledger */
};

/* `deadline_ns` (CLOCK_MONOTONIC) is when no name is waited for any more. */
struct supervisor supervisor_begin(int spawner_socket, struct own_counters *counters, uint64_t deadline_ns);
void supervisor_end(struct supervisor *symbolizers);

/* Makes sure that there is one in hand. False: none is to be had any more, which was logged. */
bool supervisor_need(struct supervisor *symbolizers);

/* Until when the one in hand may take for an answer. Counts the request. */
uint64_t supervisor_patience(struct supervisor *symbolizers);

/*
 * The one in hand failed over a file with this -errno: it is let go. True where it was only idle for too
 * long: another one, that competes, may be asked the same.
 */
bool supervisor_lose(struct supervisor *symbolizers, const char *over, int result);

#endif
