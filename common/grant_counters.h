/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_counters.h counts across the processes of bourdon-grant, each of which serves one request. The
 * counters are a small text file, "granted 12" and "refused 3", written by the helper's user and readable by
 * the consumer's group. FILE.lock beside it can be opened by the helper's user only.
 */
#ifndef BOURDON_GRANT_COUNTERS_H
#define BOURDON_GRANT_COUNTERS_H

#include <stdint.h>

/* The path that the systemd units use. */
#define GRANT_COUNTERS_DEFAULT "/run/bourdon-grant/counters"

enum grant_counter { GRANT_COUNTER_GRANTED, GRANT_COUNTER_REFUSED, GRANT_COUNTERS };

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

/* Returns 0 or -errno; -EBADMSG if the text has another form. */
int grant_counters_read(const char *path, uint64_t ret_values[GRANT_COUNTERS]);

#endif
