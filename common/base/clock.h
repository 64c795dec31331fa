/* SPDX-License-Identifier: GPL-2.0-only */
/* clock.h reads clocks as nanoseconds. */
#ifndef BOURDON_COMMON_BASE_CLOCK_H
#define BOURDON_COMMON_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
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

/* Unix time. */
static inline int64_t clock_wall_ns(void)
{
	return (int64_t)clock_read_ns(CLOCK_REALTIME);
}

/*
 * Where a program reads the time: main() owns one and passes it on, so that a test can have another. Who needs one time gets it as
 * an argument; this is for work that takes time itself.
 */
struct clock {
	uint64_t (*read_ns)(void *user, clockid_t clock);
	void *user;
};

/* The read_ns() of the kernel's clocks. */
static inline uint64_t clock_read_kernel(void *user, clockid_t clock)
{
	(void)user;
	return clock_read_ns(clock);
}

static const struct clock clock_of_kernel = { clock_read_kernel, NULL };

static inline uint64_t clock_now_ns(const struct clock *clock)
{
	return clock->read_ns(clock->user, CLOCK_MONOTONIC);
}

static inline uint64_t clock_boot_now_ns(const struct clock *clock)
{
	return clock->read_ns(clock->user, CLOCK_BOOTTIME);
}

static inline int64_t clock_wall_now_ns(const struct clock *clock)
{
	return (int64_t)clock->read_ns(clock->user, CLOCK_REALTIME);
}

/* The CPU time of the calling thread. */
static inline uint64_t clock_spent_ns(const struct clock *clock)
{
	return clock->read_ns(clock->user, CLOCK_THREAD_CPUTIME_ID);
}

/* Times at which something is due: 0 is never. */
static inline bool clock_is_due(uint64_t due_ns, uint64_t now_ns)
{
	return due_ns && now_ns >= due_ns;
}

static inline uint64_t clock_sooner(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns && (!other_ns || one_ns < other_ns) ? one_ns : other_ns;
}

/* So long before; 0 if the machine has not run for so long. */
static inline uint64_t clock_before(uint64_t now_ns, uint64_t ns)
{
	return now_ns > ns ? now_ns - ns : 0;
}

/* When something that was due is due again: a multiple of the period later, and after `now_ns`. */
static inline uint64_t clock_next_ns(uint64_t due_ns, uint64_t period_ns, uint64_t now_ns)
{
	return due_ns + (1 + (now_ns - due_ns) / period_ns) * period_ns;
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / CLOCK_SECOND_NS),
				  .tv_nsec = (long)(ns % CLOCK_SECOND_NS) };
}

#endif
