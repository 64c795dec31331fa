/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_counters.h counts across the processes of bourdon-grant, each of which serves one request, and limits
 * how many requests a second they answer. The counters are a small text file, "granted 12", "refused 3" and so
 * on, written by the helper's user and readable by the consumer's group. FILE.lock beside it can be opened by
 * the helper's user only.
 */
#ifndef BOURDON_COMMON_PROTOCOL_GRANT_COUNTERS_H
#define BOURDON_COMMON_PROTOCOL_GRANT_COUNTERS_H

#include "common/protocol/grant_limits.h"

#include <stdint.h>

/* The path that the systemd units use. */
#define GRANT_COUNTERS_DEFAULT "/run/bourdon-grant/counters"

enum grant_counter {
	GRANT_COUNTER_GRANTED,
	GRANT_COUNTER_REFUSED, /* without those below */
	GRANT_COUNTER_LATER,   /* refused, because they were over the limit of requests a second */
	GRANT_COUNTERS
};

/*
 * policy/bourdon-grant.seccomp allows writes to these descriptors only, and closing neither. So an attacker
 * who takes the process over cannot write to anything that is opened later.
 */
#define GRANT_COUNTERS_LOCK_FD 30
#define GRANT_COUNTERS_FD 31

/*
 * Opens both files under those numbers for the lifetime of the process; creates them if missing. Returns 0 or
 * -errno.
 */
int grant_counters_open(const char *path);

/*
 * Increments one counter. Errors are not returned, and nothing happens if grant_counters_open() failed:
 * counting must not fail a request.
 */
void grant_counters_add(enum grant_counter counter);

/*
 * Takes one request of that budget. Reads `clock_ns` (CLOCK_MONOTONIC) when it has the lock of the file. Returns 0, or how many
 * requests were over the limit so far, this one included. Without counters there is no limit.
 */
uint64_t grant_counters_take(enum grant_budget budget, uint64_t (*clock_ns)(void));

/* Returns 0 or -errno; -EBADMSG if the text has another form. */
int grant_counters_read(const char *path, uint64_t ret_values[GRANT_COUNTERS]);

#endif
