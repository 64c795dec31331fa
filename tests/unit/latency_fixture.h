/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_fixture.h owns the latencies of a capture in tests: a server that waited for a disk, a CPU and a lock, all longer than before.
 */
#ifndef BOURDON_UNIT_LATENCY_FIXTURE_H
#define BOURDON_UNIT_LATENCY_FIXTURE_H

#include <stdint.h>

/* Adds `count` events of `value` to capture 7 of the database at `path` (why_fixture.h). */
void latency_put(const char *path, const char *metric, const char *label, const char *span, uint64_t value,
		 int64_t count);

/* Notes what was measured: 22 s of each span, and so many events. */
void latency_put_measured(const char *path, const char *metric, const char *span, int64_t events,
			  int64_t lost, int64_t unpaired);

/* All that the fixture has. */
void latency_put_all(const char *path);

/* Processes that grew in functions of nginx and of libc; two stacks of one function. */
void latency_put_growth(const char *path);

#endif
