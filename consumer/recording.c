/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/recording.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "consumer/capture/open_intervals.h"
#include "consumer/host/program_costs.h"

#include <string.h>

struct capture_scope recording_scope(const struct recording *recording)
{
	return (struct capture_scope){ &recording->sources->tracking->targets,
				       recording->sources->cgroups,
				       recording->rule,
				       recording->cgroup,
				       &recording->sources->tracking->usage,
				       recording->capture->trigger.asking };
}

void recording_expect(const struct recording *recording, bool ends)
{
	const struct usage *usage = &recording->sources->tracking->usage;
	struct capture *capture = recording->capture;
	const struct capture_scope scope = recording_scope(recording);

	if (!capture->expected.from_ns)
		capture_expect_from(capture, usage->walked_ns,
				    capture_scope_cpu_ns(&scope, &capture->usage, usage));
	else if (ends)
		capture_expect_until(capture, usage->walked_ns,
				     capture_scope_cpu_ns(&scope, &capture->usage, usage));
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
 * Reads PSI's totals of the system and of the cgroup and, at the same moment, the totals that PSI would have
 * for the targets alone.
 */
static void read_pressure(const struct recording *recording, uint64_t now_ns)
{
	uint64_t some_us[CLOCK_RESOURCES];

	pressure_read(&recording->capture->pressure, now_ns);
	if (recording->clocks && stall_clocks_read(recording->clocks, now_ns, some_us))
		pressure_add_targets(&recording->capture->pressure, now_ns, some_us);
}

static void set_costs(struct recording *recording, const struct program_costs *costs, bool again)
{
	struct kernel_stats *stats = &recording->capture->kernel_stats;

	for (uint32_t i = 0; i < costs->count; i++) {
		const struct program_cost *cost = &costs->each[i];
		const struct {
			const char *name;
			int64_t value;
		} counts[] = { { "runs", costs->are_counted ? (int64_t)cost->runs : -1 },
			       { "run_ns", costs->are_counted ? (int64_t)cost->run_ns : -1 },
			       { "missed", (int64_t)cost->missed } };

		for (size_t j = 0; j < ARRAY_SIZE(counts); j++)
			kernel_stats_set(stats, again, RECORDER_PROGRAMS, cost->name.text, counts[j].name,
					 counts[j].value);
	}
	/* without time of programs, this says that none was counted */
	kernel_stats_set(stats, again, RECORDER_OWN, "", "program_time_counted",
			 costs->count ? costs->are_counted : -1);
}

static void set_own(const struct recording *recording, bool again)
{
	struct kernel_stats *stats = &recording->capture->kernel_stats;
	struct own_used used;

	own_usage_read(recording->sources->own_usage, &used);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "cpu_ns", used.cpu_ns);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "resident_bytes", used.resident_bytes);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "unit_cpu_ns", used.unit_cpu_ns);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "unit_bytes", used.unit_bytes);
}

/* What the recorder has used, and what its programs cost, so far. */
static void note_own(struct recording *recording, bool again)
{
	_cleanup_free_ struct program_costs *costs = malloc(sizeof(*costs));

	set_own(recording, again);
	if (!costs || program_costs_read(costs, recording->sources->kernel) < 0)
		return;
	set_costs(recording, costs, again);
	if (again)
		capture_note_loss(recording->capture, LOSS_PROGRAM_RUNS,
				  program_costs_missed(costs) - recording->missed_at_begin);
	else
		recording->missed_at_begin = program_costs_missed(costs);
}

void recording_note_levels(struct recording *recordings, size_t count, size_t drained, uint64_t late_ns)
{
	struct own_counters *own_counters = recordings[drained].sources->own_counters;

	for (int queue = OWN_QUEUE_ONCPU; queue <= OWN_QUEUE_OFFCPU; queue++)
		own_queue_note(own_counters, (enum own_queue)queue,
			       (struct own_level){ recordings[drained].capture->unread[queue], late_ns });
	for (int queue = 0; queue < OWN_QUEUES; queue++) {
		struct own_level level = own_queue_take(own_counters, (enum own_queue)queue);

		for (size_t i = 0; i < count; i++) {
			struct own_level *most = &recordings[i].levels[queue];

			most->depth = level.depth > most->depth ? level.depth : most->depth;
			most->lag_ns = level.lag_ns > most->lag_ns ? level.lag_ns : most->lag_ns;
		}
	}
}

static void set_levels(const struct recording *recording)
{
	for (int queue = 0; queue < OWN_QUEUES; queue++) {
		kernel_stats_set(&recording->capture->kernel_stats, true, RECORDER_QUEUES,
				 own_queue_names[queue], "depth", (int64_t)recording->levels[queue].depth);
		if (own_queue_has_lag((enum own_queue)queue))
			kernel_stats_set(&recording->capture->kernel_stats, true, RECORDER_QUEUES,
					 own_queue_names[queue], "lag_ns",
					 (int64_t)recording->levels[queue].lag_ns);
	}
}

/* Adds what the kernel programs lost during the capture to its ledger. */
static void note_kernel_losses(const struct recording *recording)
{
	static const struct {
		enum loss loss;
		size_t counter;
	} counted[] = { { LOSS_NOT_TAKEN, COUNTER_SAMPLES_QUIET },
			{ LOSS_TARGETS_FULL, COUNTER_TARGETS_FULL },
			{ LOSS_OFFCPU_UNTRACKED, COUNTER_OFFCPU_UNTRACKED },
			{ LOSS_OFFCPU_JOINED, COUNTER_OFFCPU_JOINED },
			{ LOSS_EVENTS, COUNTER_EVENTS_LOST } };
	uint64_t counters[COUNTERS];

	if (counters_read(recording->sources->kernel->map_fds[PIN_COUNTERS], counters) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		size_t counter = counted[i].counter;

		if (counted[i].loss == LOSS_OFFCPU_JOINED &&
		    !capture_takes(recording->capture, SAMPLE_OFF_CPU))
			continue;
		capture_note_loss(recording->capture, counted[i].loss,
				  counters[counter] - recording->counters_at_begin[counter]);
	}
}

void recording_note_unwatched(const struct recording *recording)
{
	if (recording->capture->trigger.asking)
		return;
	capture_note_worst(recording->capture, LOSS_CGROUPS_UNWATCHED,
			   watches_unwatched(recording->sources->tracking->watches, recording->rule));
}

static const char *path_of_cgroup(void *user, uint64_t cgroup_id)
{
	return cgroups_path(user, cgroup_id);
}

void recording_begin_accounts(const struct recording *recording, uint64_t now_ns)
{
	const struct capture_trigger *trigger = &recording->capture->trigger;

	accounts_begin(&recording->capture->accounts, recording->sources->kernel,
		       clock_before(trigger->triggered_ns, trigger->wanted_history_ns),
		       recording->sources->accounts_valid_ns, now_ns);
}

void recording_end_accounts(const struct recording *recording)
{
	struct capture_scope scope = recording_scope(recording);
	struct accounts_scope of_accounts = capture_scope_of_accounts(&scope);
	int result = accounts_end(&recording->capture->accounts, recording->sources->kernel,
				  recording->capture->planned_end_ns, recording->sources->clock,
				  &of_accounts);

	if (result < 0)
		log_warning("cannot read the kernel's accounts: %s; a capture has none", strerror(-result));
}

void recording_settle_accounts(const struct recording *recording)
{
	struct capture_scope scope = recording_scope(recording);
	struct accounts_scope of_accounts = capture_scope_of_accounts(&scope);

	accounts_settle(&recording->capture->accounts, &of_accounts);
}

static void note_latency(int result)
{
	if (result < 0)
		log_warning("cannot read the histograms of latencies: %s; a capture lacks a part of them",
			    strerror(-result));
}

static void begin_latency(const struct recording *recording, uint64_t now_ns)
{
	struct capture *capture = recording->capture;
	const struct capture_trigger *trigger = &capture->trigger;
	struct histograms_on on = *recording->sources->latencies;

	/* others may be on for other rules */
	on.groups &= rule_latency_groups(recording->rule);
	note_latency(latency_begin(&capture->latency, recording->sources->kernel, &on,
				   clock_before(trigger->triggered_ns, trigger->wanted_history_ns),
				   capture->planned_end_ns, now_ns));
}

static void end_latency(const struct recording *recording)
{
	note_latency(latency_end(&recording->capture->latency, recording->sources->kernel,
				 clock_now_ns(recording->sources->clock), path_of_cgroup,
				 recording->sources->cgroups));
}

static void follow_accounts(const struct recording *recording, uint64_t now_ns)
{
	struct capture_scope scope = recording_scope(recording);
	struct accounts_scope of_accounts = capture_scope_of_accounts(&scope);

	accounts_follow(&recording->capture->accounts, recording->sources->kernel, now_ns, &of_accounts);
}

/* A cgroup may be removed before the capture ends: what was last read of it counts then. */
static void look_at_cgroups(struct recording *recording, uint64_t now_ns)
{
	const char *mount = cgroups_mount(recording->sources->cgroups);

	if (!clock_is_due(recording->cgroups_due_ns, now_ns))
		return;
	recording->cgroups_due_ns = now_ns + CLOCK_SECOND_NS;
	kernel_stats_look(&recording->capture->kernel_stats, mount, recording->cgroup);
	cgroup_memory_look(&recording->capture->cgroup_memory, mount);
}

/* The depth of the cgroup below the root. */
static uint32_t level_of(const char *cgroup)
{
	uint32_t level = 0;

	for (const char *at = cgroup; *at; at++)
		level += *at == '/' && at[1];
	return level;
}

void recording_begin(struct recording *recording, struct stall_clocks *clocks, uint64_t now_ns)
{
	const struct recording_sources *sources = recording->sources;
	struct capture *capture = recording->capture;

	capture_usage_begin(&capture->usage, &sources->tracking->usage);
	recording_begin_accounts(recording, capture->trigger.triggered_ns);
	begin_latency(recording, now_ns);
	pressure_open(&capture->pressure, cgroups_mount(sources->cgroups), recording->cgroup);
	if (clocks && stall_clocks_start(clocks, recording->cgroup ? recording->cgroup_id : 0,
					 recording->cgroup ? level_of(recording->cgroup) : 0, now_ns))
		recording->clocks = clocks;
	read_pressure(recording, now_ns);
	counters_read(sources->kernel->map_fds[PIN_COUNTERS], recording->counters_at_begin);
	recording->stale_at_begin = own_counted(sources->own_counters, OWN_STALE_EVENTS);
	recording_note_unwatched(recording);
}

void recording_begin_statistics(struct recording *recording)
{
	const struct recording_sources *sources = recording->sources;
	const char *mount = cgroups_mount(sources->cgroups);

	kernel_stats_begin(&recording->capture->kernel_stats, mount, recording->cgroup,
			   clock_now_ns(sources->clock));
	note_own(recording, false);
	cgroup_memory_begin(&recording->capture->cgroup_memory, mount, &sources->tracking->usage,
			    path_of_cgroup, sources->cgroups, clock_now_ns(sources->clock));
	recording->cgroups_due_ns = clock_now_ns(sources->clock) + CLOCK_SECOND_NS;
}

void recording_follow(struct recording *recording, uint64_t now_ns)
{
	read_pressure(recording, now_ns);
	look_at_cgroups(recording, now_ns);
	follow_accounts(recording, now_ns);
	note_latency(latency_follow(&recording->capture->latency, recording->sources->kernel, now_ns));
}

void recording_end(struct recording *recording, uint64_t now_ns)
{
	const struct recording_sources *sources = recording->sources;
	struct capture *capture = recording->capture;
	const char *mount = cgroups_mount(sources->cgroups);
	struct capture_scope scope = recording_scope(recording);
	struct capture_usage_scope of_usage = capture_scope_of_usage(&scope);

	read_pressure(recording, now_ns);
	if (recording->clocks)
		stall_clocks_stop(recording->clocks);
	open_intervals_add(sources->kernel, capture, &scope, now_ns);
	capture_usage_end(&capture->usage, &sources->tracking->usage, &of_usage);
	if (capture_takes(capture, SAMPLE_OFF_CPU))
		capture_note_loss(capture, LOSS_OFFCPU_UNSTACKED, unstacked_of(&capture->usage));
	pressure_close(&capture->pressure);
	note_own(recording, true);
	set_levels(recording);
	kernel_stats_end(&capture->kernel_stats, mount, recording->cgroup, now_ns);
	cgroup_memory_end(&capture->cgroup_memory, mount, &sources->tracking->usage, path_of_cgroup,
			  sources->cgroups, clock_now_ns(sources->clock));
	recording_settle_accounts(recording);
	end_latency(recording);
	note_kernel_losses(recording);
	recording_note_unwatched(recording);
	capture_note_loss(capture, LOSS_STALE_EVENTS,
			  own_counted(sources->own_counters, OWN_STALE_EVENTS) - recording->stale_at_begin);
}
