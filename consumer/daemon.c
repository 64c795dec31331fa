/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/daemon.h"

#include "common/base/cleanup.h"
#include "common/base/shared_text.h"
#include "common/protocol/latency_line.h"
#include "common/protocol/live_line.h"
#include "common/system/log.h"
#include "consumer/daemon_follow.h"
#include "consumer/descriptors.h"
#include "consumer/kill_trigger.h"
#include "consumer/latency_trigger.h"
#include "consumer/pressure_trigger.h"
#include "consumer/status.h"
#include "consumer/watch/watch_events.h"

#include <signal.h>
#include <string.h>

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

static void end_without_spawner(struct daemon *daemon, uint64_t now_ns)
{
	bool capturing = daemon->recorder.active_count || worker_has_captures(daemon->worker);

	if (!spawner_end_is_due(&daemon->spawner_end, capturing, now_ns))
		return;
	log_warning(
		"ending: the spawner died, and without it captures have no function names; the next start forks a new one");
	daemon->status = EXIT_FAILED;
	daemon->ended = true;
}

/* At the end of an epoch, compares what was measured with the rules. */
static void look_at_latencies(struct daemon *daemon, uint64_t now_ns)
{
	if (measuring_tick(&daemon->latencies, now_ns))
		latency_trigger_look(&daemon->recorder, daemon->reload.in_force, &daemon->latencies.past,
				     daemon->latencies.epoch);
}

/* The watch_path_of callback. */
static const char *path_of_cgroup(void *user, uint64_t cgroup_id)
{
	return cgroups_path(user, cgroup_id);
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
	look_at_latencies(daemon, now_ns);
	reload_when_due(&daemon->reload, now_ns);
	control_tick(daemon->control, now_ns);
	shared_text_sweep();
	tracking_tick(&daemon->tracking, now_ns);
	live_tick(&daemon->live, now_ns);
	latency_live_tick(&daemon->latency_live, now_ns);
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
		event_loop_remove(&daemon->loop, daemon->spawner_socket);
		spawner_end_note(&daemon->spawner_end, now_ns);
		break;
	case SOURCE_PROCESSES:
		tracking_consume(&daemon->tracking);
		event_rest_note(&daemon->events_rest, &daemon->loop,
				process_events_fd(daemon->tracking.events), now_ns);
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
		daemon_finish_reload(daemon);
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
		latency_live_say(&daemon->latency_live, now_ns);
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
	event_rest_end(&daemon->events_rest, &daemon->loop, process_events_fd(daemon->tracking.events),
		       &daemon->processes_source, now_ns);
	recorder_look(&daemon->recorder);
	activity_looker_look(&daemon->activity);
}

uint64_t daemon_due_ns(const struct daemon *daemon)
{
	uint64_t due_ns = clock_sooner(daemon->second_due_ns, daemon->activity.due_ns);

	due_ns = clock_sooner(due_ns, daemon->events_rest.due_ns);
	return clock_sooner(due_ns, recorder_due_ns(&daemon->recorder));
}

bool daemon_has_ended(const struct daemon *daemon)
{
	return daemon->ended || daemon->status != EXIT_DONE;
}

int daemon_begin(struct daemon *daemon, struct worker *worker)
{
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
	latency_live_start(&daemon->latency_live, daemon->control, daemon->worker);
	__atomic_store_n(&daemon->kernel->control->heartbeat_ns, daemon->started_ns, __ATOMIC_RELEASE);
	return daemon_follow_first(daemon);
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
		measuring_note(&daemon->latencies, &daemon->recorder, clock_now_ns(daemon->clock));
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
	latency_live_interrupt(&daemon->latency_live, now_ns);
	recorder_interrupt(&daemon->recorder);
	activity_looker_interrupt(&daemon->activity);
	measuring_end(&daemon->latencies, clock_now_ns(daemon->clock));
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
				       .latencies = &daemon->latencies,
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
	else if (!strcmp(line->kind, LATENCY_WATCH))
		latency_live_ask(&daemon->latency_live, client, peer, line, now_ns);
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
	latency_live_leave(&daemon->latency_live, client, now_ns);
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
						   .clock = daemon->clock,
						   .latencies = &daemon->latencies.on };
	const struct ondemand_settings asked = { .kernel = daemon->kernel,
						 .tracking = &daemon->tracking,
						 .recorder = &daemon->recorder,
						 .cgroups = daemon->cgroups,
						 .latencies = &daemon->latencies,
						 .own_counters = daemon->own_counters };

	measuring_open(&daemon->latencies, daemon->kernel, daemon->own_counters);
	ondemand_open(&daemon->ondemand, &asked);
	recorder_open(&daemon->recorder, &sources);
	live_open(&daemon->live, &daemon->recorder, &daemon->ondemand.names);
	latency_live_open(&daemon->latency_live, &daemon->latencies, daemon->cgroups, daemon->clock,
			  &daemon->ondemand.names);
}

int daemon_open(struct daemon **ret_daemon, const struct daemon_settings *settings,
		struct configuration *configuration)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
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
	daemon_follow_init(daemon, configuration);
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
	measuring_free(&daemon->latencies);
	activity_looker_close(&daemon->activity);
	baselines_free(&daemon->baselines);
	ondemand_close(&daemon->ondemand);
	coverage_free(daemon->coverage);
	cgroups_free(daemon->cgroups);
	event_loop_close(&daemon->loop);
	reload_close(&daemon->reload);
	free(daemon);
}
