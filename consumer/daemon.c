/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/daemon.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/shared_text.h"
#include "common/protocol/counters.h"
#include "common/protocol/live_line.h"
#include "common/system/log.h"
#include "common/text/plural.h"
#include "consumer/activity_looker.h"
#include "consumer/baseline.h"
#include "consumer/capture/coverage.h"
#include "consumer/control.h"
#include "consumer/descriptors.h"
#include "consumer/host/patterns.h"
#include "consumer/kill_trigger.h"
#include "consumer/live.h"
#include "consumer/ondemand.h"
#include "consumer/pressure_trigger.h"
#include "consumer/process/event_loop.h"
#include "consumer/recorder.h"
#include "consumer/reload.h"
#include "consumer/status.h"
#include "consumer/tracking.h"
#include "consumer/watch/watch_events.h"

#include <signal.h>
#include <string.h>

/* Exit after 30 s without a capture, at most 10 min after the spawner died. */
#define NO_SPAWNER_QUIET_NS (30 * CLOCK_SECOND_NS)
#define NO_SPAWNER_NS (600 * CLOCK_SECOND_NS)

/* A storm of processes wakes the daemon no more often than so many times in each such time. */
#define EVENTS_WAKE_UPS 8U
#define EVENTS_REST_NS (CLOCK_SECOND_NS / 100)

struct daemon {
	const struct clock *clock;
	const struct settings *where;
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	const struct confinement *confinement;
	struct notify *notify;
	int spawner_socket;
	struct worker *worker;
	struct cgroups *cgroups;
	struct coverage *coverage;
	struct closer *closer;
	const struct own_usage *own_usage;
	struct control_socket *control;
	struct reload reload;
	struct tracking tracking;
	struct watches watches;
	uint32_t watch_descriptors; /* how many watches may take */
	struct recorder recorder;
	struct activity_looker activity;
	struct baselines baselines;
	struct ondemand ondemand;
	struct live live;
	uint64_t started_ns;
	uint64_t second_due_ns; /* of the next tick() */
	uint64_t
		woken_ns; /* when process events woke the daemon, and how many times in EVENTS_REST_NS since then */
	uint32_t wake_ups;
	uint64_t events_due_ns; /* when they may do so again; 0: they may */
	struct event_loop loop;
	struct event_source spawner_source, processes_source, config_source, reload_source, stored_source;
	uint64_t spawner_gone_ns; /* when the spawner died; 0: it lives */
	uint64_t captured_ns;     /* when a capture was last under way since then */
	bool ended;
	int status; /* the exit status */
};

/* ---- captures ---- */

/*
 * The kernel programs sample only while the heartbeat is younger than quiet_after_ns. An older heartbeat
 * (this process was stopped, or the machine slept) leaves a gap in the rings, and history begins after the
 * gap.
 */
static void beat(struct daemon *daemon, uint64_t now_ns)
{
	uint64_t last_ns = daemon->kernel->control->heartbeat_ns;

	if (now_ns - last_ns > daemon->kernel->manifest.quiet_after_ns)
		recorder_note_gap(&daemon->recorder, now_ns);
	__atomic_store_n(&daemon->kernel->control->heartbeat_ns, now_ns, __ATOMIC_RELEASE);
}

/* The watch_fired callback. */
static void on_fired(void *user, struct watch *watch, uint64_t observed_us)
{
	struct daemon *daemon = user;
	uint64_t now_ns = clock_now_ns(daemon->clock);

	beat(daemon, now_ns);
	pressure_trigger_fire(&daemon->recorder, daemon->reload.in_force, watch, observed_us, now_ns);
}

/* After everything that consumes the kernel's records: each may have brought a kill. */
static void fire_kills(struct daemon *daemon)
{
	struct kills kills = tracking_take_kills(&daemon->tracking);

	for (uint32_t i = 0; i < kills.count; i++) {
		uint64_t now_ns = clock_now_ns(daemon->clock);

		beat(daemon, now_ns);
		kill_trigger_fire(&daemon->recorder, daemon->reload.in_force, &kills.each[i], now_ns);
	}
	kills_free(&kills);
}

/* ---- the configuration ---- */

static int publish(const struct daemon *daemon, const struct configuration *configuration)
{
	int result = patterns_publish(daemon->kernel, &configuration->rules);

	if (result < 0)
		log_error("cannot write the comm patterns of the rules to the kernel: %s",
			  result == -ENOSPC ? "there are more patterns than its trie holds"
					    : strerror(-result));
	return result;
}

static struct watch_limits watch_limits(const struct daemon *daemon, const struct settings *settings)
{
	return (struct watch_limits){ .total = settings->watches_max,
				      .per_rule = settings->rule_watches_max,
				      .descriptors = daemon->watch_descriptors,
				      .privileged = settings->short_windows_max };
}

static void follow_watches(struct daemon *daemon, const struct configuration *configuration)
{
	const struct watch_limits limits = watch_limits(daemon, &configuration->settings);

	watches_limit(&daemon->watches, &limits);
	if (watches_follow(&daemon->watches, &configuration->rules) < 0)
		log_warning("out of memory: all watches are closed; the next reload opens them again");
	if (limits.descriptors < limits.total)
		log_info("[triggers] watches = %u: RLIMIT_NOFILE leaves descriptors for %u", limits.total,
			 limits.descriptors);
}

static void follow_rules(struct daemon *daemon, const struct configuration *configuration)
{
	tracking_follow(&daemon->tracking, &configuration->rules);
	recorder_follow(&daemon->recorder, configuration);
	activity_looker_set_interval(&daemon->activity, configuration->settings.activity_ns);
	if (baselines_follow(&daemon->baselines, configuration, clock_now_ns(daemon->clock)) < 0)
		log_warning("out of memory: there are no baselines until the next reload");
}

/*
 * The callback reload_actions.follow. One store makes the other pattern trie live; from then on events of the
 * old patterns are stale. Watches whose triggers did not change stay open. Captures that are under way finish
 * under their old rules.
 */
static int follow(void *user, const struct configuration *configuration)
{
	struct daemon *daemon = user;
	int result = publish(daemon, configuration);

	if (result < 0)
		return result;
	follow_watches(daemon, configuration);
	if (strcmp(configuration->settings.directories, daemon->confinement->directories) != 0)
		log_warning("[files] directories = '%s' takes effect after a restart of bourdond",
			    configuration->settings.directories);
	if (!settings_metrics_reach(daemon->confinement->metrics_file, configuration->settings.metrics_file))
		log_warning("[metrics] textfile = %s takes effect after a restart of bourdond",
			    configuration->settings.metrics_file);
	worker_confirm(daemon->worker, configuration);
	follow_rules(daemon, configuration);
	return 0;
}

static void read_again(void *user, uint64_t now_ns)
{
	struct daemon *daemon = user;

	notify_reloading(daemon->notify, now_ns);
	worker_reload(daemon->worker);
}

static bool is_used(void *user, const struct configuration *configuration)
{
	const struct daemon *daemon = user;

	return recorder_uses(&daemon->recorder, configuration);
}

/* Reports the state to the service manager. With an `event`, logs it, too. */
static void say_state(const struct daemon *daemon, const char *event)
{
	const struct notify_state state = { .rules = (unsigned int)daemon->reload.in_force->rules.count,
					    .targets = daemon->tracking.targets.live,
					    .watches = watches_live(&daemon->watches),
					    .mistake = daemon->reload.mistake };

	if (event)
		log_info("%s: %u %s, %u %s, %u %s", event, state.rules, plural(state.rules, "rule", "rules"),
			 state.targets, plural(state.targets, "target", "targets"), state.watches,
			 plural(state.watches, "watch", "watches"));
	notify_ready(daemon->notify, &state);
}

static void finish_reload(struct daemon *daemon)
{
	struct config_errors errors = { 0 };
	struct configuration *configuration = worker_reload_result(daemon->worker, &errors);

	say_state(daemon, reload_finish(&daemon->reload, configuration, &errors) ? "reloaded" : NULL);
	reload_when_due(&daemon->reload, clock_now_ns(daemon->clock));
}

/* ---- the loop ---- */

static void look_at_coverage(struct daemon *daemon)
{
	bool changed;
	unsigned int unsampled = coverage_look(daemon->coverage, &changed);

	recorder_note_unsampled(&daemon->recorder, unsampled);
	if (changed && unsampled)
		log_warning("CPU %s is not sampled: it came online after the load; run bourdon-load again",
			    coverage_text(daemon->coverage));
	else if (changed)
		log_info("all online CPUs are sampled");
}

/* Copies counts that other modules keep into the daemon's own counters. */
static void count_own(struct daemon *daemon)
{
	atomic_uint_fast64_t *values = daemon->own_counters->values;

	atomic_store(&values[OWN_UNKNOWN_RECORDS], process_events_unknown(daemon->tracking.events));
	atomic_store(&values[OWN_SPURIOUS], daemon->watches.spurious);
	atomic_store(&values[OWN_LATE], daemon->watches.late);
	atomic_store(&values[OWN_GRANTS], daemon->watches.grants.granted);
	atomic_store(&values[OWN_GRANTS_REFUSED], daemon->watches.grants.refused);
	atomic_store(&values[OWN_CGROUPS_UNWATCHED], daemon->watches.unwatched);
}

/*
 * Only a daemon that starts may fork a spawner, so the daemon ends and the service manager starts it again.
 * Without a spawner captures lack only names, so the daemon first waits for 30 s without a capture: the
 * pressure that killed the spawner may be the pressure that is to be captured.
 */
static void end_without_spawner(struct daemon *daemon, uint64_t now_ns)
{
	if (!daemon->spawner_gone_ns)
		return;
	if (daemon->recorder.active_count || worker_has_captures(daemon->worker))
		daemon->captured_ns = now_ns;
	if (now_ns - daemon->captured_ns < NO_SPAWNER_QUIET_NS &&
	    now_ns - daemon->spawner_gone_ns < NO_SPAWNER_NS)
		return;
	log_warning(
		"ending: the spawner died, and without it captures have no function names; the next start forks a new one");
	daemon->status = EXIT_FAILED;
	daemon->ended = true;
}

static void on_spawner_end(struct daemon *daemon, uint64_t now_ns)
{
	event_loop_remove(&daemon->loop, daemon->spawner_socket);
	log_warning("the spawner died: captures have no function names until bourdond is restarted");
	daemon->spawner_gone_ns = daemon->captured_ns = now_ns;
}

/* The watch_path_of callback. */
static const char *path_of_cgroup(void *user, uint64_t cgroup_id)
{
	return cgroups_path(user, cgroup_id);
}

/* Events that come one after the other are consumed together. */
static void on_process_events(struct daemon *daemon, uint64_t now_ns)
{
	tracking_consume(&daemon->tracking);
	if (now_ns - daemon->woken_ns >= EVENTS_REST_NS) {
		daemon->woken_ns = now_ns;
		daemon->wake_ups = 0;
	}
	if (++daemon->wake_ups < EVENTS_WAKE_UPS)
		return;
	event_loop_remove(&daemon->loop, process_events_fd(daemon->tracking.events));
	daemon->events_due_ns = now_ns + EVENTS_REST_NS;
}

static void await_process_events(struct daemon *daemon, uint64_t now_ns)
{
	if (!clock_is_due(daemon->events_due_ns, now_ns))
		return;
	daemon->events_due_ns = event_loop_add(&daemon->loop, process_events_fd(daemon->tracking.events),
					       EPOLLIN, &daemon->processes_source) < 0
					? now_ns + CLOCK_SECOND_NS
					: 0;
}

/* Runs once a second. The heartbeat comes first. */
static void tick(struct daemon *daemon, uint64_t now_ns)
{
	beat(daemon, now_ns);
	notify_tick(daemon->notify, now_ns);
	look_at_coverage(daemon);
	count_own(daemon);
	watches_tick(&daemon->watches, now_ns);
	watch_events_tick(&daemon->watches, now_ns, on_fired, daemon);
	reload_when_due(&daemon->reload, now_ns);
	control_tick(daemon->control, now_ns);
	shared_text_sweep();
	tracking_tick(&daemon->tracking, now_ns);
	live_tick(&daemon->live, now_ns);
	watches_retry(&daemon->watches, path_of_cgroup, daemon->cgroups);
	baselines_tick(&daemon->baselines, &daemon->recorder, now_ns);
	end_without_spawner(daemon, now_ns);
}

static void on_signal(struct daemon *daemon)
{
	int signal = event_loop_signal(&daemon->loop);

	if (signal == SIGHUP) {
		reload_ask(&daemon->reload, clock_now_ns(daemon->clock));
	} else if (signal) {
		log_info("ending: signal %d", signal);
		daemon->ended = true;
	}
}

static void on_pins_changed(struct daemon *daemon)
{
	if (!event_loop_pins_changed(&daemon->loop))
		return;
	log_info(
		"ending: the pins were replaced or removed by bourdon-load, and a confined daemon cannot open new ones; %s",
		notify_is_heard(daemon->notify) ? "the service manager starts it again"
						: "start it again with 'bourdond'");
	daemon->ended = true;
}

static void dispatch(struct daemon *daemon, const struct epoll_event *event)
{
	struct event_source *source = event->data.ptr;
	uint64_t now_ns = clock_now_ns(daemon->clock);

	switch (source->kind) {
	case SOURCE_SIGNALS:
		on_signal(daemon);
		break;
	case SOURCE_PINS:
		on_pins_changed(daemon);
		break;
	case SOURCE_SPAWNER:
		on_spawner_end(daemon, now_ns);
		break;
	case SOURCE_PROCESSES:
		on_process_events(daemon, now_ns);
		break;
	case SOURCE_WATCH:
		watch_events_handle(&daemon->watches, (struct watch *)source, event->events, now_ns, on_fired,
				    daemon);
		break;
	case SOURCE_GRANT:
		watches_answer(&daemon->watches, (struct grant_call *)source, now_ns);
		break;
	case SOURCE_CONFIG:
		reload_read_changes(&daemon->reload, now_ns);
		break;
	case SOURCE_RELOAD:
		finish_reload(daemon);
		break;
	case SOURCE_CONTROL:
		control_accept(daemon->control, now_ns);
		break;
	case SOURCE_CLIENT:
		control_event(daemon->control, source, event->events, now_ns);
		break;
	case SOURCE_STORED:
		ondemand_results(&daemon->ondemand, now_ns);
		live_say(&daemon->live, now_ns);
		break;
	}
}

/* What a time calls for. */
static void do_due(struct daemon *daemon)
{
	uint64_t now_ns = clock_now_ns(daemon->clock);

	if (clock_is_due(daemon->second_due_ns, now_ns)) {
		daemon->second_due_ns = clock_next_ns(daemon->second_due_ns, CLOCK_SECOND_NS, now_ns);
		tick(daemon, now_ns);
	}
	if (clock_is_due(daemon->recorder.pace_due_ns, now_ns)) {
		recorder_pace(&daemon->recorder, now_ns);
		ondemand_pace(&daemon->ondemand, now_ns);
	}
	await_process_events(daemon, now_ns);
	recorder_look(&daemon->recorder);
	activity_looker_look(&daemon->activity);
}

uint64_t daemon_due_ns(const struct daemon *daemon)
{
	uint64_t due_ns = clock_sooner(daemon->second_due_ns, daemon->activity.due_ns);

	due_ns = clock_sooner(due_ns, daemon->events_due_ns);
	return clock_sooner(due_ns, recorder_due_ns(&daemon->recorder));
}

bool daemon_has_ended(const struct daemon *daemon)
{
	return daemon->ended || daemon->status != EXIT_DONE;
}

int daemon_begin(struct daemon *daemon, struct worker *worker)
{
	const struct configuration *configuration = daemon->reload.in_force;
	int result;

	daemon->worker = worker;
	result = event_loop_add(&daemon->loop, worker_reload_fd(worker), EPOLLIN, &daemon->reload_source);
	if (!result)
		result = event_loop_add(&daemon->loop, worker_results_fd(worker), EPOLLIN,
					&daemon->stored_source);
	if (result < 0)
		return result;
	daemon->started_ns = clock_now_ns(daemon->clock);
	daemon->second_due_ns = daemon->started_ns + CLOCK_SECOND_NS;
	recorder_start(&daemon->recorder, daemon->worker, daemon->started_ns);
	activity_looker_start(&daemon->activity, daemon->worker);
	tracking_start(&daemon->tracking, daemon->worker);
	ondemand_start(&daemon->ondemand, daemon->control, daemon->worker);
	live_start(&daemon->live, daemon->control, daemon->worker);
	__atomic_store_n(&daemon->kernel->control->heartbeat_ns, daemon->started_ns, __ATOMIC_RELEASE);
	result = publish(daemon, configuration);
	if (result < 0)
		return result;
	follow_watches(daemon, configuration);
	follow_rules(daemon, configuration);
	say_state(daemon, "ready");
	return 0;
}

bool daemon_turn(struct daemon *daemon, uint64_t patience_ns)
{
	struct epoll_event events[16];
	int count = event_loop_wait(&daemon->loop, patience_ns, events, ARRAY_SIZE(events));

	if (count < 0) {
		log_error("cannot wait for events (epoll_pwait2): %s", strerror(-count));
		daemon->status = EXIT_FAILED;
		return false;
	}
	for (int i = 0; i < count && !daemon->ended; i++)
		dispatch(daemon, &events[i]);
	if (!daemon->ended) {
		do_due(daemon);
		fire_kills(daemon);
	}
	watches_sweep(&daemon->watches);
	/* after the watches: a watch refers to its rules until it is swept */
	reload_sweep(&daemon->reload);
	return count > 0;
}

int daemon_end(struct daemon *daemon)
{
	uint64_t now_ns = clock_now_ns(daemon->clock);

	notify_stopping(daemon->notify);
	/* the next daemon must not inherit this one's heartbeat */
	__atomic_store_n(&daemon->kernel->control->heartbeat_ns, 0, __ATOMIC_RELEASE);
	ondemand_interrupt(&daemon->ondemand, now_ns);
	live_interrupt(&daemon->live, now_ns);
	recorder_interrupt(&daemon->recorder);
	activity_looker_interrupt(&daemon->activity);
	return daemon->status;
}

int daemon_run(struct daemon *daemon, struct worker *worker)
{
	if (daemon_begin(daemon, worker) < 0)
		daemon->status = EXIT_FAILED;
	while (!daemon_has_ended(daemon)) {
		uint64_t now_ns = clock_now_ns(daemon->clock), due_ns = daemon_due_ns(daemon);

		daemon_turn(daemon, due_ns > now_ns ? due_ns - now_ns : 0);
	}
	return daemon_end(daemon);
}

/* ---- opening ---- */

static int add_sources(struct daemon *daemon)
{
	const struct event_loop *loop = &daemon->loop;
	int result = reload_watch(&daemon->reload, daemon->where);

	if (result < 0)
		log_warning("cannot watch the configuration for changes: %s; send SIGHUP to reload it",
			    strerror(-result));
	result = result < 0
			 ? 0
			 : event_loop_add(loop, reload_fd(&daemon->reload), EPOLLIN, &daemon->config_source);
	/* reports only its end: the worker thread reads its answers */
	if (!result)
		result = event_loop_add(loop, daemon->spawner_socket, 0, &daemon->spawner_source);
	return result ? result
		      : event_loop_add(loop, process_events_fd(daemon->tracking.events), EPOLLIN,
				       &daemon->processes_source);
}

static void describe(void *user, FILE *out)
{
	const struct daemon *daemon = user;
	const struct status status = { .kernel = daemon->kernel,
				       .own_counters = daemon->own_counters,
				       .confinement = daemon->confinement,
				       .targets = &daemon->tracking.targets,
				       .cgroups = cgroups_gauges(daemon->cgroups),
				       .watches = &daemon->watches,
				       .recorder = &daemon->recorder,
				       .reload = &daemon->reload,
				       .unwind = worker_unwind(daemon->worker),
				       .own_usage = daemon->own_usage,
				       .unsampled_cpus = coverage_text(daemon->coverage),
				       .started_ns = daemon->started_ns,
				       .now_ns = clock_now_ns(daemon->clock) };

	status_write(&status, out);
}

static void ask(void *user, uint64_t client, const struct peer *peer, const struct status_line *line)
{
	struct daemon *daemon = user;
	uint64_t now_ns = clock_now_ns(daemon->clock);

	if (!strcmp(line->kind, LIVE_REQUEST))
		live_ask(&daemon->live, client, peer, now_ns);
	else if (!strcmp(line->kind, CAPTURE_WHO))
		ondemand_who(&daemon->ondemand, client, peer, now_ns);
	else if (!strcmp(line->kind, CAPTURE_END))
		ondemand_end(&daemon->ondemand, client, peer, line, now_ns);
	else
		ondemand_ask(&daemon->ondemand, client, peer, line, now_ns);
}

static void leave(void *user, uint64_t client)
{
	struct daemon *daemon = user;
	uint64_t now_ns = clock_now_ns(daemon->clock);

	ondemand_leave(&daemon->ondemand, client, now_ns);
	live_leave(&daemon->live, client, now_ns);
}

int daemon_start_services(struct daemon *daemon)
{
	const struct control_handlers handlers = { describe, ask, leave, daemon };
	int result = closer_start(&daemon->closer);

	if (result < 0)
		return result;
	watches_start(&daemon->watches, daemon->closer);
	result = control_open(&daemon->control, daemon->where->state_dir, daemon->loop.epoll, &handlers,
			      daemon->own_counters);
	if (!result)
		daemon->watch_descriptors = descriptors_for_watches();
	return result;
}

static void open_recorder(struct daemon *daemon)
{
	const struct recording_sources sources = { .kernel = daemon->kernel,
						   .tracking = &daemon->tracking,
						   .cgroups = daemon->cgroups,
						   .own_counters = daemon->own_counters,
						   .own_usage = daemon->own_usage,
						   .clock = daemon->clock };
	const struct ondemand_settings asked = { .kernel = daemon->kernel,
						 .tracking = &daemon->tracking,
						 .recorder = &daemon->recorder,
						 .cgroups = daemon->cgroups,
						 .own_counters = daemon->own_counters };

	ondemand_open(&daemon->ondemand, &asked);
	live_open(&daemon->live, &daemon->recorder, &daemon->ondemand.names);
	recorder_open(&daemon->recorder, &sources);
}

int daemon_open(struct daemon **ret_daemon, const struct daemon_settings *settings,
		struct configuration *configuration)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	const struct reload_actions actions = { read_again, follow, is_used, daemon };
	const struct kernel_objects *kernel = settings->kernel;
	const struct watch_limits limits = { 0 }; /* until follow_watches() */
	int result;

	if (!daemon) {
		configuration_free(configuration);
		return -ENOMEM;
	}
	*daemon = (struct daemon){ .clock = settings->clock,
				   .where = settings->where,
				   .kernel = kernel,
				   .own_counters = settings->own_counters,
				   .confinement = settings->confinement,
				   .own_usage = settings->own_usage,
				   .notify = settings->notify,
				   .spawner_socket = settings->spawner_socket,
				   .spawner_source = { SOURCE_SPAWNER },
				   .processes_source = { SOURCE_PROCESSES },
				   .config_source = { SOURCE_CONFIG },
				   .reload_source = { SOURCE_RELOAD },
				   .stored_source = { SOURCE_STORED } };
	reload_init(&daemon->reload, &actions, configuration, settings->own_counters);
	result = event_loop_open(&daemon->loop, settings->where->pin_dir);
	if (!result)
		result = cgroups_open(&daemon->cgroups, settings->cgroup_mount,
				      kernel->map_fds[PIN_CGROUPS_KNOWN], clock_now_ns(daemon->clock));
	if (!result)
		result = coverage_open(&daemon->coverage, kernel);
	if (!result)
		result = tracking_open(&daemon->tracking, kernel, daemon->cgroups, &daemon->watches,
				       settings->own_counters, daemon->clock);
	if (!result)
		result = add_sources(daemon);
	if (!result)
		open_recorder(daemon);
	if (!result)
		result = watches_open(&daemon->watches, daemon->loop.epoll, settings->cgroup_mount,
				      settings->where->grant_socket, &limits, daemon->clock);
	if (!result)
		activity_looker_open(&daemon->activity, kernel, daemon->cgroups, settings->own_counters,
				     daemon->clock);
	if (result < 0)
		daemon_close(daemon);
	else
		*ret_daemon = daemon;
	return result;
}

void daemon_close(struct daemon *daemon)
{
	if (!daemon)
		return;
	control_close(daemon->control);
	watches_close(&daemon->watches);
	closer_stop(daemon->closer);
	tracking_close(&daemon->tracking);
	live_close(&daemon->live);
	recorder_close(&daemon->recorder);
	activity_looker_close(&daemon->activity);
	baselines_free(&daemon->baselines);
	ondemand_close(&daemon->ondemand);
	coverage_free(daemon->coverage);
	cgroups_free(daemon->cgroups);
	event_loop_close(&daemon->loop);
	reload_close(&daemon->reload);
	free(daemon);
}
