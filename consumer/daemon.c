/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/daemon.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/counters.h"
#include "common/log.h"
#include "consumer/capture.h"
#include "consumer/cgroups.h"
#include "consumer/coverage.h"
#include "consumer/patterns.h"
#include "consumer/process_events.h"
#include "consumer/targets.h"
#include "consumer/watches.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#define WALK_SECONDS 30U
#define GONE_MAX 8192U /* processes that history may speak of; the oldest go first */
#define ERRORS_A_MINUTE 5U

/* A capture that is being taken, with what the draining thread must know of it. */
struct active {
	struct capture *capture;
	const struct rule *rule;
	char *cgroup; /* the watch's; NULL: the whole system */
	uint64_t counters_at_begin[COUNTERS];
	uint64_t stale_at_begin;
};

struct daemon {
	const struct pinned *pinned;
	const struct rule_set *rules;
	struct store_thread *store;
	struct cgroups *cgroups;
	struct process_events *events;
	struct coverage *coverage;
	struct targets targets;
	struct watches watches;
	struct active active[STORE_CAPTURES_MAX];
	size_t active_count;
	struct rings rings;
	uint64_t seed;
	uint64_t remembered_ns; /* longer than any rule's history */
	uint64_t stale_events;
	uint32_t walk;
	bool unwatched;       /* some target is: watch_unwatched() */
	unsigned int seconds; /* ticks so far */
	int epoll, timer, signals, inotify;
	bool ended;
	struct log_limit error_limit, suppressed_limit;
};

/* ---- processes ---- */

/* False where its cgroup's path is not known yet. */
static bool watch_process(struct daemon *daemon, const struct target_process *process)
{
	const char *cgroup = cgroups_path(daemon->cgroups, process->cgroup_id);

	if (!cgroup)
		return false;
	for (size_t i = 0; i < daemon->rules->count; i++) {
		const struct rule *rule = &daemon->rules->rules[i];

		if (rule->watch != WATCH_CGROUP || !rule_applies(rule, process->comm, cgroup))
			continue;
		if (watches_add(&daemon->watches, rule, process->cgroup_id, cgroup) < 0)
			log_warning("out of memory: %s is not watched for rule %s", cgroup, rule->name);
	}
	return true;
}

/*
 * The hierarchy is looked at once a second at most: a cgroup that was made and filled right behind a look
 * waits for the next.
 */
static void watch_unwatched(struct daemon *daemon)
{
	if (!daemon->unwatched)
		return;
	daemon->unwatched = false;
	for (uint32_t i = 0; i < daemon->targets.count; i++) {
		struct target_process *process = &daemon->targets.processes[i];

		if (process->watched || process->gone_ns)
			continue;
		process->watched = watch_process(daemon, process);
		daemon->unwatched |= !process->watched;
	}
}

/* The kernel answered from a trie that may have been replaced meanwhile: asked again, ours must agree. */
static bool is_stale(const struct daemon *daemon, uint32_t pattern_id, const char *comm)
{
	uint32_t ids[COMM_TRIE_PATH];

	return !rules_patterns_of(daemon->rules, comm, ids) || ids[0] != pattern_id;
}

static void take_target(struct daemon *daemon, struct target_process *process)
{
	if (is_stale(daemon, process->pattern_id, process->comm)) {
		daemon->stale_events++;
		return;
	}
	process->watched = watch_process(daemon, process);
	daemon->unwatched |= !process->watched;
	if (targets_put(&daemon->targets, process) < 0)
		return; /* its samples will count as of an unknown process */
	store_thread_want_mappings(daemon->store);
}

static void on_process(void *user, const struct process_event *event)
{
	struct daemon *daemon = user;
	struct target_process process = { .tgid = event->tgid,
					  .pattern_id = event->pattern_id,
					  .started_ns = event->started_ns,
					  .cgroup_id = event->cgroup_id,
					  .uid = event->uid,
					  .walk = daemon->walk };

	memcpy(process.comm, event->comm, sizeof(process.comm));
	if (event->kind == PROCESS_MATCHED)
		take_target(daemon, &process);
	else
		targets_leave(&daemon->targets, event->tgid, event->started_ns, clock_monotonic_ns());
}

static void on_task(void *user, const struct task_record *record)
{
	struct daemon *daemon = user;
	const struct target_process *known;
	struct target_process process = { .tgid = record->tgid,
					  .pattern_id = record->pattern_id,
					  .started_ns = record->started_ns,
					  .cgroup_id = record->cgroup_id,
					  .uid = record->uid,
					  .walk = daemon->walk };

	if (!record->pattern_id)
		return;
	memcpy(process.comm, record->comm, sizeof(process.comm));
	known = targets_find(&daemon->targets, process.tgid, process.started_ns);
	/* the walk comes by often, and knows nothing new of most */
	if (known && !known->gone_ns && known->cgroup_id == process.cgroup_id &&
	    known->pattern_id == process.pattern_id &&
	    !memcmp(known->comm, process.comm, sizeof(process.comm)))
		targets_put(&daemon->targets, &process);
	else
		take_target(daemon, &process);
}

static void on_error(void *user, const struct error_event *event)
{
	struct daemon *daemon = user;

	if (!log_allowed(&daemon->error_limit, ERRORS_A_MINUTE))
		return;
	switch (event->code) {
	case ERROR_TARGETS_FULL:
		log_warning("process %u (%s) cannot become a target: %s; raise bourdon-load --targets",
			    event->tgid, event->comm, strerror(-event->error));
		break;
	case ERROR_EVENTS_FULL:
		log_warning("an event of process %u (%s) was lost; the next walk finds it", event->tgid,
			    event->comm);
		break;
	default:
		log_warning("the kernel programs report error %u (%d) for process %u (%s)", event->code,
			    event->error, event->tgid, event->comm);
	}
}

/* What is gone is remembered for as long as the longest history, unless there is too much of it. */
static void forget_gone(struct daemon *daemon, uint64_t now_ns)
{
	uint64_t keep_ns = daemon->remembered_ns;

	do {
		targets_forget(&daemon->targets, now_ns > keep_ns ? now_ns - keep_ns : 0);
		keep_ns /= 2;
	} while (daemon->targets.count - daemon->targets.live > GONE_MAX && keep_ns > CLOCK_SECOND_NS);
}

static void walk_tasks(struct daemon *daemon)
{
	int result;

	daemon->walk++;
	result = process_events_walk(daemon->events);
	if (result < 0) {
		if (log_allowed(&daemon->error_limit, ERRORS_A_MINUTE))
			log_warning("the walk over all processes failed: %s", strerror(-result));
		return;
	}
	targets_leave_unseen(&daemon->targets, daemon->walk, clock_monotonic_ns());
}

/* ---- captures ---- */

/*
 * The programs sample only while the heartbeat is young. Where it was not (this process was stopped, the
 * machine slept), the rings have a gap, and history begins behind it.
 */
static void beat(struct daemon *daemon, uint64_t now_ns)
{
	uint64_t last_ns = daemon->pinned->control->heartbeat_ns;

	if (now_ns - last_ns > daemon->pinned->manifest.quiet_after_ns)
		daemon->rings.armed_ns = now_ns;
	__atomic_store_n(&daemon->pinned->control->heartbeat_ns, now_ns, __ATOMIC_RELEASE);
}

struct describing {
	struct daemon *daemon;
	const struct active *active;
};

static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	const struct describing *describing = user;
	struct daemon *daemon = describing->daemon;
	const struct active *active = describing->active;
	const struct target_process *target =
		targets_find(&daemon->targets, sample->tgid, sample->started_ns);
	const char *cgroup;

	cgroup = cgroups_path(daemon->cgroups, sample->cgroup_id);
	/* a cgroup that is not known yet may be known at the next sample: better a counted loss than a guess
	 */
	if (!target || (!cgroup && (active->rule->cgroup || active->cgroup)))
		return false;
	process->uid = target->uid;
	memcpy(process->comm, target->comm, sizeof(process->comm));
	process->cgroup = cgroup ? strdup(cgroup) : NULL;
	process->included = rule_applies(active->rule, target->comm, cgroup ? cgroup : "") &&
			    (!active->cgroup || cgroup_is_within(cgroup, active->cgroup));
	return true;
}

static void drain(struct daemon *daemon, const struct active *active)
{
	struct describing describing = { daemon, active };

	capture_drain(active->capture, describe, &describing);
}

static uint64_t grown(const struct active *active, const uint64_t now[COUNTERS], size_t counter)
{
	return now[counter] - active->counters_at_begin[counter];
}

/* Closes the ledger and hands the capture over. */
static void end_capture(struct daemon *daemon, size_t position, bool interrupted)
{
	struct active *active = &daemon->active[position];
	uint64_t counters[COUNTERS];

	capture_end(active->capture, clock_monotonic_ns(), interrupted);
	if (!counters_read(daemon->pinned->map_fds[PIN_COUNTERS], counters)) {
		active->capture->losses[LOSS_NOT_TAKEN] = grown(active, counters, COUNTER_SAMPLES_QUIET);
		active->capture->losses[LOSS_TARGETS_FULL] = grown(active, counters, COUNTER_TARGETS_FULL);
		active->capture->losses[LOSS_EVENTS] = grown(active, counters, COUNTER_EVENTS_LOST);
	}
	active->capture->losses[LOSS_STALE_EVENTS] = daemon->stale_events - active->stale_at_begin;
	store_thread_commit(daemon->store, active->capture);
	free(active->cgroup);
	*active = daemon->active[--daemon->active_count];
}

static int begin_capture(struct daemon *daemon, struct watch *watch, uint64_t observed_us, uint64_t now_ns)
{
	struct active *active = &daemon->active[daemon->active_count];
	struct capture_cause cause = { .rule_id = watch->rule->id,
				       .trigger = *watch->trigger,
				       .mode = watch->mode,
				       .observed_us = observed_us,
				       .triggered_ns = now_ns,
				       .triggered_at = clock_wall_ns(),
				       .history_ns = watch->rule->history_ns,
				       .capture_ns = watch->rule->capture_ns,
				       .hz = daemon->pinned->manifest.hz };

	*active = (struct active){ .rule = watch->rule, .stale_at_begin = daemon->stale_events };
	memcpy(cause.rule, watch->rule->name, sizeof(cause.rule));
	cause.cgroup = watch->cgroup ? strdup(watch->cgroup) : NULL;
	active->cgroup = watch->cgroup ? strdup(watch->cgroup) : NULL;
	if (!watch->cgroup || (cause.cgroup && active->cgroup))
		active->capture = capture_begin(&cause, &daemon->rings, daemon->seed);
	if (!active->capture) {
		free(cause.cgroup);
		free(active->cgroup);
		return -ENOMEM;
	}
	counters_read(daemon->pinned->map_fds[PIN_COUNTERS], active->counters_at_begin);
	active->capture->losses[LOSS_WATCH_SUPPRESSED] = watch->suppressed;
	if (!store_thread_begin(daemon->store, active->capture)) {
		capture_free(active->capture);
		free(active->cgroup);
		return -EBUSY;
	}
	daemon->active_count++;
	return 0;
}

static void on_fired(void *user, struct watch *watch, uint64_t observed_us)
{
	struct daemon *daemon = user;
	uint64_t now_ns = clock_monotonic_ns();
	int result = -EBUSY;

	beat(daemon, now_ns);
	if (now_ns < watch->quiet_until_ns) {
		watch->suppressed++;
		return;
	}
	if (daemon->active_count < STORE_CAPTURES_MAX)
		result = begin_capture(daemon, watch, observed_us, now_ns);
	if (result < 0) {
		watch->suppressed++;
		if (log_allowed(&daemon->suppressed_limit, 1))
			log_warning("rule %s fired, and no capture could begin: %s", watch->rule->name,
				    result == -EBUSY ? "too many are under way or wait for the database"
						     : strerror(-result));
		return;
	}
	watch->suppressed = 0;
	watch->quiet_until_ns = now_ns + watch->rule->capture_ns + watch->rule->cooldown_ns;
	log_info("rule %s fired: %s %s stalled %llu ms in %llu ms (%s)", watch->rule->name,
		 psi_resource_names[watch->trigger->resource], psi_kind_names[watch->trigger->kind],
		 (unsigned long long)observed_us / 1000, (unsigned long long)watch->trigger->window_us / 1000,
		 watch->cgroup ? watch->cgroup : "system");
	/*
	 * What it takes to tell whose samples there are: the periodic walk may be half a minute old. And the
	 * ledger counts whom this walk finds no room for among the targets.
	 */
	process_events_consume(daemon->events);
	walk_tasks(daemon);
	drain(daemon, &daemon->active[daemon->active_count - 1]);
}

/* ---- the loop ---- */

/* A capture is as incomplete as it was at its worst. */
static void look_at_coverage(struct daemon *daemon)
{
	bool changed;
	unsigned int unsampled = coverage_look(daemon->coverage, &changed);

	for (size_t i = 0; i < daemon->active_count; i++) {
		uint64_t *worst = &daemon->active[i].capture->losses[LOSS_CPUS_UNSAMPLED];

		if (unsampled > *worst)
			*worst = unsampled;
	}
	if (changed && unsampled)
		log_warning(
			"CPU %s is online and not sampled: it came after the load; run bourdon-load again",
			coverage_text(daemon->coverage));
	else if (changed)
		log_info("every CPU that is online is sampled");
}

/* Once a second. The heartbeat comes first. */
static void tick(struct daemon *daemon)
{
	uint64_t expirations, now_ns = clock_monotonic_ns();

	if (read(daemon->timer, &expirations, sizeof(expirations)) < 0)
		return;
	beat(daemon, now_ns);
	look_at_coverage(daemon);
	watch_unwatched(daemon);
	watches_tick(&daemon->watches, now_ns, on_fired, daemon);
	for (size_t i = daemon->active_count; i-- > 0;) {
		drain(daemon, &daemon->active[i]);
		if (capture_is_over(daemon->active[i].capture, now_ns))
			end_capture(daemon, i, false);
	}
	if (++daemon->seconds % WALK_SECONDS == 0)
		walk_tasks(daemon);
	forget_gone(daemon, now_ns);
}

static void take_signal(struct daemon *daemon)
{
	struct signalfd_siginfo signal;

	if (read(daemon->signals, &signal, sizeof(signal)) != sizeof(signal))
		return;
	log_info("ending: signal %u", signal.ssi_signo);
	daemon->ended = true;
}

static void take_pin_change(struct daemon *daemon)
{
	char events[4096] __attribute__((aligned(8)));

	if (read(daemon->inotify, events, sizeof(events)) <= 0)
		return;
	log_info("ending: the pins were replaced or removed; the next start takes the new ones");
	daemon->ended = true;
}

static void dispatch(struct daemon *daemon, const struct epoll_event *event)
{
	if (event->data.ptr == &daemon->timer)
		tick(daemon);
	else if (event->data.ptr == &daemon->signals)
		take_signal(daemon);
	else if (event->data.ptr == &daemon->inotify)
		take_pin_change(daemon);
	else if (event->data.ptr == &daemon->events)
		process_events_consume(daemon->events);
	else
		watches_event(&daemon->watches, event->data.ptr, event->events, clock_monotonic_ns(),
			      on_fired, daemon);
}

static int arm(struct daemon *daemon)
{
	int result;

	daemon->rings.armed_ns = clock_monotonic_ns();
	__atomic_store_n(&daemon->pinned->control->heartbeat_ns, daemon->rings.armed_ns, __ATOMIC_RELEASE);
	result = patterns_publish(daemon->pinned, daemon->rules);
	if (result < 0) {
		log_error("cannot give the rules to the kernel: %s",
			  result == -ENOSPC ? "more comm patterns than its trie holds" : strerror(-result));
		return result;
	}
	daemon->remembered_ns = WALK_SECONDS * CLOCK_SECOND_NS;
	for (size_t i = 0; i < daemon->rules->count; i++)
		if (daemon->rules->rules[i].history_ns + WALK_SECONDS * CLOCK_SECOND_NS >
		    daemon->remembered_ns)
			daemon->remembered_ns =
				daemon->rules->rules[i].history_ns + WALK_SECONDS * CLOCK_SECOND_NS;
	walk_tasks(daemon);
	for (size_t i = 0; i < daemon->rules->count && !result; i++)
		if (daemon->rules->rules[i].watch == WATCH_SYSTEM)
			result = watches_add(&daemon->watches, &daemon->rules->rules[i], 0, NULL);
	if (!result)
		log_info("ready: %zu rules, %u targets, %zu watches", daemon->rules->count,
			 daemon->targets.live, daemon->watches.count);
	return result;
}

int daemon_run(struct daemon *daemon, struct store_thread *store)
{
	struct epoll_event events[16];
	int status;

	daemon->store = store;
	status = arm(daemon) < 0 ? EXIT_FAILED : EXIT_DONE;
	while (!daemon->ended && status == EXIT_DONE) {
		int count = epoll_wait(daemon->epoll, events, ARRAY_SIZE(events), -1);

		if (count < 0 && errno != EINTR) {
			log_error("cannot wait for events: %s", strerror(errno));
			status = EXIT_FAILED;
		}
		for (int i = 0; i < count; i++)
			dispatch(daemon, &events[i]);
		watches_sweep(&daemon->watches);
	}
	/* whoever comes next starts from silence */
	__atomic_store_n(&daemon->pinned->control->heartbeat_ns, 0, __ATOMIC_RELEASE);
	while (daemon->active_count) {
		drain(daemon, &daemon->active[0]);
		end_capture(daemon, 0, true);
	}
	return status;
}

/* ---- opening ---- */

static int add_source(const struct daemon *daemon, int fd, void *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	if (fd < 0 || epoll_ctl(daemon->epoll, EPOLL_CTL_ADD, fd, &event)) {
		log_error("cannot watch for events: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static int open_sources(struct daemon *daemon, const char *pin_dir)
{
	const struct itimerspec second = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };
	sigset_t ending;
	int result;

	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	daemon->epoll = epoll_create1(EPOLL_CLOEXEC);
	daemon->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	daemon->signals = signalfd(-1, &ending, SFD_NONBLOCK | SFD_CLOEXEC);
	daemon->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (inotify_add_watch(daemon->inotify, pin_dir, IN_MOVE_SELF | IN_DELETE_SELF | IN_DELETE) < 0 ||
	    timerfd_settime(daemon->timer, 0, &second, NULL)) {
		log_error("cannot watch %s: %s", pin_dir, strerror(errno));
		return -errno;
	}
	result = add_source(daemon, daemon->timer, &daemon->timer);
	if (!result)
		result = add_source(daemon, daemon->signals, &daemon->signals);
	if (!result)
		result = add_source(daemon, daemon->inotify, &daemon->inotify);
	return result ? result : add_source(daemon, process_events_fd(daemon->events), &daemon->events);
}

int daemon_open(struct daemon **ret_daemon, const struct pinned *pinned, const struct rule_set *rules,
		const char *pin_dir)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	struct process_events_handlers handlers = { on_process, on_error, on_task, daemon };
	int result;

	if (!daemon)
		return -ENOMEM;
	*daemon = (struct daemon){ .pinned = pinned, .rules = rules };
	daemon->epoll = daemon->timer = daemon->signals = daemon->inotify = -EBADF;
	daemon->rings = (struct rings){ .slots = pinned->slots,
					.slots_per_cpu = pinned->manifest.slots_per_cpu,
					.cpus = pinned->manifest.cpus };
	result = getrandom(&daemon->seed, sizeof(daemon->seed), 0) < 0 ? -errno : 0;
	if (!result)
		result = cgroups_open(&daemon->cgroups);
	if (!result)
		result = coverage_open(&daemon->coverage, pinned);
	if (!result)
		result = process_events_open(&daemon->events, pinned, &handlers);
	if (!result)
		result = open_sources(daemon, pin_dir);
	if (result < 0) {
		daemon_close(daemon);
		return result;
	}
	watches_init(&daemon->watches, daemon->epoll, cgroups_mount(daemon->cgroups));
	*ret_daemon = daemon;
	return 0;
}

void daemon_close(struct daemon *daemon)
{
	if (!daemon)
		return;
	watches_free(&daemon->watches);
	targets_free(&daemon->targets);
	process_events_free(daemon->events);
	coverage_free(daemon->coverage);
	cgroups_free(daemon->cgroups);
	cleanup_close(&daemon->inotify);
	cleanup_close(&daemon->signals);
	cleanup_close(&daemon->timer);
	cleanup_close(&daemon->epoll);
	free(daemon);
}
