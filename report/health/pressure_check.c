/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/health/pressure_check.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/kernel/psi.h"
#include "common/system/files.h"
#include "common/system/thread.h"

#include <inttypes.h>
#include <sched.h>
#include <unistd.h>

#define CONTENDERS 2U
#define STACK_BYTES (64UL << 10)
#define WANTED_NS (CLOCK_SECOND_NS / 3)

/* A thread that wants the CPU until then. */
struct contender {
	pthread_t thread;
	size_t cpu;
	uint64_t until_ns;
	uint64_t waited_ns; /* for it; 0: not known */
};

/*
 * The stall that the kernel counts at least, for so long a wait on one of the CPUs: it takes the average of those that are not idle.
 * The half of that, because a wait that goes on is counted later.
 */
static uint64_t least_ns(uint64_t waited_ns, uint64_t cpus)
{
	return waited_ns / cpus / 2;
}

/* How long this thread has waited for a CPU so far (Documentation/scheduler/sched-stats.rst). */
static uint64_t waited_so_far(void)
{
	_cleanup_free_ char *text = NULL;
	uint64_t waited_ns = 0;
	size_t bytes;

	if (!file_read_text(AT_FDCWD, "/proc/thread-self/schedstat", 256, &text, &bytes))
		sscanf(text, "%*u %" SCNu64, &waited_ns);
	return waited_ns;
}

static void *contend(void *user)
{
	struct contender *contender = user;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(contender->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return NULL;
	while (clock_monotonic_ns() < contender->until_ns)
		;
	contender->waited_ns = waited_so_far();
	return NULL;
}

/* Returns how long both have waited together. */
static uint64_t make_them_wait(void)
{
	struct contender contenders[CONTENDERS];
	uint64_t until_ns = clock_monotonic_ns() + WANTED_NS, waited_ns = 0;
	uint32_t started = 0;
	int here = sched_getcpu();

	for (; here >= 0 && here < CPU_SETSIZE && started < CONTENDERS; started++) {
		contenders[started] = (struct contender){ .cpu = (size_t)here, .until_ns = until_ns };
		if (thread_start(&contenders[started].thread, STACK_BYTES, contend, &contenders[started]) < 0)
			break;
	}
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(contenders[i].thread, NULL);
		waited_ns += contenders[i].waited_ns;
	}
	return waited_ns;
}

void pressure_check(struct findings *findings)
{
	static const char name[] = "pressure";
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t before_us, after_us, waited_ns, stalled_ns;

	if (psi_read_machine(PSI_CPU, &before_us) < 0)
		return; /* another finding says that there is no PSI */
	waited_ns = make_them_wait();
	if (psi_read_machine(PSI_CPU, &after_us) < 0 || cpus < 1)
		return;
	stalled_ns = (after_us - before_us) * 1000;
	if (stalled_ns < least_ns(waited_ns, (uint64_t)cpus))
		findings_add(
			findings, GRADE_WARNING, name,
			"'fuser -v /proc/pressure/*' names it; take the files from strangers: 'chgrp bourdon "
			"/proc/pressure/* && chmod 660 /proc/pressure/*'",
			"two threads waited %.0f ms for a CPU, and the kernel counts %.1f ms of stall: a program "
			"reads a pressure file more often than the kernel ticks, and no rule fires",
			(double)waited_ns / 1e6, (double)stalled_ns / 1e6);
	else
		findings_ok(findings, name,
			    "two threads waited %.0f ms for a CPU, the kernel counts %.1f ms of stall",
			    (double)waited_ns / 1e6, (double)stalled_ns / 1e6);
}
