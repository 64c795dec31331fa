/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/tracking.h"

#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define WALK_SECONDS 30U
#define GONE_MAX 8192U /* processes that ended and are kept for history */
#define ERRORS_A_MINUTE 5U
#define UNMAPPED_EVERY_MAX_NS (64 * CLOCK_SECOND_NS)

/* A rule that watches cgroups or slices and names the process; NULL: its cgroup does not matter. */
static const struct rule *find_watching(const struct tracking *tracking, const char comm[ABI_COMM_BYTES])
{
	for (size_t i = 0; i < tracking->rules->count; i++) {
		const struct rule *rule = &tracking->rules->rules[i];

		if (rule->watch != WATCH_SYSTEM && rule_names(rule, comm))
			return rule;
	}
	return NULL;
}

/* The kernel programs tell no id of a slice. */
bool tracking_find_scope(const struct tracking *tracking, const struct rule *rule, const char *cgroup,
			 char *into, uint64_t *cgroup_id, const char **ret_path)
{
	const char *mount = cgroups_mount(tracking->cgroups);
	struct stat at;

	*ret_path = cgroup;
	switch (rule->watch) {
	case WATCH_SYSTEM:
		*cgroup_id = 0;
		*ret_path = NULL;
		return true;
	case WATCH_SLICE:
		snprintf(into, PATH_MAX, "%s%.*s", mount, (int)cgroup_slice_length(cgroup), cgroup);
		if (stat(into, &at))
			return false;
		*cgroup_id = at.st_ino;
		*ret_path = into + strlen(mount);
		return true;
	default:
		return true;
	}
}

/* A slice that was removed has no process to watch. */
static void watch_for_rule(struct tracking *tracking, const struct rule *rule, uint64_t cgroup_id,
			   const char *cgroup)
{
	char into[PATH_MAX];

	if (tracking_find_scope(tracking, rule, cgroup, into, &cgroup_id, &cgroup) &&
	    watches_add(tracking->watches, rule, cgroup_id, cgroup, tracking->walk) < 0)
		log_warning("out of memory: %s is not watched for rule %s", cgroup, rule->name);
}

/* Returns false if the path of the process's cgroup is not known yet. */
static bool watch_process(struct tracking *tracking, const struct target_process *process)
{
	const struct rule *watching = find_watching(tracking, process->comm);
	const char *cgroup;

	if (!watching)
		return true;
	switch (cgroups_find(tracking->cgroups, process->cgroup_id, &cgroup)) {
	case CGROUP_UNKNOWN:
		return false;
	case CGROUP_UNUSABLE:
		if (log_allowed(&tracking->too_long_limit, 1))
			log_warning(
				"rule %s cannot watch the cgroup of process %u (%s): its path is longer than %u bytes or %u levels",
				watching->name, process->tgid, process->comm, CGROUP_PATH_BYTES,
				CGROUP_LEVELS);
		return true;
	case CGROUP_KNOWN:
		break;
	}
	for (size_t i = 0; i < tracking->rules->count; i++) {
		const struct rule *rule = &tracking->rules->rules[i];

		if (rule->watch != WATCH_SYSTEM && rule_applies(rule, process->comm, cgroup))
			watch_for_rule(tracking, rule, process->cgroup_id, cgroup);
	}
	return true;
}

static void look_at_unwatched(struct tracking *tracking)
{
	tracking->paths_seen = cgroups_gauges(tracking->cgroups).learned;
	tracking->unwatched = false;
	for (uint32_t i = 0; i < tracking->targets.count; i++) {
		const struct target_process *process = &tracking->targets.processes[i];

		if (process->watched || process->gone_ns)
			continue;
		if (watch_process(tracking, process))
			targets_note_watched(&tracking->targets, i, true);
		else
			tracking->unwatched = true;
	}
}

/* Retries targets whose cgroup had no known path, when paths have been told since. */
static void watch_unwatched(struct tracking *tracking)
{
	if (tracking->unwatched && cgroups_gauges(tracking->cgroups).learned != tracking->paths_seen)
		look_at_unwatched(tracking);
}

/*
 * The kernel tells each user's paths within a budget, so that some come late; a walk asks for them. A user who
 * makes more than that for ever, or now and then, must not cause walks: each waits twice as long as the one
 * before, until none was needed for some time.
 */
static void walk_for_unwatched(struct tracking *tracking, uint64_t now_ns)
{
	if (!tracking->unwatched) {
		if (now_ns > tracking->again_due_ns + WALK_SECONDS * CLOCK_SECOND_NS)
			tracking->again_every_ns = CLOCK_SECOND_NS;
		return;
	}
	if (now_ns < tracking->again_due_ns)
		return;
	look_at_unwatched(tracking); /* they may have ended */
	if (!tracking->unwatched)
		return;
	tracking->again_due_ns = now_ns + tracking->again_every_ns;
	if (tracking->again_every_ns < WALK_SECONDS * CLOCK_SECOND_NS)
		tracking->again_every_ns *= 2;
	tracking_walk(tracking);
}

/*
 * The kernel matched the process in a trie that may have been replaced since: the rules in force must give
 * the same pattern.
 */
static bool is_stale(const struct tracking *tracking, uint32_t pattern_id, const char *comm)
{
	uint32_t ids[COMM_TRIE_PATH];

	/* of a capture on demand, which alone knows whether it covers the process */
	if (pattern_id == PATTERN_WANTED)
		return false;
	return !rules_patterns_of(tracking->rules, comm, ids) || ids[0] != pattern_id;
}

static void add_target(struct tracking *tracking, struct target_process *process)
{
	if (is_stale(tracking, process->pattern_id, process->comm)) {
		own_count(tracking->own_counters, OWN_STALE_EVENTS);
		return;
	}
	process->watched = watch_process(tracking, process);
	tracking->unwatched |= !process->watched;
	if (targets_put(&tracking->targets, process) < 0)
		return; /* its samples will count as those of an unknown process */
	worker_note_process(tracking->worker);
}

static void on_process(void *user, const struct process_event *event)
{
	struct tracking *tracking = user;
	struct target_process process = { .tgid = event->tgid,
					  .pattern_id = event->pattern_id,
					  .started_ns = event->started_ns,
					  .cgroup_id = event->cgroup_id,
					  .uid = event->uid,
					  .program = event->program,
					  .walk = tracking->walk };

	memcpy(process.comm, event->comm, sizeof(process.comm));
	if (event->kind == PROCESS_MATCHED)
		add_target(tracking, &process);
	else
		targets_leave(&tracking->targets, event->tgid, event->started_ns,
			      clock_now_ns(tracking->clock));
}

static void on_task(void *user, const struct task_record *record)
{
	struct tracking *tracking = user;
	const struct target_process *known;
	struct target_process process = { .tgid = record->tgid,
					  .pattern_id = record->pattern_id,
					  .started_ns = record->started_ns,
					  .cgroup_id = record->cgroup_id,
					  .uid = record->uid,
					  .program = record->program,
					  .walk = tracking->walk };

	usage_walk_process(&tracking->usage, record);
	if (record->flags & (TASK_DENIED | TASK_KERNEL))
		return;
	cgroups_path(tracking->cgroups, record->cgroup_id); /* is in use, so that it is not forgotten */
	if (!record->pattern_id)
		return;
	memcpy(process.comm, record->comm, sizeof(process.comm));
	known = targets_find(&tracking->targets, process.tgid, process.started_ns);
	/* nothing is new about most processes of a walk */
	if (known && !known->gone_ns && known->cgroup_id == process.cgroup_id &&
	    known->pattern_id == process.pattern_id && known->program == process.program &&
	    !memcmp(known->comm, process.comm, sizeof(process.comm)))
		targets_put(&tracking->targets, &process);
	else
		add_target(tracking, &process);
}

static void on_thread(void *user, const struct thread_record *record)
{
	struct tracking *tracking = user;

	usage_walk_thread(&tracking->usage, record);
}

static void on_ended(void *user, const struct ended_record *record)
{
	struct tracking *tracking = user;

	usage_end(&tracking->usage, record);
}

static void on_killed(void *user, const struct kill_record *record)
{
	struct tracking *tracking = user;
	struct kill_record left_out;

	kills_add(&tracking->usage.kills, record, KILLS_MAX, &left_out);
	usage_kill(&tracking->usage, record);
	if (tracking->fires_on_kills && !(record->flags & KILL_DENIED) &&
	    kill_is_for_memory(record, cgroups_path(tracking->cgroups, record->by_cgroup_id)) &&
	    kills_add(&tracking->fresh_kills, record, KILLS_MAX, &left_out))
		own_count(tracking->own_counters, OWN_SUPPRESSED);
}

struct kills tracking_take_kills(struct tracking *tracking)
{
	struct kills fresh = tracking->fresh_kills;

	tracking->fresh_kills = (struct kills){ 0 };
	return fresh;
}

static void on_cgroup(void *user, const struct cgroup_record *record, const char *path)
{
	struct tracking *tracking = user;

	cgroups_learn(tracking->cgroups, record, path);
}

/* Each error code has its own limit, so that many errors of one code do not hide another. */
static void on_error(void *user, const struct error_event *event)
{
	struct tracking *tracking = user;
	size_t code = event->code < ARRAY_SIZE(tracking->error_limits) ? event->code : 0;

	own_count(tracking->own_counters, OWN_ERROR_RECORDS);
	if (!log_allowed(&tracking->error_limits[code], ERRORS_A_MINUTE))
		return;
	switch (event->code) {
	case ERROR_TARGETS_FULL:
		log_warning(
			"process %u (%s) cannot become a target: %s; raise bourdon-load --targets, or narrow the rules",
			event->tgid, event->comm, strerror(-event->error));
		break;
	case ERROR_EVENTS_FULL:
		log_warning(
			"an event of process %u (%s) was lost: the ring buffer is full; the next walk over all processes makes up for it",
			event->tgid, event->comm);
		break;
	case ERROR_KERNEL_STACK:
	case ERROR_USER_STACK:
		log_warning(
			"samples of process %u (%s) have no %s stack: %s; the counter %s-stack-errors counts them",
			event->tgid, event->comm, event->code == ERROR_USER_STACK ? "user" : "kernel",
			strerror(-event->error), event->code == ERROR_USER_STACK ? "user" : "kernel");
		break;
	default:
		log_warning("the kernel programs report the unknown error code %u (%d) for process %u (%s)",
			    event->code, event->error, event->tgid, event->comm);
	}
}

/*
 * A process that ended is kept for as long as the longest history. If more than GONE_MAX are kept, the users
 * with most of them lose theirs first: one who forks without end does not take others' out of their captures.
 */
static void forget_gone(struct tracking *tracking, uint64_t now_ns)
{
	uint64_t keep_ns = tracking->remembered_ns;

	targets_forget(&tracking->targets, clock_before(now_ns, keep_ns));
	while (targets_forget_most(&tracking->targets, GONE_MAX) < 0 && keep_ns > CLOCK_SECOND_NS) {
		/* without memory: the oldest of all */
		keep_ns /= 2;
		targets_forget(&tracking->targets, clock_before(now_ns, keep_ns));
	}
}

static void watch_system(struct tracking *tracking)
{
	for (size_t i = 0; i < tracking->rules->count; i++) {
		const struct rule *rule = &tracking->rules->rules[i];

		if (rule->watch == WATCH_SYSTEM &&
		    watches_add(tracking->watches, rule, 0, NULL, tracking->walk) < 0)
			log_warning("out of memory: the system is not watched for rule %s", rule->name);
	}
}

/*
 * Neighbours in the table often are of one service: a process with the cgroup and comm of the one before it
 * is skipped.
 */
static void watch_all(struct tracking *tracking)
{
	const struct target_process *before = NULL;
	bool watched = false;

	for (uint32_t i = 0; i < tracking->targets.count; i++) {
		const struct target_process *process = &tracking->targets.processes[i];

		if (process->gone_ns)
			continue;
		if (!before || before->cgroup_id != process->cgroup_id ||
		    memcmp(before->comm, process->comm, sizeof(process->comm)))
			watched = watch_process(tracking, process);
		targets_note_watched(&tracking->targets, i, watched);
		tracking->unwatched |= !watched;
		before = process;
	}
}

int tracking_walk(struct tracking *tracking)
{
	uint64_t began_ns = clock_boot_now_ns(tracking->clock);
	int result;

	tracking->walk++;
	watch_system(tracking);
	/* from now on, who has started before tells its own sums when it ends */
	__atomic_store_n(&tracking->kernel->control->walk_began_ns, began_ns, __ATOMIC_RELAXED);
	usage_walk_begin(&tracking->usage, began_ns);
	result = process_events_walk(tracking->events);
	process_events_consume(tracking->events);
	ended_collect(&tracking->usage.short_lived, tracking->kernel->map_fds[PIN_ENDED],
		      tracking->usage.walk);
	cpu_times_read(&tracking->usage.times);
	tracking->usage.disks = disk_bytes_read();
	interrupts_read(&tracking->usage.interrupts, tracking->kernel->map_fds[PIN_INTERRUPTS],
			tracking->kernel->map_fds[PIN_IRQ_NAMES]);
	usage_walk_end(&tracking->usage, clock_now_ns(tracking->clock),
		       result < 0 ? 0 : tracking->kept_since);
	if (result < 0) {
		if (log_allowed(&tracking->walk_limit, ERRORS_A_MINUTE))
			log_warning("the walk over all processes failed: %s", strerror(-result));
		return result;
	}
	targets_leave_unseen(&tracking->targets, tracking->walk, clock_now_ns(tracking->clock));
	watch_all(tracking);
	return 0;
}

/*
 * Captures and reloads cause walks of their own, perhaps in quick succession. So only the periodic walks
 * decide: a watch for which no walk has found a target since the periodic walk before last is closed.
 */
static void walk_when_due(struct tracking *tracking, uint64_t now_ns)
{
	if (++tracking->seconds % WALK_SECONDS || tracking_walk(tracking) < 0)
		return;
	watches_prune(tracking->watches, tracking->due_walks[0], now_ns);
	tracking->due_walks[0] = tracking->due_walks[1];
	tracking->due_walks[1] = tracking->walk;
}

/* ---- rules ---- */

/* A process that ended is kept until no rule's history reaches back to it. */
static void remember_long_enough(struct tracking *tracking)
{
	tracking->remembered_ns = WALK_SECONDS * CLOCK_SECOND_NS;
	for (size_t i = 0; i < tracking->rules->count; i++) {
		uint64_t history_ns = tracking->rules->rules[i].history_ns + WALK_SECONDS * CLOCK_SECOND_NS;

		if (history_ns > tracking->remembered_ns)
			tracking->remembered_ns = history_ns;
	}
}

void tracking_follow(struct tracking *tracking, const struct rule_set *rules)
{
	tracking->rules = rules;
	tracking->fires_on_kills = false;
	for (size_t i = 0; i < rules->count; i++)
		tracking->fires_on_kills |= rules->rules[i].on_kill;
	remember_long_enough(tracking);
	tracking_walk(tracking);
}

void tracking_start(struct tracking *tracking, struct worker *worker)
{
	tracking->worker = worker;
}

void tracking_keep_gone(struct tracking *tracking, uint32_t since)
{
	tracking->kept_since = since;
}

void tracking_consume(struct tracking *tracking)
{
	own_queue_note(tracking->own_counters, OWN_QUEUE_EVENTS,
		       (struct own_level){ .depth = process_events_consume(tracking->events) });
}

/*
 * The programs count addresses in stacks that lie in no known mapping. They may be of libraries loaded since
 * the last scan; so ask for a scan. They may also be garbage; so scans that change nothing become rare, down
 * to one in 64 s.
 */
static void look_at_unmapped(struct tracking *tracking, uint64_t now_ns)
{
	uint64_t unmapped = __atomic_load_n(&tracking->kernel->control->unmapped, __ATOMIC_RELAXED);

	if (now_ns < tracking->unmapped_due_ns)
		return;
	if (unmapped == tracking->unmapped) {
		tracking->unmapped_every_ns = CLOCK_SECOND_NS;
		return;
	}
	tracking->unmapped = unmapped;
	tracking->unmapped_due_ns = now_ns + tracking->unmapped_every_ns;
	if (tracking->unmapped_every_ns < UNMAPPED_EVERY_MAX_NS)
		tracking->unmapped_every_ns *= 2;
	worker_want_mappings(tracking->worker);
}

/* Whether the process is in the cgroup or slice of the watch, and its rule applies to it. */
static bool is_watched_by(const struct tracking *tracking, const struct target_process *process,
			  const struct watch *watch)
{
	const char *cgroup;

	if (watch->rule->watch == WATCH_CGROUP)
		return process->cgroup_id == watch->cgroup_id &&
		       rule_applies(watch->rule, process->comm, watch->cgroup);
	if (!rule_names(watch->rule, process->comm))
		return false;
	cgroup = cgroups_path(tracking->cgroups, process->cgroup_id);
	return cgroup && cgroup_is_within(cgroup, watch->cgroup) && rule_covers(watch->rule, cgroup);
}

/* Two windows: the kernel checks an unprivileged trigger every 2 s only, as watch_events_handle() explains. */
bool tracking_has_target(const struct tracking *tracking, const struct watch *watch, uint64_t now_ns)
{
	uint64_t span_ns = 2 * watch->window.window_ns;

	if (!watch->cgroup)
		return true;
	for (uint32_t i = 0; i < tracking->targets.count; i++) {
		const struct target_process *process = &tracking->targets.processes[i];

		if ((!process->gone_ns || now_ns - process->gone_ns < span_ns) &&
		    is_watched_by(tracking, process, watch))
			return true;
	}
	return false;
}

void tracking_tick(struct tracking *tracking, uint64_t now_ns)
{
	tracking_consume(tracking); /* paths of cgroups, which alone do not wake the daemon */
	/* when a capture ends, it names the processes that ended within it */
	cgroups_tick(tracking->cgroups, now_ns,
		     tracking->kept_since != TRACKING_KEEP_NONE ? UINT64_MAX : tracking->remembered_ns);
	watch_unwatched(tracking);
	walk_when_due(tracking, now_ns);
	walk_for_unwatched(tracking, now_ns);
	forget_gone(tracking, now_ns);
	look_at_unmapped(tracking, now_ns);
}

int tracking_open(struct tracking *tracking, const struct kernel_objects *kernel, struct cgroups *cgroups,
		  struct watches *watches, struct own_counters *own_counters, const struct clock *clock)
{
	struct process_events_handlers handlers = { on_process, on_error,  on_ended,  on_task,
						    on_thread,  on_cgroup, on_killed, tracking };

	*tracking =
		(struct tracking){ .kernel = kernel,
				   .cgroups = cgroups,
				   .watches = watches,
				   .own_counters = own_counters,
				   .clock = clock,
				   .unmapped = __atomic_load_n(&kernel->control->unmapped, __ATOMIC_RELAXED),
				   .unmapped_every_ns = CLOCK_SECOND_NS,
				   .again_every_ns = CLOCK_SECOND_NS,
				   .kept_since = TRACKING_KEEP_NONE };
	targets_init(&tracking->targets);
	usage_init(&tracking->usage);
	return process_events_open(&tracking->events, kernel, &handlers);
}

void tracking_close(struct tracking *tracking)
{
	targets_free(&tracking->targets);
	usage_free(&tracking->usage);
	kills_free(&tracking->fresh_kills);
	process_events_free(tracking->events);
}
