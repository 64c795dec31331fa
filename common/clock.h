/* SPDX-License-Identifier: GPL-2.0-only */
/* clock.h reads clocks as nanoseconds. */
#ifndef BOURDON_CLOCK_H
#define BOURDON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND_NS 1000000000UL

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * CLOCK_SECOND_NS + (uint64_t)now.tv_nsec;
}

/* The clock of bpf_ktime_get_ns() in the in-kernel programs. */
static inline uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* The clock of a process's start: CLOCK_MONOTONIC and the time that the machine was suspended. */
static inline uint64_t clock_boottime_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

/* Unix time. */
static inline int64_t clock_wall_ns(void)
{
	return (int64_t)clock_read_ns(CLOCK_REALTIME);
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / CLOCK_SECOND_NS),
				  .tv_nsec = (long)(ns % CLOCK_SECOND_NS) };
}

#endif
