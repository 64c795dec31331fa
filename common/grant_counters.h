/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_counters.h owns counting across the processes of bourdon-grant, each of which serves one request: a
 * small text file, "granted 12" and "refused 3", which its user writes and the consumer's group reads; and
 * one beside it, FILE.lock, which its user alone opens.
 */
#ifndef BOURDON_GRANT_COUNTERS_H
#define BOURDON_GRANT_COUNTERS_H

#include <stdint.h>

/* Where the units keep it. */
#define GRANT_COUNTERS_DEFAULT "/run/bourdon-grant/counters"

enum grant_counter { GRANT_COUNTER_GRANTED, GRANT_COUNTER_REFUSED, GRANT_COUNTERS };

/*
 * policy/bourdon-grant.seccomp lets it write to these numbers, and close neither: whatever else is opened
 * afterwards for whoever has taken the process over, nothing is written to it.
 */
#define GRANT_COUNTERS_LOCK_FD 30
#define GRANT_COUNTERS_FD 31

/*
 * Opens both under those numbers, for as long as the process lives; they are made where they are missing. 0
 * or -errno.
 */
int grant_counters_open(const char *path);

/*
 * Adds one. What cannot be counted is not, nor is anything that was not opened: it must not fail a request.
 */
void grant_counters_add(enum grant_counter counter);

/* 0 or -errno; -EBADMSG for another text. */
int grant_counters_read(const char *path, uint64_t ret_values[GRANT_COUNTERS]);

#endif
