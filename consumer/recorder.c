/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/recorder.h"

#include "common/cleanup.h"
#include "common/clock.h"

#include <bpf/bpf.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

/* Four times a second: the rings are drained, and PSI's totals are read. */
#define PACE_NS (CLOCK_SECOND_NS / 4)

/*
 * The budgets of one CPU, a second. A stack costs about 2 us: 0.1 % of a CPU while nothing is captured, and
 * 0.8 % at most while something is. Slots must last for the history, or from one drain to the next.
 */
#define STACKS_HZ_CALM 500U
#define STACKS_HZ_CAPTURING 4000U
#define DRAINS_A_RING 2U

/* What a thread must have waited to have a slot: history is coarser, so that the rings hold all of it. */
#define OFFCPU_MIN_CALM_NS 20000000U
#define OFFCPU_MIN_CAPTURING_NS 1000000U

#define OPEN_AT_ONCE 64U
#define OPEN_BATCHES_MAX (2 * OFFCPU_OPEN_DEFAULT / OPEN_AT_ONCE)

int recorder_open(struct recorder *recorder, int epoll)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &recorder->pace_source };

	recorder->pace_source.kind = SOURCE_PACE;
	stall_clocks_stop(&recorder->clocks); /* who was here before may have ended before its capture did */
	recorder->open = calloc(OPEN_AT_ONCE, sizeof(*recorder->open));
	recorder->pace = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!recorder->open)
		return -ENOMEM;
	return recorder->pace < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, recorder->pace, &event) ? -errno : 0;
}

void recorder_close(struct recorder *recorder)
{
	cleanup_close(&recorder->pace);
	free(recorder->open);
}

static void set_budgets(const struct recorder *recorder)
{
	uint64_t slots = recorder->kernel->manifest.slots_per_cpu, slots_hz;
	bool capturing = recorder->active_count > 0;

	slots_hz = capturing ? slots * (CLOCK_SECOND_NS / PACE_NS) / DRAINS_A_RING
			     : slots * CLOCK_SECOND_NS / (recorder->longest_history_ns + CLOCK_SECOND_NS);
	__atomic_store_n(&recorder->kernel->control->offcpu_slots_hz, (uint32_t)(slots_hz ? slots_hz : 1),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&recorder->kernel->control->offcpu_min_ns,
			 capturing ? OFFCPU_MIN_CAPTURING_NS : OFFCPU_MIN_CALM_NS, __ATOMIC_RELAXED);
	__atomic_store_n(&recorder->kernel->control->offcpu_stacks_hz,
			 capturing ? STACKS_HZ_CAPTURING : STACKS_HZ_CALM, __ATOMIC_RELAXED);
}

static void set_pace(const struct recorder *recorder)
{
	struct itimerspec pace = { 0 };

	if (recorder->active_count)
		pace.it_interval.tv_nsec = pace.it_value.tv_nsec = PACE_NS;
	timerfd_settime(recorder->pace, 0, &pace, NULL);
	set_budgets(recorder);
}

void recorder_follow(struct recorder *recorder, const struct rule_set *rules)
{
	recorder->longest_history_ns = 0;
	for (size_t i = 0; i < rules->count; i++)
		if (rules->rules[i].history_ns > recorder->longest_history_ns)
			recorder->longest_history_ns = rules->rules[i].history_ns;
	set_budgets(recorder);
}

struct describing {
	const struct recorder *recorder;
	const struct active *active;
};

/* Whether the capture is about it. */
static bool is_covered(const struct active *active, const struct target_process *target, const char *cgroup)
{
	return rule_applies(active->rule, target->comm, cgroup ? cgroup : "") &&
	       (!active->cgroup || (cgroup && cgroup_is_within(cgroup, active->cgroup)));
}

static bool is_own(const struct recorder *recorder, const struct active *active,
		   const struct usage_process *process)
{
	const struct target_process *target =
		targets_find(recorder->targets, process->tgid, process->started_ns);

	return target && is_covered(active, target, cgroups_path(recorder->cgroups, process->cgroup_id));
}

/* A capture_usage_describe. */
static bool describe_usage(void *user, const struct usage_process *process, const char **ret_cgroup)
{
	const struct describing *describing = user;

	*ret_cgroup = cgroups_path(describing->recorder->cgroups, process->cgroup_id);
	return is_own(describing->recorder, describing->active, process);
}

static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	const struct describing *describing = user;
	const struct active *active = describing->active;
	const struct target_process *target =
		targets_find(describing->recorder->targets, sample->tgid, sample->started_ns);
	const char *cgroup = cgroups_path(describing->recorder->cgroups, sample->cgroup_id);

	/*
	 * a cgroup that is not known yet may be known at the next sample: better a counted loss than a guess
	 */
	if (!target || (!cgroup && (active->rule->cgroup || active->cgroup)))
		return false;
	process->uid = target->uid;
	memcpy(process->comm, target->comm, sizeof(process->comm));
	process->cgroup = cgroup ? strdup(cgroup) : NULL;
	process->included = is_covered(active, target, cgroup);
	return true;
}

static void drain(const struct recorder *recorder, const struct active *active)
{
	struct describing describing = { recorder, active };

	capture_drain(active->capture, describe, &describing);
}

static bool is_whole(const struct open_interval *open)
{
	return open->sample.seq && open->sample.seq == open->seq_again;
}

/* Nobody sees the threads come back of who is no target any more. */
static bool is_live(const struct recorder *recorder, const struct sample *sample)
{
	const struct target_process *target =
		targets_find(recorder->targets, sample->tgid, sample->started_ns);

	return target && !target->gone_ns;
}

/* Who has not come back to a CPU yet, and waits perhaps for what this capture is about. */
static void add_open_intervals(const struct recorder *recorder, const struct active *active, uint64_t now_ns)
{
	struct describing describing = { recorder, active };
	int fd = recorder->kernel->map_fds[PIN_OFFCPU_OPEN];
	__u32 tids[OPEN_AT_ONCE], batch;
	void *from = NULL;

	for (unsigned int i = 0; i < OPEN_BATCHES_MAX; i++) {
		__u32 count = OPEN_AT_ONCE;
		int result = bpf_map_lookup_batch(fd, from, &batch, tids, recorder->open, &count, NULL);

		if (result < 0 && result != -ENOENT)
			return; /* -ENOSPC: a bucket has more than there is room for */
		for (__u32 j = 0; j < count; j++)
			if (is_whole(&recorder->open[j]) && is_live(recorder, &recorder->open[j].sample))
				capture_add_open(active->capture, &recorder->open[j].sample, now_ns, describe,
						 &describing);
		if (result == -ENOENT)
			return;
		from = &batch;
	}
}

static uint64_t grown(const struct active *active, const uint64_t now[COUNTERS], size_t counter)
{
	return now[counter] - active->counters_at_begin[counter];
}

/* What the capture's processes have had of the CPUs since the walk before it. */
static uint64_t cpu_ns_of(const struct recorder *recorder, const struct active *active)
{
	const struct usage *now = recorder->usage, *before = &active->capture->usage.before;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < now->count; i++) {
		const struct usage_process *process = &now->processes[i];

		if (process->walk > before->walk && is_own(recorder, active, process))
			sum += usage_since(before, process).task.cpu_ns;
	}
	return sum;
}

/* After a walk: the first since the capture began, or the one before it ends. */
static void expect(const struct recorder *recorder, const struct active *active, bool ends)
{
	struct expectation *expected = &active->capture->expected;

	if (!expected->from_ns) {
		expected->from_ns = recorder->usage->walked_ns;
		expected->cpu_ns_before = cpu_ns_of(recorder, active);
	} else if (ends) {
		uint64_t cpu_ns = cpu_ns_of(recorder, active);

		/* less, where a process is none of the capture's any more */
		expected->to_ns = recorder->usage->walked_ns;
		expected->cpu_ns = cpu_ns > expected->cpu_ns_before ? cpu_ns - expected->cpu_ns_before : 0;
	}
}

static uint64_t unstacked_of(const struct capture_usage *usage)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < usage->count; i++)
		if (usage->rows[i].role == USAGE_TARGET)
			sum += usage->rows[i].process.sums.unstacked;
	return sum;
}

/*
 * PSI's totals of the system and of the cgroup, and at the same moment what it would say of the targets
 * alone.
 */
static void read_pressure(struct recorder *recorder, const struct active *active, uint64_t now_ns)
{
	uint64_t some_us[CLOCK_RESOURCES];

	pressure_read(&active->capture->pressure, now_ns);
	if (active->has_clocks && stall_clocks_read(&recorder->clocks, now_ns, some_us))
		pressure_add_targets(&active->capture->pressure, now_ns, some_us);
}

/* How many cgroups are above it. */
static uint32_t level_of(const char *cgroup)
{
	uint32_t level = 0;

	for (const char *at = cgroup; *at; at++)
		level += *at == '/' && at[1];
	return level;
}

/* Closes the ledger and hands the capture over. */
static void end_capture(struct recorder *recorder, size_t position, bool interrupted)
{
	struct active *active = &recorder->active[position];
	uint64_t counters[COUNTERS], now_ns = clock_monotonic_ns();
	struct describing describing = { recorder, active };

	read_pressure(recorder, active, now_ns);
	if (active->has_clocks)
		stall_clocks_stop(&recorder->clocks);
	add_open_intervals(recorder, active, now_ns);
	capture_usage_end(&active->capture->usage, recorder->usage, describe_usage, &describing);
	active->capture->losses[LOSS_OFFCPU_UNSTACKED] = unstacked_of(&active->capture->usage);
	pressure_close(&active->capture->pressure);
	kernel_stats_end(&active->capture->kernel_stats, cgroups_mount(recorder->cgroups), active->cgroup,
			 now_ns);
	if (!counters_read(recorder->kernel->map_fds[PIN_COUNTERS], counters)) {
		active->capture->losses[LOSS_NOT_TAKEN] = grown(active, counters, COUNTER_SAMPLES_QUIET);
		active->capture->losses[LOSS_TARGETS_FULL] = grown(active, counters, COUNTER_TARGETS_FULL);
		active->capture->losses[LOSS_OFFCPU_UNTRACKED] =
			grown(active, counters, COUNTER_OFFCPU_UNTRACKED);
		active->capture->losses[LOSS_EVENTS] = grown(active, counters, COUNTER_EVENTS_LOST);
	}
	active->capture->losses[LOSS_STALE_EVENTS] =
		own_counted(recorder->own_counters, OWN_STALE_EVENTS) - active->stale_at_begin;
	capture_end(active->capture, now_ns, interrupted);
	store_thread_commit(recorder->store, active->capture);
	free(active->cgroup);
	*active = recorder->active[--recorder->active_count];
	if (!recorder->active_count)
		set_pace(recorder);
}

int recorder_begin(struct recorder *recorder, const struct configuration *configuration,
		   const struct watch *watch, uint64_t observed_us, uint64_t now_ns)
{
	struct active *active = &recorder->active[recorder->active_count];
	struct capture_trigger trigger = { .rule_id = watch->rule->id,
					   .psi = *watch->trigger,
					   .mode = watch->mode,
					   .observed_us = observed_us,
					   .triggered_ns = now_ns,
					   .triggered_at = clock_wall_ns(),
					   .wanted_history_ns = watch->rule->history_ns,
					   .capture_ns = watch->rule->capture_ns,
					   .hz = recorder->kernel->manifest.hz };

	if (recorder->active_count == STORE_CAPTURES_MAX)
		return -EBUSY;
	*active = (struct active){ .configuration = configuration,
				   .rule = watch->rule,
				   .stale_at_begin = own_counted(recorder->own_counters, OWN_STALE_EVENTS) };
	memcpy(trigger.rule, watch->rule->name, sizeof(trigger.rule));
	trigger.cgroup = watch->cgroup ? strdup(watch->cgroup) : NULL;
	active->cgroup = watch->cgroup ? strdup(watch->cgroup) : NULL;
	if (!watch->cgroup || (trigger.cgroup && active->cgroup))
		active->capture = capture_begin(&trigger, &recorder->rings, recorder->seed);
	if (!active->capture) {
		free(trigger.cgroup);
		free(active->cgroup);
		return -ENOMEM;
	}
	capture_usage_begin(&active->capture->usage, recorder->usage);
	pressure_open(&active->capture->pressure, cgroups_mount(recorder->cgroups), watch->cgroup);
	active->has_clocks = stall_clocks_start(&recorder->clocks, watch->cgroup ? watch->cgroup_id : 0,
						watch->cgroup ? level_of(watch->cgroup) : 0, now_ns);
	read_pressure(recorder, active, now_ns);
	counters_read(recorder->kernel->map_fds[PIN_COUNTERS], active->counters_at_begin);
	active->capture->losses[LOSS_WATCH_SUPPRESSED] = watch->suppressed;
	if (!store_thread_begin(recorder->store, active->capture)) {
		if (active->has_clocks)
			stall_clocks_stop(&recorder->clocks);
		capture_free(active->capture);
		free(active->cgroup);
		return -EBUSY;
	}
	if (!recorder->active_count++)
		set_pace(recorder);
	own_count(recorder->own_counters, OWN_CAPTURES);
	return 0;
}

void recorder_drain_newest(struct recorder *recorder)
{
	const struct active *newest = &recorder->active[recorder->active_count - 1];

	drain(recorder, newest);
	/* on a large host these take their time, which the history has not */
	kernel_stats_begin(&newest->capture->kernel_stats, cgroups_mount(recorder->cgroups), newest->cgroup,
			   clock_monotonic_ns());
}

bool recorder_wants_walk(const struct recorder *recorder, uint64_t now_ns)
{
	bool wanted = recorder->active_count && now_ns - recorder->usage->walked_ns >= CLOCK_SECOND_NS;

	for (size_t i = 0; i < recorder->active_count; i++) {
		const struct capture *capture = recorder->active[i].capture;

		wanted |= !capture->expected.from_ns || capture_is_over(capture, now_ns);
	}
	return wanted;
}

void recorder_pace(struct recorder *recorder, uint64_t now_ns)
{
	uint64_t expirations;

	if (read(recorder->pace, &expirations, sizeof(expirations)) < 0)
		return;
	for (size_t i = recorder->active_count; i-- > 0;) {
		bool ends = capture_is_over(recorder->active[i].capture, now_ns);

		expect(recorder, &recorder->active[i], ends);
		drain(recorder, &recorder->active[i]);
		if (ends)
			end_capture(recorder, i, false);
		else
			read_pressure(recorder, &recorder->active[i], now_ns);
	}
}

void recorder_note_unsampled(struct recorder *recorder, unsigned int cpus)
{
	for (size_t i = 0; i < recorder->active_count; i++) {
		uint64_t *worst = &recorder->active[i].capture->losses[LOSS_CPUS_UNSAMPLED];

		if (cpus > *worst)
			*worst = cpus;
	}
}

void recorder_interrupt(struct recorder *recorder)
{
	while (recorder->active_count) {
		expect(recorder, &recorder->active[0], true);
		drain(recorder, &recorder->active[0]);
		end_capture(recorder, 0, true);
	}
}

bool recorder_uses(const struct recorder *recorder, const struct configuration *configuration)
{
	for (size_t i = 0; i < recorder->active_count; i++)
		if (recorder->active[i].configuration == configuration)
			return true;
	return false;
}
