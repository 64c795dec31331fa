/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/recorder.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "consumer/capture/open_intervals.h"
#include "consumer/host/program_costs.h"
#include "consumer/process/reporter.h"

#include <string.h>
#include <unistd.h>

/* The rings are drained and PSI's totals are read four times a second. */
#define PACE_NS (CLOCK_SECOND_NS / 4)

/*
 * Budgets per CPU and second. A stack costs about 2 us: 0.1 % of a CPU while no capture is under way, at most
 * 0.8 % during a capture. The budget of slots is such that the ring does not wrap within the longest history,
 * or between two drains.
 */
#define STACKS_HZ_CALM 500U
#define STACKS_HZ_CAPTURING 4000U
#define DRAINS_A_RING 2U

/*
 * The shortest wait that gets a slot. It is longer while no capture is under way, so that the rings hold the
 * whole history.
 */
#define OFFCPU_MIN_CALM_NS 20000000U
#define OFFCPU_MIN_CAPTURING_NS 1000000U

/*
 * Processes that ended within captures that are under way and still have rows of their own: 0.4 MiB. On a host
 * where programs begin and end without pause, or a user attacks, a walk finds more each second.
 */
#define ENDED_KEPT_MAX 2048U

/* Within so much time, RECORDER_WAITS readings of the accounts are enough, whatever fires: each takes milliseconds. */
#define WAITS_NS (CLOCK_SECOND_NS / 4)

/* From now on the programs keep slots of intervals that ended since then; 0: none. */
static void keep_unread(const struct recorder *recorder, uint64_t since_ns)
{
	__atomic_store_n(&recorder->kernel->control->offcpu_unread_ns, since_ns, __ATOMIC_RELEASE);
}

void recorder_open(struct recorder *recorder, const struct recorder_settings *settings)
{
	const struct kernel_objects *kernel = settings->kernel;

	*recorder = (struct recorder){ .kernel = kernel,
				       .tracking = settings->tracking,
				       .usage = &settings->tracking->usage,
				       .cgroups = settings->cgroups,
				       .own_counters = settings->own_counters,
				       .own_usage = settings->own_usage,
				       .rings = { .slots = kernel->slots,
						  .slots_per_cpu = kernel->manifest.slots_per_cpu,
						  .cpus = kernel->manifest.cpus,
						  .offcpu_slots = kernel->offcpu_slots },
				       .clock = settings->clock,
				       .clocks = { .kernel = kernel } };
	for (int queue = OWN_QUEUE_ONCPU; queue <= OWN_QUEUE_OFFCPU; queue++)
		settings->own_counters->queues[queue].room = kernel->manifest.slots_per_cpu;
	/* a daemon that crashed during a capture may have left clocks running, and slots for itself to read */
	stall_clocks_stop(&recorder->clocks);
	keep_unread(recorder, 0);
	looker_open(&recorder->looker, kernel, settings->clock);
	__atomic_store_n(&kernel->control->recorder, (uint32_t)getpid(), __ATOMIC_RELAXED);
	reporter_tell(kernel);
}

void recorder_start(struct recorder *recorder, struct worker *worker, uint64_t now_ns)
{
	recorder->worker = worker;
	recorder->started_ns = recorder->rings.armed_ns = now_ns;
}

void recorder_note_gap(struct recorder *recorder, uint64_t now_ns)
{
	recorder->rings.armed_ns = now_ns;
	past_free(&recorder->past);
}

void recorder_close(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->active_count; i++) {
		if (recorder->active[i].has_clocks)
			stall_clocks_stop(&recorder->clocks);
		capture_free(recorder->active[i].capture);
		free(recorder->active[i].cgroup);
	}
	for (size_t i = 0; i < RECORDER_WAITS; i++)
		accounts_free(&recorder->waits[i].accounts);
	past_free(&recorder->past);
	looker_close(&recorder->looker);
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

/* Counts by steps how long more intervals off CPU ended than the programs have budgets for. */
static void look_at_budgets(struct recorder *recorder, uint64_t now_ns)
{
	struct recorder_budgets *budgets = &recorder->budgets;
	uint64_t counters[COUNTERS];

	if (counters_read(recorder->kernel->map_fds[PIN_COUNTERS], counters) < 0)
		return;
	if (recorder->active_count && budgets->looked_ns) {
		budgets->joined_ns +=
			counters[COUNTER_OFFCPU_JOINED] != budgets->joined ? now_ns - budgets->looked_ns : 0;
		budgets->over_ns +=
			counters[COUNTER_OFFCPU_UNSTACKED] != budgets->over ? now_ns - budgets->looked_ns : 0;
	}
	budgets->joined = counters[COUNTER_OFFCPU_JOINED];
	budgets->over = counters[COUNTER_OFFCPU_UNSTACKED];
	budgets->looked_ns = now_ns;
}

/* The intervals of a capture that has ended are the history of one that begins soon. */
static uint64_t past_due_ns(const struct recorder *recorder)
{
	return past_is_kept(&recorder->past) ? clock_now_ns(recorder->clock) + recorder->past_ns : 0;
}

static void set_pace(struct recorder *recorder)
{
	recorder->pace_due_ns = recorder->active_count ? clock_now_ns(recorder->clock) + PACE_NS
						       : past_due_ns(recorder);
	if (!recorder->active_count)
		keep_unread(recorder, 0);
	recorder->budgets.looked_ns = 0;
	looker_want(&recorder->looker, recorder->active_count > 0);
	set_budgets(recorder);
}

/* A capture records only the history that a ring holds. A rule that wants more is logged in advance. */
static void warn_of_history(const struct recorder *recorder, const struct rule_set *rules)
{
	const struct manifest *manifest = &recorder->kernel->manifest;
	uint64_t held_ns = manifest->slots_per_cpu * CLOCK_SECOND_NS / manifest->hz;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (rule->history_ns > held_ns)
			log_warning(
				"%s: rule %s wants %llu s of history, but the ring of a CPU that runs only targets holds %llu s; raise bourdon-load --ring-size",
				rule->source, rule->name,
				(unsigned long long)(rule->history_ns / CLOCK_SECOND_NS),
				(unsigned long long)(held_ns / CLOCK_SECOND_NS));
	}
}

void recorder_follow(struct recorder *recorder, const struct configuration *configuration)
{
	const struct rule_set *rules = &configuration->rules;

	recorder->longest_history_ns = 0;
	for (size_t i = 0; i < rules->count; i++)
		if (rules->rules[i].history_ns > recorder->longest_history_ns)
			recorder->longest_history_ns = rules->rules[i].history_ns;
	if (accounts_set_history(recorder->kernel, recorder->longest_history_ns))
		recorder->accounts_valid_ns = clock_now_ns(recorder->clock);
	set_budgets(recorder);
	looker_set_rate(&recorder->looker, configuration->settings.capture_hz);
	warn_of_history(recorder, rules);
}

static struct capture_scope scope_of(const struct recorder *recorder, const struct active *active)
{
	return (struct capture_scope){ &recorder->tracking->targets,
				       recorder->cgroups,
				       active->rule,
				       active->cgroup,
				       recorder->usage,
				       active->capture->trigger.asking };
}

/* Call it before anything is added to the capture. */
static void bound(const struct recorder *recorder, const struct active *active)
{
	active->capture->bytes_most = worker_bytes_left(recorder->worker, active->capture);
}

static void drain(const struct recorder *recorder, const struct active *active)
{
	struct capture_scope scope = scope_of(recorder, active);

	bound(recorder, active);
	capture_drain(active->capture, capture_scope_describe, &scope);
	if (active->capture->has_moved)
		worker_follow_mappings(recorder->worker);
	active->capture->has_moved = false;
}

static void read_past(struct recorder *recorder)
{
	past_read(&recorder->past, clock_before(clock_now_ns(recorder->clock), recorder->past_ns));
}

/* Begins a capture, or a baseline, that has its intervals off CPU from `past` if that is kept. */
static struct capture *begin_on_rings(struct recorder *recorder, const struct capture_trigger *trigger)
{
	struct capture *capture;

	read_past(recorder);
	capture = capture_begin(trigger, &recorder->rings);
	if (capture && past_is_kept(&recorder->past))
		past_join(&recorder->past, capture);
	return capture;
}

/* The first drain of a capture. Nothing has read the rings since begin_on_rings(). */
static void drain_first(const struct recorder *recorder, const struct active *active)
{
	struct capture_scope scope = scope_of(recorder, active);

	bound(recorder, active);
	past_add(&recorder->past, active->capture, capture_scope_describe, &scope);
	capture_drain(active->capture, capture_scope_describe, &scope);
}

/*
 * Before a capture begins: its history stays in the rings until it is drained, and what it drains stays for those that
 * begin meanwhile. Without memory for that, they have what the rings have.
 */
static void keep_past(struct recorder *recorder, const struct capture_trigger *trigger)
{
	recorder->past_ns = recorder->longest_history_ns > trigger->wanted_history_ns
				    ? recorder->longest_history_ns
				    : trigger->wanted_history_ns;
	if (!recorder->active_count)
		keep_unread(recorder, 1);
	if (!past_is_kept(&recorder->past) && recorder->rings.offcpu_slots)
		past_begin(&recorder->past, &recorder->rings);
}

/* The processes that ended must be kept for the capture that began first. */
static void keep_gone(const struct recorder *recorder)
{
	uint32_t since = TRACKING_KEEP_NONE;

	for (size_t i = 0; i < recorder->active_count; i++) {
		uint32_t walk = recorder->active[i].capture->usage.before.walk;

		since = walk < since ? walk : since;
	}
	tracking_keep_gone(recorder->tracking, since);
}

/* Where too many processes have ended, those that ran for the shortest time go to the rest of each capture. */
static void settle_ended(const struct recorder *recorder)
{
	if (!usage_choose(recorder->usage, ENDED_KEPT_MAX))
		return;
	for (size_t i = 0; i < recorder->active_count; i++) {
		struct capture_scope scope = scope_of(recorder, &recorder->active[i]);
		struct capture_usage_scope of_usage = capture_scope_of_usage(&scope);

		capture_usage_settle(&recorder->active[i].capture->usage, recorder->usage, &of_usage);
	}
	usage_sweep(recorder->usage);
}

/*
 * Call it after a walk. The first walk since the capture began starts the expectation, the last one before
 * its end closes it.
 */
static void expect(const struct recorder *recorder, const struct active *active, bool ends)
{
	const struct usage *usage = recorder->usage;
	struct capture *capture = active->capture;
	const struct capture_scope scope = scope_of(recorder, active);

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
static void read_pressure(struct recorder *recorder, const struct active *active, uint64_t now_ns)
{
	uint64_t some_us[CLOCK_RESOURCES];

	pressure_read(&active->capture->pressure, now_ns);
	if (active->has_clocks && stall_clocks_read(&recorder->clocks, now_ns, some_us))
		pressure_add_targets(&active->capture->pressure, now_ns, some_us);
}

/* The depth of the cgroup below the root. */
static uint32_t level_of(const char *cgroup)
{
	uint32_t level = 0;

	for (const char *at = cgroup; *at; at++)
		level += *at == '/' && at[1];
	return level;
}

/* ---- what recording costs, and how it keeps pace ---- */

static void set_costs(struct active *active, const struct program_costs *costs, bool again)
{
	struct kernel_stats *stats = &active->capture->kernel_stats;

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

static void set_own(const struct recorder *recorder, const struct active *active, bool again)
{
	struct kernel_stats *stats = &active->capture->kernel_stats;
	struct own_used used;

	own_usage_read(recorder->own_usage, &used);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "cpu_ns", used.cpu_ns);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "resident_bytes", used.resident_bytes);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "unit_cpu_ns", used.unit_cpu_ns);
	kernel_stats_set(stats, again, RECORDER_OWN, "", "unit_bytes", used.unit_bytes);
}

/* What the recorder has used, and what its programs cost, so far. */
static void note_own(const struct recorder *recorder, struct active *active, bool again)
{
	_cleanup_free_ struct program_costs *costs = malloc(sizeof(*costs));

	set_own(recorder, active, again);
	if (!costs || program_costs_read(costs, recorder->kernel) < 0)
		return;
	set_costs(active, costs, again);
	if (again)
		capture_note_loss(active->capture, LOSS_PROGRAM_RUNS,
				  program_costs_missed(costs) - active->missed_at_begin);
	else
		active->missed_at_begin = program_costs_missed(costs);
}

/* The rings were just drained for a capture, so late. What the queues had at the most since the last time is in all captures. */
static void note_levels(struct recorder *recorder, const struct active *drained, uint64_t late_ns)
{
	for (int queue = OWN_QUEUE_ONCPU; queue <= OWN_QUEUE_OFFCPU; queue++)
		own_queue_note(recorder->own_counters, (enum own_queue)queue,
			       (struct own_level){ drained->capture->unread[queue], late_ns });
	for (int queue = 0; queue < OWN_QUEUES; queue++) {
		struct own_level level = own_queue_take(recorder->own_counters, (enum own_queue)queue);

		for (size_t i = 0; i < recorder->active_count; i++) {
			struct own_level *most = &recorder->active[i].levels[queue];

			most->depth = level.depth > most->depth ? level.depth : most->depth;
			most->lag_ns = level.lag_ns > most->lag_ns ? level.lag_ns : most->lag_ns;
		}
	}
}

static void set_levels(const struct active *active)
{
	for (int queue = 0; queue < OWN_QUEUES; queue++) {
		kernel_stats_set(&active->capture->kernel_stats, true, RECORDER_QUEUES,
				 own_queue_names[queue], "depth", (int64_t)active->levels[queue].depth);
		if (own_queue_has_lag((enum own_queue)queue))
			kernel_stats_set(&active->capture->kernel_stats, true, RECORDER_QUEUES,
					 own_queue_names[queue], "lag_ns",
					 (int64_t)active->levels[queue].lag_ns);
	}
}

/* Adds what the kernel programs lost during the capture to its ledger. */
static void note_kernel_losses(const struct recorder *recorder, const struct active *active)
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

	if (counters_read(recorder->kernel->map_fds[PIN_COUNTERS], counters) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		size_t counter = counted[i].counter;

		if (counted[i].loss == LOSS_OFFCPU_JOINED && !capture_takes(active->capture, SAMPLE_OFF_CPU))
			continue;
		capture_note_loss(active->capture, counted[i].loss,
				  counters[counter] - active->counters_at_begin[counter]);
	}
}

/* The rule may have been replaced meanwhile; then the number at the beginning counts. */
static void note_unwatched(const struct recorder *recorder, const struct active *active)
{
	if (active->capture->trigger.asking)
		return;
	capture_note_worst(active->capture, LOSS_CGROUPS_UNWATCHED,
			   watches_unwatched(recorder->tracking->watches, active->rule));
}

static const char *path_of_cgroup(void *user, uint64_t cgroup_id)
{
	return cgroups_path(user, cgroup_id);
}

static uint64_t accounts_valid_since(const struct recorder *recorder)
{
	return recorder->accounts_valid_ns > recorder->rings.armed_ns ? recorder->accounts_valid_ns
								      : recorder->rings.armed_ns;
}

/* The accounts are of the wanted history, whatever the rings have of it. */
static void begin_accounts(const struct recorder *recorder, const struct active *active, uint64_t now_ns)
{
	const struct capture_trigger *trigger = &active->capture->trigger;

	accounts_begin(&active->capture->accounts, recorder->kernel,
		       clock_before(trigger->triggered_ns, trigger->wanted_history_ns),
		       accounts_valid_since(recorder), now_ns);
}

static void end_accounts(const struct recorder *recorder, const struct active *active)
{
	struct capture_scope scope = scope_of(recorder, active);
	struct accounts_scope of_accounts = capture_scope_of_accounts(&scope);
	int result = accounts_end(&active->capture->accounts, recorder->kernel,
				  active->capture->planned_end_ns, recorder->clock, &of_accounts);

	if (result < 0)
		log_warning("cannot read the kernel's accounts: %s; a capture has none", strerror(-result));
}

static void settle_accounts(const struct recorder *recorder, const struct active *active)
{
	struct capture_scope scope = scope_of(recorder, active);
	struct accounts_scope of_accounts = capture_scope_of_accounts(&scope);

	accounts_settle(&active->capture->accounts, &of_accounts);
}

static void follow_accounts(const struct recorder *recorder, const struct active *active, uint64_t now_ns)
{
	struct capture_scope scope = scope_of(recorder, active);
	struct accounts_scope of_accounts = capture_scope_of_accounts(&scope);

	accounts_follow(&active->capture->accounts, recorder->kernel, now_ns, &of_accounts);
}

/* ---- what targets waited ---- */

/* Where the accounts have waits for the resource; none for irq. PSI counts those for pages that are read again as both. */
static uint64_t waited_ns(const struct account_victim *victim, enum psi_resource resource)
{
	switch (resource) {
	case PSI_CPU:
		return victim->ns[ACCOUNT_QUEUED] + victim->ns[ACCOUNT_THROTTLED];
	case PSI_MEMORY:
		return victim->ns[ACCOUNT_MEMORY];
	case PSI_IO:
		return victim->ns[ACCOUNT_IO] + victim->ns[ACCOUNT_MEMORY];
	default:
		return 0;
	}
}

/*
 * The time of all threads of the victims that the scope covers. WATCH_NOT_KNOWN where the accounts are not complete, or have
 * no such victim.
 */
static uint64_t own_us(const struct accounts *accounts, struct capture_scope *scope,
		       enum psi_resource resource)
{
	const struct accounts_scope of_accounts = capture_scope_of_accounts(scope);
	uint64_t sum_ns = 0;
	bool any = false;

	for (uint32_t i = 0; i < accounts->victims_count; i++) {
		const struct account_victim *victim = &accounts->victims[i];
		const char *cgroup;

		if (!of_accounts.covers(of_accounts.user, victim->comm, victim->cgroup_id, 0, &cgroup))
			continue;
		any = true;
		sum_ns += waited_ns(victim, resource);
	}
	return any && accounts->is_complete && resource <= PSI_IO ? sum_ns / 1000 : WATCH_NOT_KNOWN;
}

static struct capture_scope scope_of_watch(const struct recorder *recorder, const struct watch *watch)
{
	return (struct capture_scope){ .targets = &recorder->tracking->targets,
				       .cgroups = recorder->cgroups,
				       .rule = watch->rule,
				       .cgroup = watch->cgroup };
}

static bool covers_all(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id, uint32_t tgid,
		       const char **ret_cgroup)
{
	(void)user;
	(void)comm;
	(void)cgroup_id;
	(void)tgid;
	*ret_cgroup = NULL;
	return true;
}

/* What all targets waited since then. The caller frees. */
static struct accounts read_waits(const struct recorder *recorder, uint64_t since_ns, uint64_t now_ns)
{
	const struct accounts_scope all = { .covers = covers_all, .sums_only = true };
	struct accounts waits;

	accounts_begin(&waits, recorder->kernel, since_ns, accounts_valid_since(recorder), now_ns);
	accounts_end(&waits, recorder->kernel, now_ns, recorder->clock, &all);
	return waits;
}

/* What the watch's targets waited in its window that ends now. */
static uint64_t own_at_trigger(struct recorder *recorder, const struct watch *watch, uint64_t now_ns)
{
	uint64_t window_ns = watch->trigger->window_us * 1000, recent_ns = clock_before(now_ns, WAITS_NS);
	struct capture_scope scope = scope_of_watch(recorder, watch);
	struct recorder_waits *place = recorder->waits;

	for (struct recorder_waits *one = recorder->waits; one < recorder->waits + RECORDER_WAITS; one++) {
		if (one->window_ns == window_ns && one->at_ns >= recent_ns)
			return own_us(&one->accounts, &scope, watch->trigger->resource);
		if (one->at_ns < recent_ns)
			accounts_free(&one->accounts);
		if (one->at_ns < place->at_ns)
			place = one;
	}
	if (place->at_ns >= recent_ns && place->window_ns)
		return WATCH_NOT_KNOWN;
	*place = (struct recorder_waits){ read_waits(recorder, clock_before(now_ns, window_ns), now_ns),
					  window_ns, now_ns };
	return own_us(&place->accounts, &scope, watch->trigger->resource);
}

/* What they waited since then, in proportion to the watch's window. */
static uint64_t own_since(const struct recorder *recorder, const struct watch *watch, uint64_t since_ns,
			  uint64_t now_ns)
{
	uint64_t window_ns = watch->trigger->window_us * 1000, waited_us;
	struct capture_scope scope = scope_of_watch(recorder, watch);
	struct accounts waits = read_waits(recorder, since_ns, now_ns);

	waited_us = own_us(&waits, &scope, watch->trigger->resource);
	accounts_free(&waits);
	if (waited_us == WATCH_NOT_KNOWN || now_ns <= since_ns)
		return waited_us;
	return (uint64_t)((double)waited_us * (double)window_ns / (double)(now_ns - since_ns));
}

/* Whether the watch has fired again, and another capture of it is under way. */
static bool is_captured_again(const struct recorder *recorder, const struct active *active)
{
	for (size_t i = 0; i < recorder->active_count; i++)
		if (&recorder->active[i] != active && recorder->active[i].fired == active->fired &&
		    recorder->active[i].cgroup_id == active->cgroup_id)
			return true;
	return false;
}

/* Tells the watch that fired, if it is still there, what part its targets had in the capture. */
static void tell_watch(const struct recorder *recorder, const struct active *active, uint64_t now_ns)
{
	const struct capture *capture = active->capture;
	struct watch *watch =
		active->fired ? watches_find(recorder->tracking->watches, active->cgroup_id, active->fired)
			      : NULL;
	struct capture_scope scope = scope_of(recorder, active);
	uint64_t since_ns = capture->trigger.triggered_ns, last_ns;

	if (!watch || is_captured_again(recorder, active))
		return;
	/* a long wait counts when it ends, so its last window alone may have little of a steady stall */
	watch_note_own(watch, own_since(recorder, watch, since_ns, now_ns));
	last_ns = clock_before(now_ns, watch->trigger->window_us * 1000);
	if (last_ns > since_ns)
		watch_note_own(watch, own_since(recorder, watch, last_ns, now_ns));
	watch_note_end(watch, capture->trigger.observed_us,
		       own_us(&capture->accounts, &scope, active->fired->resource), now_ns);
}

/* Closes the ledger and hands the capture to the worker thread. */
static void end_capture(struct recorder *recorder, size_t position, bool interrupted)
{
	struct active *active = &recorder->active[position];
	struct capture *capture = active->capture;
	uint64_t now_ns = clock_now_ns(recorder->clock);
	struct capture_scope scope = scope_of(recorder, active);
	struct capture_usage_scope of_usage = capture_scope_of_usage(&scope);

	read_pressure(recorder, active, now_ns);
	if (active->has_clocks)
		stall_clocks_stop(&recorder->clocks);
	open_intervals_add(recorder->kernel, capture, &scope, now_ns);
	capture_usage_end(&capture->usage, recorder->usage, &of_usage);
	if (capture_takes(capture, SAMPLE_OFF_CPU))
		capture_note_loss(capture, LOSS_OFFCPU_UNSTACKED, unstacked_of(&capture->usage));
	pressure_close(&capture->pressure);
	note_own(recorder, active, true);
	set_levels(active);
	kernel_stats_end(&capture->kernel_stats, cgroups_mount(recorder->cgroups), active->cgroup, now_ns);
	cgroup_memory_end(&capture->cgroup_memory, cgroups_mount(recorder->cgroups), recorder->usage,
			  path_of_cgroup, recorder->cgroups, clock_now_ns(recorder->clock));
	settle_accounts(recorder, active);
	note_kernel_losses(recorder, active);
	note_unwatched(recorder, active);
	capture_note_loss(capture, LOSS_STALE_EVENTS,
			  own_counted(recorder->own_counters, OWN_STALE_EVENTS) - active->stale_at_begin);
	tell_watch(recorder, active, now_ns);
	capture_end(capture, now_ns, interrupted);
	worker_commit_capture(recorder->worker, capture);
	free(active->cgroup);
	*active = recorder->active[--recorder->active_count];
	recorder->captured_ns = now_ns;
	if (!recorder->active_count)
		set_pace(recorder);
}

/* The incident to which a capture belongs that has just begun. */
static struct incident join_incident(const struct recorder *recorder, const struct active *active)
{
	const struct capture_trigger *trigger = &active->capture->trigger;
	const struct incident_span span = {
		.from_ns = trigger->triggered_ns - capture_available_history_ns(active->capture),
		.triggered_ns = trigger->triggered_ns,
		.capture_ns = trigger->capture_ns,
		.cooldown_ns = active->rule->cooldown_ns,
	};

	return incident_join(&recorder->incident, &span);
}

/*
 * Begins a capture of `cgroup`, or of the whole system (NULL), in the free place that `active` is, with the members that
 * concern its rule set. Takes ownership of trigger->asking.
 */
static int begin_capture(struct recorder *recorder, struct active *active, struct capture_trigger *trigger,
			 const char *cgroup)
{
	active->stale_at_begin = own_counted(recorder->own_counters, OWN_STALE_EVENTS);
	trigger->cgroup = cgroup ? strdup(cgroup) : NULL;
	active->cgroup = cgroup ? strdup(cgroup) : NULL;
	keep_past(recorder, trigger);
	/* what was before the first one is in no capture */
	for (int queue = 0; queue < OWN_QUEUES && !recorder->active_count; queue++)
		own_queue_take(recorder->own_counters, (enum own_queue)queue);
	if (!cgroup || (trigger->cgroup && active->cgroup))
		active->capture = begin_on_rings(recorder, trigger);
	if (!active->capture) {
		if (!recorder->active_count)
			set_pace(recorder);
		free(trigger->cgroup);
		free(active->cgroup);
		asking_free(trigger->asking);
		return -ENOMEM;
	}
	capture_usage_begin(&active->capture->usage, recorder->usage);
	begin_accounts(recorder, active, trigger->triggered_ns);
	pressure_open(&active->capture->pressure, cgroups_mount(recorder->cgroups), cgroup);
	return 0;
}

/* Ends a capture before its time, so that one of another owner finds a place. */
static void end_for(struct recorder *recorder, struct capture *loser, const struct capture *winner)
{
	char of[CAPTURE_WHOSE_BYTES], by[CAPTURE_WHOSE_BYTES];

	log_info("a capture of %s ends early and is kept: it makes way for one of %s",
		 capture_whose(&loser->trigger, of, sizeof(of)),
		 capture_whose(&winner->trigger, by, sizeof(by)));
	recorder_shorten(recorder, loser, clock_now_ns(recorder->clock));
}

/* Announces it to the worker thread, which may have no room any more: then it is as if it had not begun. */
static int announce_capture(struct recorder *recorder, struct active *active, const struct share_owner *owner)
{
	struct capture *loser;

	if (!worker_begin_capture(recorder->worker, active->capture, owner, &loser)) {
		if (active->has_clocks)
			stall_clocks_stop(&recorder->clocks);
		capture_free(active->capture);
		free(active->cgroup);
		if (!recorder->active_count)
			set_pace(recorder);
		return -EBUSY;
	}
	if (!recorder->active_count++)
		set_pace(recorder);
	if (loser)
		end_for(recorder, loser, active->capture);
	own_count(recorder->own_counters, OWN_CAPTURES);
	return 0;
}

/* Whether a capture of this owner may begin. */
static bool has_room(const struct recorder *recorder, const struct share_owner *owner)
{
	struct capture *loser;

	return recorder->active_count < ARRAY_SIZE(recorder->active) &&
	       worker_has_room(recorder->worker, owner, &loser);
}

/* `trigger` has what fired, and when. */
static int begin_fired(struct recorder *recorder, const struct configuration *configuration,
		       const struct watch *watch, struct capture_trigger *trigger, uint64_t now_ns)
{
	const struct share_owner owner = { .kind = SHARE_OF_RULE,
					   .id = watch->rule->id,
					   .is_alone = configuration->rules.count == 1 };
	struct active *active = &recorder->active[recorder->active_count];
	struct incident incident;
	int result;

	if (!has_room(recorder, &owner))
		return -EBUSY;
	*active = (struct active){ .configuration = configuration,
				   .rule = watch->rule,
				   .fired = watch->trigger,
				   .cgroup_id = watch->cgroup_id };
	memcpy(trigger->rule, watch->rule->name, sizeof(trigger->rule));
	trigger->rule_id = watch->rule->id;
	trigger->mode = watch->fired_by;
	trigger->triggered_at =
		clock_wall_now_ns(recorder->clock) - (int64_t)(now_ns - trigger->triggered_ns);
	trigger->wanted_history_ns = watch->rule->history_ns;
	trigger->capture_ns = watch->rule->capture_ns;
	trigger->hz = recorder->kernel->manifest.hz;
	result = begin_capture(recorder, active, trigger, watch->cgroup);
	if (result < 0)
		return result;
	active->has_clocks = stall_clocks_start(&recorder->clocks, watch->cgroup ? watch->cgroup_id : 0,
						watch->cgroup ? level_of(watch->cgroup) : 0, now_ns);
	read_pressure(recorder, active, now_ns);
	counters_read(recorder->kernel->map_fds[PIN_COUNTERS], active->counters_at_begin);
	capture_note_loss(active->capture, LOSS_WATCH_SUPPRESSED, watch->suppressed);
	note_unwatched(recorder, active);
	incident = join_incident(recorder, active);
	active->capture->trigger.incident = incident.number;
	result = announce_capture(recorder, active, &owner);
	if (!result)
		recorder->incident = incident;
	return result;
}

/* Without stall clocks, of which there is one set: a rule that fires meanwhile needs them. */
static int begin_asked(struct recorder *recorder, struct asking *asking, const char *cgroup, uint64_t now_ns)
{
	struct active *active = &recorder->active[recorder->active_count];
	struct capture_trigger trigger = { .asking = asking,
					   .mode = TRIGGER_MANUAL,
					   .triggered_ns = now_ns,
					   .triggered_at = clock_wall_now_ns(recorder->clock),
					   .wanted_history_ns = asking->before_ns,
					   .capture_ns = asking->for_ns,
					   .hz = recorder->kernel->manifest.hz };
	int result;

	if (!has_room(recorder, &asking->owner)) {
		asking_free(asking);
		return -EBUSY;
	}
	*active = (struct active){ .rule = &asking->rule };
	result = begin_capture(recorder, active, &trigger, cgroup);
	if (result < 0)
		return result;
	read_pressure(recorder, active, now_ns);
	counters_read(recorder->kernel->map_fds[PIN_COUNTERS], active->counters_at_begin);
	return announce_capture(recorder, active, &asking->owner);
}

static void suppress(const struct recorder *recorder, struct watch *watch)
{
	watch_suppress(watch);
	own_count(recorder->own_counters, OWN_SUPPRESSED);
}

/*
 * Walks first: the periodic walk, which tells whose samples these are, may be 30 s old. The processes for
 * which this walk finds no room among the targets count in this capture's ledger.
 */
static void read_history(struct recorder *recorder, struct active *active)
{
	keep_gone(recorder);
	tracking_consume(recorder->tracking);
	tracking_walk(recorder->tracking);
	settle_ended(recorder);
	drain_first(recorder, active);
	if (recorder->active_count == 1)
		keep_unread(recorder, clock_now_ns(recorder->clock));
	/* after the drain: on a large host these reads take time, and samples in the rings are overwritten */
	kernel_stats_begin(&active->capture->kernel_stats, cgroups_mount(recorder->cgroups), active->cgroup,
			   clock_now_ns(recorder->clock));
	note_own(recorder, active, false);
	cgroup_memory_begin(&active->capture->cgroup_memory, cgroups_mount(recorder->cgroups),
			    recorder->usage, path_of_cgroup, recorder->cgroups,
			    clock_now_ns(recorder->clock));
	active->cgroups_due_ns = clock_now_ns(recorder->clock) + CLOCK_SECOND_NS;
}

static void log_fired(const struct watch *watch, uint64_t observed_us, uint64_t waited_us, bool is_worse)
{
	char before[128] = "";

	if (is_worse && waited_us != WATCH_NOT_KNOWN && watch->own_peak_us != WATCH_NOT_KNOWN)
		snprintf(before, sizeof(before),
			 "; its threads waited %llu ms, worse than the %llu ms that its last capture saw",
			 (unsigned long long)waited_us / 1000, (unsigned long long)watch->own_peak_us / 1000);
	else if (is_worse)
		snprintf(before, sizeof(before), ", worse than the %llu ms that its last capture saw",
			 (unsigned long long)watch->peak_us / 1000);
	log_info("rule %s fired: %s %s stalled %llu ms in %llu ms (%s)%s", watch->rule->name,
		 psi_resource_names[watch->trigger->resource], psi_kind_names[watch->trigger->kind],
		 (unsigned long long)observed_us / 1000, (unsigned long long)watch->trigger->window_us / 1000,
		 watch->cgroup ? watch->cgroup : "system", before);
}

/* Returns whether the capture has begun; else the trigger counts as suppressed. */
static bool begin_or_suppress(struct recorder *recorder, const struct configuration *configuration,
			      struct watch *watch, struct capture_trigger *trigger, uint64_t now_ns)
{
	int result = begin_fired(recorder, configuration, watch, trigger, now_ns);

	if (!result)
		return true;
	suppress(recorder, watch);
	if (log_allowed(&recorder->suppressed_limit, 1))
		log_warning(
			"rule %s fired, but no capture could begin: %s", watch->rule->name,
			result == -EBUSY
				? "the rule has its share of the captures that may be under way or wait to be written"
				: strerror(-result));
	return false;
}

void recorder_fire(struct recorder *recorder, const struct configuration *configuration, struct watch *watch,
		   uint64_t observed_us, uint64_t now_ns)
{
	bool is_quiet = watch_is_quiet(watch, now_ns);
	uint64_t waited_us = own_at_trigger(recorder, watch, now_ns);
	struct capture_trigger trigger = { .psi = *watch->trigger,
					   .observed_us = observed_us,
					   .triggered_ns = now_ns,
					   .onset_ns = psi_window_onset(&watch->window,
									watch->trigger->stall_us) };

	if (watch_is_captured(watch, now_ns))
		watch_note_own(watch, waited_us);
	if (is_quiet && !watch_is_worse(watch, observed_us, waited_us, now_ns)) {
		suppress(recorder, watch);
		return;
	}
	tracking_consume(recorder->tracking); /* a target may have begun or ended a moment ago */
	if (!tracking_has_target(recorder->tracking, watch, now_ns)) {
		own_count(recorder->own_counters, OWN_WITHOUT_TARGET);
		return;
	}
	if (!begin_or_suppress(recorder, configuration, watch, &trigger, now_ns))
		return;
	log_fired(watch, observed_us, waited_us, is_quiet);
	watch_cool_down(watch, observed_us, waited_us, now_ns);
	read_history(recorder, &recorder->active[recorder->active_count - 1]);
}

void recorder_fire_kill(struct recorder *recorder, const struct configuration *configuration,
			struct watch *watch, const struct kill_record *kill, uint64_t now_ns)
{
	struct capture_trigger trigger = { .psi.resource = PSI_MEMORY,
					   .kill = *kill,
					   .triggered_ns = kill->time_ns };

	/* the rings have nothing of before a gap, and a capture does not begin there */
	if (trigger.triggered_ns < recorder->rings.armed_ns)
		trigger.triggered_ns = recorder->rings.armed_ns;
	trigger.onset_ns = trigger.triggered_ns;
	watch->fired++;
	if (watch_is_quiet(watch, now_ns)) {
		suppress(recorder, watch);
		return;
	}
	if (!begin_or_suppress(recorder, configuration, watch, &trigger, now_ns))
		return;
	log_info("rule %s fired: %s[%u] was killed for lack of memory (%s)", watch->rule->name, kill->comm,
		 kill->tgid, watch->cgroup ? watch->cgroup : "system");
	watch_cool_down(watch, 0, WATCH_NOT_KNOWN, now_ns);
	read_history(recorder, &recorder->active[recorder->active_count - 1]);
}

int recorder_ask(struct recorder *recorder, struct asking *asking, const char *cgroup, uint64_t now_ns)
{
	int result = begin_asked(recorder, asking, cgroup, now_ns);

	if (!result)
		read_history(recorder, &recorder->active[recorder->active_count - 1]);
	return result;
}

bool recorder_is_calm(const struct recorder *recorder)
{
	return !recorder->active_count && !worker_has_captures(recorder->worker);
}

void recorder_take_baseline(struct recorder *recorder, const struct rule *rule, uint64_t now_ns)
{
	struct capture_trigger trigger = { .rule_id = rule->id,
					   .mode = TRIGGER_BASELINE,
					   .triggered_ns = now_ns,
					   .triggered_at = clock_wall_now_ns(recorder->clock),
					   .wanted_history_ns = rule->history_ns,
					   .hz = recorder->kernel->manifest.hz };
	struct active active = { .rule = rule };
	struct capture_scope scope;

	memcpy(trigger.rule, rule->name, sizeof(trigger.rule));
	active.capture = begin_on_rings(recorder, &trigger);
	if (!active.capture) {
		own_count(recorder->own_counters, OWN_BASELINES_LOST);
		return;
	}
	tracking_consume(recorder->tracking); /* a target may have begun or ended a moment ago */
	scope = scope_of(recorder, &active);
	drain_first(recorder, &active);
	open_intervals_add(recorder->kernel, active.capture, &scope, now_ns);
	begin_accounts(recorder, &active, now_ns);
	end_accounts(recorder, &active);
	settle_accounts(recorder, &active);
	note_unwatched(recorder, &active);
	capture_end(active.capture, now_ns, false);
	worker_add_baseline(recorder->worker, active.capture);
}

struct capture *recorder_asked(const struct recorder *recorder, uint64_t serial)
{
	for (size_t i = 0; i < recorder->active_count; i++) {
		const struct asking *asking = recorder->active[i].capture->trigger.asking;

		if (asking && asking->serial == serial)
			return recorder->active[i].capture;
	}
	return NULL;
}

/* A cgroup may be removed before the capture ends: what was last read of it counts then. */
static void look_at_cgroups(const struct recorder *recorder, struct active *active, uint64_t now_ns)
{
	const char *mount = cgroups_mount(recorder->cgroups);

	if (!clock_is_due(active->cgroups_due_ns, now_ns))
		return;
	active->cgroups_due_ns = now_ns + CLOCK_SECOND_NS;
	kernel_stats_look(&active->capture->kernel_stats, mount, active->cgroup);
	cgroup_memory_look(&active->capture->cgroup_memory, mount);
}

/* A walk is due when a capture has begun or is over, and once a second while one is under way. */
static bool wants_walk(const struct recorder *recorder, uint64_t now_ns)
{
	bool wanted = recorder->active_count && now_ns - recorder->usage->walked_ns >= CLOCK_SECOND_NS;

	for (size_t i = 0; i < recorder->active_count; i++) {
		const struct capture *capture = recorder->active[i].capture;

		wanted |= !capture->expected.from_ns || capture_is_over(capture, now_ns);
	}
	return wanted;
}

/* Or when a capture ends: what its threads do then is read at once. */
static uint64_t next_pace_ns(const struct recorder *recorder, uint64_t now_ns)
{
	uint64_t due_ns = clock_next_ns(recorder->pace_due_ns, PACE_NS, now_ns);

	for (size_t i = 0; i < recorder->active_count; i++) {
		uint64_t ends_ns = recorder->active[i].capture->planned_end_ns;

		if (ends_ns > now_ns && ends_ns < due_ns)
			due_ns = ends_ns;
	}
	return due_ns;
}

void recorder_shorten(struct recorder *recorder, struct capture *capture, uint64_t now_ns)
{
	capture_shorten(capture, now_ns);
	recorder->pace_due_ns = now_ns;
}

void recorder_pace(struct recorder *recorder, uint64_t now_ns)
{
	uint64_t drained_ns, late_ns;

	if (!clock_is_due(recorder->pace_due_ns, now_ns))
		return;
	if (!recorder->active_count) {
		past_free(&recorder->past);
		recorder->pace_due_ns = 0;
		return;
	}
	late_ns = now_ns - recorder->pace_due_ns;
	recorder->pace_due_ns = next_pace_ns(recorder, now_ns);
	look_at_budgets(recorder, now_ns);
	for (size_t i = 0; i < recorder->active_count; i++)
		if (capture_is_over(recorder->active[i].capture, now_ns))
			end_accounts(recorder, &recorder->active[i]);
	tracking_consume(recorder->tracking); /* paths of cgroups, which alone do not wake the daemon */
	if (wants_walk(recorder, now_ns))
		tracking_walk(recorder->tracking);
	settle_ended(recorder);
	drained_ns = clock_now_ns(recorder->clock);
	read_past(recorder);
	for (size_t i = recorder->active_count; i-- > 0;) {
		bool ends = capture_is_over(recorder->active[i].capture, now_ns);

		expect(recorder, &recorder->active[i], ends);
		drain(recorder, &recorder->active[i]);
		note_levels(recorder, &recorder->active[i], late_ns);
		if (ends) {
			end_capture(recorder, i, false);
			continue;
		}
		read_pressure(recorder, &recorder->active[i], now_ns);
		look_at_cgroups(recorder, &recorder->active[i], now_ns);
		follow_accounts(recorder, &recorder->active[i], now_ns);
	}
	if (recorder->active_count)
		keep_unread(recorder, drained_ns);
	keep_gone(recorder);
}

void recorder_look(struct recorder *recorder)
{
	uint64_t at_ns = clock_now_ns(recorder->clock);

	if (!looker_take(&recorder->looker))
		return;
	for (size_t i = 0; i < recorder->active_count; i++) {
		struct capture_scope scope = scope_of(recorder, &recorder->active[i]);

		bound(recorder, &recorder->active[i]);
		capture_add_looks(recorder->active[i].capture, &recorder->looker.looks, at_ns,
				  capture_scope_describe, &scope);
	}
	looker_rest(&recorder->looker);
}

uint64_t recorder_due_ns(const struct recorder *recorder)
{
	return clock_sooner(recorder->pace_due_ns, recorder->looker.due_ns);
}

void recorder_note_unsampled(struct recorder *recorder, unsigned int cpus)
{
	for (size_t i = 0; i < recorder->active_count; i++)
		capture_note_worst(recorder->active[i].capture, LOSS_CPUS_UNSAMPLED, cpus);
}

void recorder_interrupt(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->active_count; i++)
		end_accounts(recorder, &recorder->active[i]);
	if (recorder->active_count)
		tracking_walk(recorder->tracking);
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
