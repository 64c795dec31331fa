/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/recorder.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "consumer/capture/capture_looks.h"
#include "consumer/capture/capture_samples.h"
#include "consumer/capture/open_intervals.h"
#include "consumer/process/reporter.h"

#include <string.h>
#include <unistd.h>

/* The rings are drained and PSI's totals are read so often. */
#define PACE_NS (CLOCK_SECOND_NS / RINGS_DRAINED_HZ)

/*
 * Processes that ended within captures that are under way and still have rows of their own: 0.4 MiB. On a host
 * where programs begin and end without pause, or a user attacks, a walk finds more each second.
 */
#define ENDED_KEPT_MAX 2048U

void recorder_open(struct recorder *recorder, const struct recording_sources *sources)
{
	const struct kernel_objects *kernel = sources->kernel;

	*recorder = (struct recorder){ .sources = *sources,
				       .rings = { .slots = kernel->slots,
						  .slots_per_cpu = kernel->manifest.slots_per_cpu,
						  .cpus = kernel->manifest.cpus,
						  .offcpu_slots = kernel->offcpu_slots },
				       .clocks = { .kernel = kernel } };
	for (int queue = OWN_QUEUE_ONCPU; queue <= OWN_QUEUE_OFFCPU; queue++)
		sources->own_counters->queues[queue].room = kernel->manifest.slots_per_cpu;
	/* a daemon that crashed during a capture may have left clocks running, and slots for itself to read */
	stall_clocks_stop(&recorder->clocks);
	offcpu_budgets_keep_unread(kernel, 0);
	looker_open(&recorder->looker, kernel, sources->clock);
	__atomic_store_n(&kernel->control->recorder, (uint32_t)getpid(), __ATOMIC_RELAXED);
	reporter_tell(kernel);
}

void recorder_start(struct recorder *recorder, struct worker *worker, uint64_t now_ns)
{
	recorder->worker = worker;
	recorder->started_ns = now_ns;
	recorder_note_gap(recorder, now_ns);
}

void recorder_note_gap(struct recorder *recorder, uint64_t now_ns)
{
	recorder->rings.armed_ns = recorder->sources.accounts_valid_ns = now_ns;
	__atomic_store_n(&recorder->sources.kernel->control->growth_since_ns, now_ns, __ATOMIC_RELAXED);
	past_free(&recorder->past);
}

static void drop_recording(struct recording *recording)
{
	if (recording->clocks)
		stall_clocks_stop(recording->clocks);
	capture_free(recording->capture);
	free(recording->cgroup);
}

void recorder_close(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->active_count; i++)
		drop_recording(&recorder->active[i]);
	waits_free(&recorder->waits);
	past_free(&recorder->past);
	looker_close(&recorder->looker);
}

/* The intervals of a capture that has ended are the history of one that begins soon. */
static uint64_t past_due_ns(const struct recorder *recorder)
{
	return past_is_kept(&recorder->past) ? clock_now_ns(recorder->sources.clock) + recorder->past_ns : 0;
}

static void set_pace(struct recorder *recorder)
{
	recorder->pace_due_ns = recorder->active_count ? clock_now_ns(recorder->sources.clock) + PACE_NS
						       : past_due_ns(recorder);
	if (!recorder->active_count)
		offcpu_budgets_keep_unread(recorder->sources.kernel, 0);
	recorder->budgets.looked_ns = 0;
	looker_want(&recorder->looker, recorder->active_count > 0);
	offcpu_budgets_set(recorder->sources.kernel, recorder->active_count > 0,
			   recorder->longest_history_ns);
}

/* A capture records only the history that a ring holds. A rule that wants more is logged in advance. */
static void warn_of_history(const struct recorder *recorder, const struct rule_set *rules)
{
	const struct manifest *manifest = &recorder->sources.kernel->manifest;
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
	if (accounts_set_history(recorder->sources.kernel, recorder->longest_history_ns))
		recorder->sources.accounts_valid_ns = clock_now_ns(recorder->sources.clock);
	offcpu_budgets_set(recorder->sources.kernel, recorder->active_count > 0,
			   recorder->longest_history_ns);
	looker_set_rate(&recorder->looker, configuration->settings.capture_hz);
	warn_of_history(recorder, rules);
}

/* Call it before anything is added to the capture. */
static void bound(const struct recorder *recorder, const struct recording *active)
{
	active->capture->bytes_most = worker_bytes_left(recorder->worker, active->capture);
}

static void drain(const struct recorder *recorder, const struct recording *active)
{
	struct capture_scope scope = recording_scope(active);

	bound(recorder, active);
	capture_drain(active->capture, capture_scope_describe, &scope);
	if (active->capture->has_moved)
		worker_follow_mappings(recorder->worker);
	active->capture->has_moved = false;
}

static void read_past(struct recorder *recorder)
{
	past_read(&recorder->past, clock_before(clock_now_ns(recorder->sources.clock), recorder->past_ns));
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
static void drain_first(const struct recorder *recorder, const struct recording *active)
{
	struct capture_scope scope = recording_scope(active);

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
		offcpu_budgets_keep_unread(recorder->sources.kernel, 1);
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
	tracking_keep_gone(recorder->sources.tracking, since);
}

/* Where too many processes have ended, those that ran for the shortest time go to the rest of each capture. */
static void settle_ended(const struct recorder *recorder)
{
	if (!usage_choose(&recorder->sources.tracking->usage, ENDED_KEPT_MAX))
		return;
	for (size_t i = 0; i < recorder->active_count; i++) {
		struct capture_scope scope = recording_scope(&recorder->active[i]);
		struct capture_usage_scope of_usage = capture_scope_of_usage(&scope);

		capture_usage_settle(&recorder->active[i].capture->usage, &recorder->sources.tracking->usage,
				     &of_usage);
	}
	usage_sweep(&recorder->sources.tracking->usage);
}

/* Whether the watch has fired again, and another capture of it is under way. */
static bool is_captured_again(const struct recorder *recorder, const struct recording *active)
{
	for (size_t i = 0; i < recorder->active_count; i++)
		if (&recorder->active[i] != active && recorder->active[i].fired == active->fired &&
		    recorder->active[i].cgroup_id == active->cgroup_id)
			return true;
	return false;
}

/* Tells the watch that fired, if it is still there, what part its targets had in the capture. */
static void tell_watch(const struct recorder *recorder, const struct recording *active, uint64_t now_ns)
{
	struct watch *watch = active->fired ? watches_find(recorder->sources.tracking->watches,
							   active->cgroup_id, active->fired)
					    : NULL;

	if (watch && !is_captured_again(recorder, active))
		waits_tell(active, watch, now_ns);
}

/* Closes the ledger and hands the capture to the worker thread. */
static void end_capture(struct recorder *recorder, size_t position, bool interrupted)
{
	struct recording *active = &recorder->active[position];
	uint64_t now_ns = clock_now_ns(recorder->sources.clock);

	recording_end(active, now_ns);
	tell_watch(recorder, active, now_ns);
	capture_end(active->capture, now_ns, interrupted);
	worker_commit_capture(recorder->worker, active->capture);
	free(active->cgroup);
	*active = recorder->active[--recorder->active_count];
	recorder->captured_ns = now_ns;
	if (!recorder->active_count)
		set_pace(recorder);
}

/* The incident to which a capture belongs that has just begun. */
static struct incident join_incident(const struct recorder *recorder, const struct recording *active)
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
 * Makes a capture of `cgroup`, or of the whole system (NULL), in the free place that `active` is, with the members that
 * concern its rule set. Takes ownership of trigger->asking.
 */
static int make_capture(struct recorder *recorder, struct recording *active, struct capture_trigger *trigger,
			const char *cgroup)
{
	active->sources = &recorder->sources;
	trigger->cgroup = cgroup ? strdup(cgroup) : NULL;
	active->cgroup = cgroup ? strdup(cgroup) : NULL;
	keep_past(recorder, trigger);
	/* what was before the first one is in no capture */
	for (int queue = 0; queue < OWN_QUEUES && !recorder->active_count; queue++)
		own_queue_take(recorder->sources.own_counters, (enum own_queue)queue);
	if (!cgroup || (trigger->cgroup && active->cgroup))
		active->capture = begin_on_rings(recorder, trigger);
	if (active->capture)
		return 0;
	if (!recorder->active_count)
		set_pace(recorder);
	free(trigger->cgroup);
	free(active->cgroup);
	asking_free(trigger->asking);
	return -ENOMEM;
}

/* Ends a capture before its time, so that one of another owner finds a place. */
static void end_for(struct recorder *recorder, struct capture *loser, const struct capture *winner)
{
	char of[CAPTURE_WHOSE_BYTES], by[CAPTURE_WHOSE_BYTES];

	log_info("a capture of %s ends early and is kept: it makes way for one of %s",
		 capture_whose(&loser->trigger, of, sizeof(of)),
		 capture_whose(&winner->trigger, by, sizeof(by)));
	recorder_shorten(recorder, loser, clock_now_ns(recorder->sources.clock));
}

/* Announces it to the worker thread, which may have no room any more: then it is as if it had not begun. */
static int announce_capture(struct recorder *recorder, struct recording *active,
			    const struct share_owner *owner)
{
	struct capture *loser;

	if (!worker_begin_capture(recorder->worker, active->capture, owner, &loser)) {
		drop_recording(active);
		if (!recorder->active_count)
			set_pace(recorder);
		return -EBUSY;
	}
	if (!recorder->active_count++)
		set_pace(recorder);
	if (loser)
		end_for(recorder, loser, active->capture);
	own_count(recorder->sources.own_counters, OWN_CAPTURES);
	return 0;
}

/* Whether a capture of this owner may begin. */
static bool has_room(const struct recorder *recorder, const struct share_owner *owner)
{
	struct capture *loser;

	return recorder->active_count < ARRAY_SIZE(recorder->active) &&
	       worker_has_room(recorder->worker, owner, &loser);
}

/*
 * Begins a capture with the members of `described` that concern its rule. Of one on demand the stall clocks do not run: there is one
 * set, which a rule needs that fires meanwhile. Takes ownership of trigger->asking. Returns 0, -EBUSY or -ENOMEM.
 */
static int begin_capture(struct recorder *recorder, const struct recording *described,
			 struct capture_trigger *trigger, const char *cgroup, const struct share_owner *owner,
			 uint64_t now_ns)
{
	struct recording *active = &recorder->active[recorder->active_count];
	struct incident incident = recorder->incident;
	int result;

	if (!has_room(recorder, owner)) {
		asking_free(trigger->asking);
		return -EBUSY;
	}
	*active = *described;
	trigger->triggered_at =
		clock_wall_now_ns(recorder->sources.clock) - (int64_t)(now_ns - trigger->triggered_ns);
	trigger->hz = recorder->sources.kernel->manifest.hz;
	result = make_capture(recorder, active, trigger, cgroup);
	if (result < 0)
		return result;
	recording_begin(active, trigger->asking ? NULL : &recorder->clocks, now_ns);
	if (!trigger->asking) {
		incident = join_incident(recorder, active);
		active->capture->trigger.incident = incident.number;
	}
	result = announce_capture(recorder, active, owner);
	if (!result)
		recorder->incident = incident;
	return result;
}

void recorder_read_history(struct recorder *recorder)
{
	struct recording *active = &recorder->active[recorder->active_count - 1];

	keep_gone(recorder);
	tracking_consume(recorder->sources.tracking);
	tracking_walk(recorder->sources.tracking);
	settle_ended(recorder);
	drain_first(recorder, active);
	if (recorder->active_count == 1)
		offcpu_budgets_keep_unread(recorder->sources.kernel, clock_now_ns(recorder->sources.clock));
	recording_begin_statistics(active);
}

void recorder_suppress(const struct recorder *recorder, struct watch *watch)
{
	watch_suppress(watch);
	own_count(recorder->sources.own_counters, OWN_SUPPRESSED);
}

bool recorder_begin(struct recorder *recorder, const struct configuration *configuration, struct watch *watch,
		    struct capture_trigger *trigger, uint64_t now_ns)
{
	const struct rule *rule = watch->rule;
	const struct share_owner owner = { .kind = SHARE_OF_RULE,
					   .id = rule->id,
					   .is_alone = configuration->rules.count == 1 };
	const struct recording described = { .configuration = configuration,
					     .rule = rule,
					     .fired = watch->trigger,
					     .cgroup_id = watch->cgroup_id };
	int result;

	memcpy(trigger->rule, rule->name, sizeof(trigger->rule));
	trigger->rule_id = rule->id;
	trigger->mode = watch->fired_by;
	trigger->wanted_history_ns = rule->history_ns;
	trigger->capture_ns = rule->capture_ns;
	result = begin_capture(recorder, &described, trigger, watch->cgroup, &owner, now_ns);
	if (!result) {
		capture_note_loss(recorder->active[recorder->active_count - 1].capture, LOSS_WATCH_SUPPRESSED,
				  watch->suppressed);
		return true;
	}
	recorder_suppress(recorder, watch);
	if (log_allowed(&recorder->suppressed_limit, 1))
		log_warning(
			"rule %s fired, but no capture could begin: %s", rule->name,
			result == -EBUSY
				? "the rule has its share of the captures that may be under way or wait to be written"
				: strerror(-result));
	return false;
}

int recorder_ask(struct recorder *recorder, struct asking *asking, const char *cgroup, uint64_t now_ns)
{
	const struct recording described = { .rule = &asking->rule };
	struct capture_trigger trigger = { .asking = asking,
					   .mode = TRIGGER_MANUAL,
					   .triggered_ns = now_ns,
					   .wanted_history_ns = asking->before_ns,
					   .capture_ns = asking->for_ns };
	int result = begin_capture(recorder, &described, &trigger, cgroup, &asking->owner, now_ns);

	if (!result)
		recorder_read_history(recorder);
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
					   .triggered_at = clock_wall_now_ns(recorder->sources.clock),
					   .wanted_history_ns = rule->history_ns,
					   .hz = recorder->sources.kernel->manifest.hz };
	struct recording active = { .sources = &recorder->sources, .rule = rule };
	struct capture_scope scope;

	memcpy(trigger.rule, rule->name, sizeof(trigger.rule));
	active.capture = begin_on_rings(recorder, &trigger);
	if (!active.capture) {
		own_count(recorder->sources.own_counters, OWN_BASELINES_LOST);
		return;
	}
	tracking_consume(recorder->sources.tracking); /* a target may have begun or ended a moment ago */
	scope = recording_scope(&active);
	drain_first(recorder, &active);
	open_intervals_add(recorder->sources.kernel, active.capture, &scope, now_ns);
	recording_begin_accounts(&active, now_ns);
	recording_end_accounts(&active);
	recording_settle_accounts(&active);
	recording_note_unwatched(&active);
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

/* A walk is due when a capture has begun or is over, and once a second while one is under way. */
static bool wants_walk(const struct recorder *recorder, uint64_t now_ns)
{
	bool wanted = recorder->active_count &&
		      now_ns - recorder->sources.tracking->usage.walked_ns >= CLOCK_SECOND_NS;

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
	offcpu_budgets_look(&recorder->budgets, recorder->sources.kernel, recorder->active_count > 0, now_ns);
	for (size_t i = 0; i < recorder->active_count; i++)
		if (capture_is_over(recorder->active[i].capture, now_ns))
			recording_end_accounts(&recorder->active[i]);
	tracking_consume(
		recorder->sources.tracking); /* paths of cgroups, which alone do not wake the daemon */
	if (wants_walk(recorder, now_ns))
		tracking_walk(recorder->sources.tracking);
	settle_ended(recorder);
	drained_ns = clock_now_ns(recorder->sources.clock);
	read_past(recorder);
	for (size_t i = recorder->active_count; i-- > 0;) {
		bool ends = capture_is_over(recorder->active[i].capture, now_ns);

		recording_expect(&recorder->active[i], ends);
		drain(recorder, &recorder->active[i]);
		recording_note_levels(recorder->active, recorder->active_count, i, late_ns);
		if (ends) {
			end_capture(recorder, i, false);
			continue;
		}
		recording_follow(&recorder->active[i], now_ns);
	}
	if (recorder->active_count)
		offcpu_budgets_keep_unread(recorder->sources.kernel, drained_ns);
	keep_gone(recorder);
}

void recorder_look(struct recorder *recorder)
{
	uint64_t at_ns = clock_now_ns(recorder->sources.clock);

	if (!looker_take(&recorder->looker))
		return;
	for (size_t i = 0; i < recorder->active_count; i++) {
		struct capture_scope scope = recording_scope(&recorder->active[i]);

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
		recording_end_accounts(&recorder->active[i]);
	if (recorder->active_count)
		tracking_walk(recorder->sources.tracking);
	while (recorder->active_count) {
		recording_expect(&recorder->active[0], true);
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
