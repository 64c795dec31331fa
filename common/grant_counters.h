/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_counters.h owns counting across the processes of bourdon-grant, each of which serves one request: a
 * small text file, "granted 12" and "refused 3", root writes and the consumer's group reads; and one beside
 * it, FILE.lock, which is root's alone.
 */
#ifndef BOURDON_GRANT_COUNTERS_H
#define BOURDON_GRANT_COUNTERS_H

#include <stdint.h>

enum grant_counter { GRANT_COUNTER_GRANTED, GRANT_COUNTER_REFUSED, GRANT_COUNTERS };

extern const char *const grant_counter_names[GRANT_COUNTERS];

/* Adds one; the file is made where it is missing. What cannot be counted is not: it must not fail a request.
 */
void grant_counters_add(const char *path, enum grant_counter counter);

/* 0 or -errno; -EBADMSG for another text. */
int grant_counters_read(const char *path, uint64_t ret_values[GRANT_COUNTERS]);

#endif
