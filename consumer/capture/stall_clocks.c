/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/stall_clocks.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <bpf/bpf.h>

/*
 * The programs see a thread when it leaves a CPU. A thread that spins alone on its CPU leaves it when kernel
 * work runs there, about once a second (vm.stat_interval), but nothing guarantees that.
 */
#define MEETING_NS CLOCK_SECOND_NS

bool stall_clocks_start(struct stall_clocks *clocks, uint64_t cgroup_id, uint32_t level, uint64_t now_ns)
{
	struct control *control = clocks->kernel->control;
	/* in steps of 67 ms: two epochs compare correctly for 4 years; never 0 */
	uint32_t epoch = (uint32_t)(now_ns >> 26) + 1;

	if (clocks->last || clocks->epoch == epoch)
		return false;
	clocks->last = calloc(clocks->kernel->manifest.cpus, sizeof(*clocks->last));
	clocks->copy = calloc(clocks->kernel->manifest.cpus, sizeof(*clocks->copy));
	if (!clocks->last || !clocks->copy) {
		stall_clocks_stop(clocks);
		return false;
	}
	clocks->epoch = epoch;
	clocks->started_ns = now_ns;
	clocks->begun = false;
	for (size_t i = 0; i < CLOCK_RESOURCES; i++)
		clocks->some_ns[i] = 0;
	__atomic_store_n(&control->clocks_cgroup, cgroup_id, __ATOMIC_RELAXED);
	__atomic_store_n(&control->clocks_level, level, __ATOMIC_RELAXED);
	__atomic_store_n(&control->clocks_epoch, epoch, __ATOMIC_RELEASE);
	return true;
}

/* A clock's value now: its sums, and the time since in its current state. */
static struct clock_sums sums_of(const struct stall_clock *clock, uint32_t epoch, uint64_t now_ns)
{
	struct clock_sums sums = { 0 };
	uint64_t counts = clock->counts, ns = now_ns > clock->since_ns ? now_ns - clock->since_ns : 0;

	if (clock->epoch != epoch)
		return sums; /* no target has run on that CPU */
	sums.nonidle_ns = clock->nonidle_ns + (counts ? ns : 0);
	for (__u32 i = 0; i < CLOCK_RESOURCES; i++)
		sums.some_ns[i] = clock->some_ns[i] + (clock_is_stalled(counts, i) ? ns : 0);
	return sums;
}

/* A clock is copied while it runs, so it may read slightly less than before. */
static double grown(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

static int copy_all(struct stall_clocks *clocks)
{
	__u32 cpus = clocks->kernel->manifest.cpus, count = cpus, next;
	_cleanup_free_ __u32 *keys = calloc(cpus, sizeof(*keys));
	int result;

	if (!keys)
		return -ENOMEM;
	result = bpf_map_lookup_batch(clocks->kernel->map_fds[PIN_CLOCKS], NULL, &next, keys, clocks->copy,
				      &count, NULL);
	return result < 0 && result != -ENOENT ? result : count == cpus ? 0 : -ENOENT;
}

static void keep_larger(struct clock_sums *last, const struct clock_sums *now)
{
	if (now->nonidle_ns > last->nonidle_ns)
		last->nonidle_ns = now->nonidle_ns;
	for (size_t i = 0; i < CLOCK_RESOURCES; i++)
		if (now->some_ns[i] > last->some_ns[i])
			last->some_ns[i] = now->some_ns[i];
}

bool stall_clocks_read(struct stall_clocks *clocks, uint64_t now_ns, uint64_t ret_some_us[CLOCK_RESOURCES])
{
	double nonidle_ns = 0, weighted[CLOCK_RESOURCES] = { 0 };

	if (now_ns - clocks->started_ns < MEETING_NS || copy_all(clocks) < 0)
		return false;
	for (uint32_t cpu = 0; cpu < clocks->kernel->manifest.cpus; cpu++) {
		struct clock_sums now = sums_of(&clocks->copy[cpu], clocks->epoch, now_ns);
		struct clock_sums *last = &clocks->last[cpu];
		double weight = grown(now.nonidle_ns, last->nonidle_ns);

		nonidle_ns += weight;
		for (size_t i = 0; i < CLOCK_RESOURCES; i++)
			weighted[i] += grown(now.some_ns[i], last->some_ns[i]) * weight;
		keep_larger(last, &now);
	}
	for (size_t i = 0; i < CLOCK_RESOURCES; i++) {
		if (clocks->begun && nonidle_ns > 0)
			clocks->some_ns[i] += weighted[i] / nonidle_ns;
		ret_some_us[i] = (uint64_t)(clocks->some_ns[i] / 1000);
	}
	clocks->begun = true;
	return true;
}

void stall_clocks_stop(struct stall_clocks *clocks)
{
	__atomic_store_n(&clocks->kernel->control->clocks_epoch, 0, __ATOMIC_RELAXED);
	free(clocks->last);
	free(clocks->copy);
	clocks->last = NULL;
	clocks->copy = NULL;
}
