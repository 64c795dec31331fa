/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/daemon.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/counters.h"
#include "common/log.h"
#include "common/plural.h"
#include "consumer/capture/coverage.h"
#include "consumer/control.h"
#include "consumer/process/event_source.h"
#include "consumer/recorder.h"
#include "consumer/rules/config_watch.h"
#include "consumer/status.h"
#include "consumer/target/patterns.h"
#include "consumer/tracking.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#define SETTLED_NS (CLOCK_SECOND_NS / 5)
#define UNSETTLED_NS (5 * CLOCK_SECOND_NS)
/* Without a spawner: so long without a capture, or so long at all, and it ends. */
#define NO_SPAWNER_QUIET_NS (30 * CLOCK_SECOND_NS)
#define NO_SPAWNER_NS (600 * CLOCK_SECOND_NS)
#define UNMAPPED_EVERY_MAX_NS (64 * CLOCK_SECOND_NS)

/* A configuration that is not in force any more, and whose rules a capture may still be taken by. */
struct retired {
	struct configuration *configuration;
	struct retired *next;
};

struct daemon {
	const struct settings *where;
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	const struct confinement *confinement;
	struct notify *notify;
	int spawner_socket;
	struct configuration *configuration;
	struct retired *retired;
	struct store_thread *store;
	struct cgroups *cgroups;
	struct coverage *coverage;
	struct closer *closer;
	struct control_socket *control;
	struct config_watch config_watch;
	struct reload_state reload;
	struct tracking tracking;
	struct watches watches;
	struct recorder recorder;
	uint64_t started_ns;
	int epoll, timer, signals, inotify;
	struct event_source timer_source, signals_source, pins_source, spawner_source, processes_source,
		config_source, reload_source;
	uint64_t unmapped; /* control->unmapped, when mappings were wanted last for it */
	uint64_t unmapped_due_ns, unmapped_every_ns;
	uint64_t spawner_gone_ns; /* since when, or 0 */
	uint64_t captured_ns;     /* when there was a capture last, since then */
	bool ended;
	int status; /* with which it ends */
	struct log_limit suppressed_limit;
};

/* ---- captures ---- */

/*
 * The programs sample only while the heartbeat is young. Where it was not (this process was stopped, the
 * machine slept), the rings have a gap, and history begins behind it.
 */
static void beat(struct daemon *daemon, uint64_t now_ns)
{
	uint64_t last_ns = daemon->kernel->control->heartbeat_ns;

	if (now_ns - last_ns > daemon->kernel->manifest.quiet_after_ns)
		daemon->recorder.rings.armed_ns = now_ns;
	__atomic_store_n(&daemon->kernel->control->heartbeat_ns, now_ns, __ATOMIC_RELEASE);
}

static void suppress(struct daemon *daemon, struct watch *watch)
{
	watch->suppressed++;
	watch->suppressed_all++;
	own_count(daemon->own_counters, OWN_SUPPRESSED);
}

static void on_fired(void *user, struct watch *watch, uint64_t observed_us)
{
	struct daemon *daemon = user;
	uint64_t now_ns = clock_monotonic_ns();
	int result;

	beat(daemon, now_ns);
	if (now_ns < watch->quiet_until_ns) {
		suppress(daemon, watch);
		return;
	}
	result = recorder_begin(&daemon->recorder, daemon->configuration, watch, observed_us, now_ns);
	if (result < 0) {
		suppress(daemon, watch);
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
	daemon->tracking.keep_gone = true;
	tracking_consume(&daemon->tracking);
	tracking_walk(&daemon->tracking);
	recorder_drain_newest(&daemon->recorder);
}

/* ---- the configuration ---- */

static void free_retired(struct daemon *daemon)
{
	struct retired **link = &daemon->retired;

	while (*link) {
		struct retired *retired = *link;

		if (recorder_uses(&daemon->recorder, retired->configuration)) {
			link = &retired->next;
			continue;
		}
		*link = retired->next;
		configuration_free(retired->configuration);
		free(retired);
	}
}

static int publish(const struct daemon *daemon, const struct configuration *configuration)
{
	int result = patterns_publish(daemon->kernel, &configuration->rules);

	if (result < 0)
		log_error("cannot give the rules to the kernel: %s",
			  result == -ENOSPC ? "more comm patterns than its trie holds" : strerror(-result));
	return result;
}

/* A capture records what history there really was; who asks for more than there can be is told before. */
static void warn_of_history(const struct daemon *daemon)
{
	const struct manifest *manifest = &daemon->kernel->manifest;
	uint64_t held_ns = manifest->slots_per_cpu * CLOCK_SECOND_NS / manifest->hz;

	for (size_t i = 0; i < daemon->configuration->rules.count; i++) {
		const struct rule *rule = &daemon->configuration->rules.rules[i];

		if (rule->history_ns > held_ns)
			log_warning(
				"%s: rule %s wants %llu s of history, and a ring holds %llu s of a CPU that runs targets only: raise bourdon-load --ring-size",
				rule->source, rule->name,
				(unsigned long long)(rule->history_ns / CLOCK_SECOND_NS),
				(unsigned long long)(held_ns / CLOCK_SECOND_NS));
	}
}

/*
 * The other trie goes live in one store; from then on events of the old patterns are stale. Watches that did
 * not change live on. Captures that are under way finish under their old rules.
 */
static int put_in_force(struct daemon *daemon, struct configuration *configuration)
{
	struct retired *retired = malloc(sizeof(*retired));
	int result = retired ? publish(daemon, configuration) : -ENOMEM;

	if (result < 0) {
		free(retired);
		return result;
	}
	if (watches_follow(&daemon->watches, &configuration->rules) < 0)
		log_warning("out of memory: all watches are opened anew");
	daemon->watches.privileged_max = configuration->settings.short_windows_max;
	*retired = (struct retired){ daemon->configuration, daemon->retired };
	daemon->retired = retired;
	if (strcmp(configuration->settings.directories, daemon->confinement->directories) != 0)
		log_warning("the directories of ELF files are those of the start: restart bourdond for '%s'",
			    configuration->settings.directories);
	daemon->configuration = configuration;
	store_thread_confirm(daemon->store, configuration);
	tracking_follow(&daemon->tracking, &configuration->rules);
	recorder_follow(&daemon->recorder, &configuration->rules);
	warn_of_history(daemon);
	return 0;
}

/* To the service manager and, if something happened, which is `what`, to the log. */
static void say_state(const struct daemon *daemon, const char *what)
{
	const struct notify_state state = { .rules = (unsigned int)daemon->configuration->rules.count,
					    .targets = daemon->tracking.targets.live,
					    .watches = watches_live(&daemon->watches),
					    .mistake = daemon->reload.mistake };

	if (what)
		log_info("%s: %u %s, %u %s, %u %s", what, state.rules, plural(state.rules, "rule", "rules"),
			 state.targets, plural(state.targets, "target", "targets"), state.watches,
			 plural(state.watches, "watch", "watches"));
	notify_ready(daemon->notify, &state);
}

static void note_change(struct reload_state *reload, uint64_t now_ns)
{
	if (!reload->first_changed_ns)
		reload->first_changed_ns = now_ns;
	reload->changed_ns = now_ns;
}

/*
 * An editor writes in several steps: once it has been quiet for a moment, if it ever is, or somebody asks.
 * Who asks while a reload is under way may mean what that one has read already: another follows.
 */
static void reload_when_due(struct daemon *daemon, uint64_t now_ns)
{
	struct reload_state *reload = &daemon->reload;
	bool changed = reload->first_changed_ns && (now_ns - reload->changed_ns >= SETTLED_NS ||
						    now_ns - reload->first_changed_ns >= UNSETTLED_NS);

	if (reload->under_way || !(reload->asked_for || changed))
		return;
	reload->under_way = true;
	reload->answers = reload->asked_for;
	reload->asked_for = false;
	reload->first_changed_ns = 0;
	notify_reloading(daemon->notify, now_ns);
	store_thread_reload(daemon->store);
}

static void finish_reload(struct daemon *daemon)
{
	struct config_errors errors = { 0 };
	struct configuration *configuration = store_thread_reload_result(daemon->store, &errors);
	const struct configuration *before = daemon->configuration;
	const char *reloaded = NULL;
	bool same = configuration && rules_equal(&configuration->rules, &before->rules) &&
		    configuration->settings.database_bytes_max == before->settings.database_bytes_max &&
		    configuration->settings.short_windows_max == before->settings.short_windows_max &&
		    configuration->settings.naming_ns == before->settings.naming_ns &&
		    !strcmp(configuration->settings.directories, before->settings.directories);

	daemon->reload.under_way = false;
	if (same) {
		configuration_free(configuration);
		if (daemon->reload.answers || daemon->reload.mistake[0])
			log_info("the configuration is as it was");
		daemon->reload.mistake[0] = '\0';
	} else if (configuration && !put_in_force(daemon, configuration)) {
		own_count(daemon->own_counters, OWN_RELOADS);
		daemon->reload.mistake[0] = '\0';
		reloaded = "reloaded";
	} else {
		own_count(daemon->own_counters, OWN_RELOADS_REFUSED);
		config_errors_log(&errors);
		snprintf(daemon->reload.mistake, sizeof(daemon->reload.mistake), "%s",
			 errors.count ? errors.messages[0] : "the kernel's tries do not take the rules");
		log_warning("the configuration is refused, so that the one before stays in force");
		configuration_free(configuration);
	}
	config_errors_free(&daemon->reload.mistakes);
	daemon->reload.mistakes = errors;
	say_state(daemon, reloaded);
	reload_when_due(daemon, clock_monotonic_ns());
}

/* ---- the loop ---- */

static void look_at_coverage(struct daemon *daemon)
{
	bool changed;
	unsigned int unsampled = coverage_look(daemon->coverage, &changed);

	recorder_note_unsampled(&daemon->recorder, unsampled);
	if (changed && unsampled)
		log_warning(
			"CPU %s is online and not sampled: it came after the load; run bourdon-load again",
			coverage_text(daemon->coverage));
	else if (changed)
		log_info("every CPU that is online is sampled");
}

/* What others count, where it is written from. */
static void count_own(struct daemon *daemon)
{
	atomic_uint_fast64_t *values = daemon->own_counters->values;

	atomic_store(&values[OWN_UNKNOWN_RECORDS], process_events_unknown(daemon->tracking.events));
	atomic_store(&values[OWN_SPURIOUS], daemon->watches.spurious);
	atomic_store(&values[OWN_GRANTS], daemon->watches.granted);
	atomic_store(&values[OWN_GRANTS_REFUSED], daemon->watches.refused);
}

/*
 * Stacks lead to addresses in no mapping that is known: of libraries that were loaded since, perhaps. Or of
 * nothing at all, so that walks which find nothing become rare.
 */
static void look_at_unmapped(struct daemon *daemon, uint64_t now_ns)
{
	uint64_t unmapped = __atomic_load_n(&daemon->kernel->control->unmapped, __ATOMIC_RELAXED);

	if (now_ns < daemon->unmapped_due_ns)
		return;
	if (unmapped == daemon->unmapped) {
		daemon->unmapped_every_ns = CLOCK_SECOND_NS;
		return;
	}
	daemon->unmapped = unmapped;
	daemon->unmapped_due_ns = now_ns + daemon->unmapped_every_ns;
	if (daemon->unmapped_every_ns < UNMAPPED_EVERY_MAX_NS)
		daemon->unmapped_every_ns *= 2;
	store_thread_want_mappings(daemon->store);
}

/*
 * Only a daemon that starts may fork a spawner. Captures lack but names meanwhile: it ends when there has
 * been none for a while, for what ended the spawner may be the pressure that one is about to be taken of.
 */
static void end_without_spawner(struct daemon *daemon, uint64_t now_ns)
{
	if (!daemon->spawner_gone_ns)
		return;
	if (daemon->recorder.active_count || store_thread_has_captures(daemon->store))
		daemon->captured_ns = now_ns;
	if (now_ns - daemon->captured_ns < NO_SPAWNER_QUIET_NS &&
	    now_ns - daemon->spawner_gone_ns < NO_SPAWNER_NS)
		return;
	log_warning("ending: without a spawner captures have no names; the next start has one");
	daemon->status = EXIT_FAILED;
	daemon->ended = true;
}

static void on_spawner_end(struct daemon *daemon, uint64_t now_ns)
{
	epoll_ctl(daemon->epoll, EPOLL_CTL_DEL, daemon->spawner_socket, NULL);
	log_warning("the spawner is gone: captures have no names until the next start");
	daemon->spawner_gone_ns = daemon->captured_ns = now_ns;
}

/* Once a second. The heartbeat comes first. */
static void tick(struct daemon *daemon)
{
	uint64_t expirations, now_ns = clock_monotonic_ns();

	if (read(daemon->timer, &expirations, sizeof(expirations)) < 0)
		return;
	beat(daemon, now_ns);
	notify_tick(daemon->notify, now_ns);
	look_at_coverage(daemon);
	count_own(daemon);
	watches_tick(&daemon->watches, now_ns, on_fired, daemon);
	reload_when_due(daemon, now_ns);
	control_tick(daemon->control, now_ns);
	tracking_tick(&daemon->tracking, now_ns);
	look_at_unmapped(daemon, now_ns);
	end_without_spawner(daemon, now_ns);
}

/* Four times a second, while captures are taken. */
static void pace(struct daemon *daemon, uint64_t now_ns)
{
	if (recorder_wants_walk(&daemon->recorder, now_ns))
		tracking_walk(&daemon->tracking);
	recorder_pace(&daemon->recorder, now_ns);
	daemon->tracking.keep_gone = daemon->recorder.active_count > 0;
}

static void on_signal(struct daemon *daemon)
{
	struct signalfd_siginfo signal;

	if (read(daemon->signals, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (signal.ssi_signo == SIGHUP) {
		daemon->reload.asked_for = true;
		reload_when_due(daemon, clock_monotonic_ns());
		return;
	}
	log_info("ending: signal %u", signal.ssi_signo);
	daemon->ended = true;
}

static void on_pins_changed(struct daemon *daemon)
{
	char events[4096] __attribute__((aligned(8)));

	if (read(daemon->inotify, events, sizeof(events)) <= 0)
		return;
	log_info(
		"ending: the pins were replaced or removed by bourdon-load, and a confined daemon cannot open new ones; %s",
		notify_is_heard(daemon->notify) ? "the service manager starts it again"
						: "start it again with 'bourdond'");
	daemon->ended = true;
}

static int add_events(const struct daemon *daemon, int fd, uint32_t events, struct event_source *source)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (fd < 0 || epoll_ctl(daemon->epoll, EPOLL_CTL_ADD, fd, &event)) {
		log_error("cannot watch for events: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static int add_source(const struct daemon *daemon, int fd, struct event_source *source)
{
	return add_events(daemon, fd, EPOLLIN, source);
}

static void dispatch(struct daemon *daemon, const struct epoll_event *event)
{
	struct event_source *source = event->data.ptr;
	uint64_t now_ns = clock_monotonic_ns();

	switch (source->kind) {
	case SOURCE_TIMER:
		tick(daemon);
		break;
	case SOURCE_PACE:
		pace(daemon, now_ns);
		break;
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
		tracking_consume(&daemon->tracking);
		break;
	case SOURCE_WATCH:
		watches_event(&daemon->watches, (struct watch *)source, event->events, now_ns, on_fired,
			      daemon);
		break;
	case SOURCE_GRANT:
		grant_queue_event(daemon->watches.grants, (struct grant_call *)source);
		break;
	case SOURCE_CONFIG:
		if (config_watch_read(&daemon->config_watch))
			note_change(&daemon->reload, now_ns);
		break;
	case SOURCE_RELOAD:
		finish_reload(daemon);
		break;
	case SOURCE_CONTROL:
		control_accept(daemon->control, now_ns);
		break;
	case SOURCE_CLIENT:
		control_send(daemon->control);
		break;
	}
}

static int arm(struct daemon *daemon)
{
	int result;

	daemon->started_ns = daemon->recorder.rings.armed_ns = clock_monotonic_ns();
	__atomic_store_n(&daemon->kernel->control->heartbeat_ns, daemon->started_ns, __ATOMIC_RELEASE);
	result = publish(daemon, daemon->configuration);
	if (result < 0)
		return result;
	tracking_follow(&daemon->tracking, &daemon->configuration->rules);
	recorder_follow(&daemon->recorder, &daemon->configuration->rules);
	warn_of_history(daemon);
	say_state(daemon, "ready");
	return 0;
}

int daemon_run(struct daemon *daemon, struct store_thread *store)
{
	struct epoll_event events[16];

	daemon->store = daemon->recorder.store = daemon->tracking.store = store;
	if (add_source(daemon, store_thread_reload_fd(store), &daemon->reload_source))
		return EXIT_FAILED;
	if (arm(daemon) < 0)
		daemon->status = EXIT_FAILED;
	while (!daemon->ended && daemon->status == EXIT_DONE) {
		int count = epoll_wait(daemon->epoll, events, ARRAY_SIZE(events), -1);

		if (count < 0 && errno != EINTR) {
			log_error("cannot wait for events: %s", strerror(errno));
			daemon->status = EXIT_FAILED;
		}
		for (int i = 0; i < count && !daemon->ended; i++)
			dispatch(daemon, &events[i]);
		watches_sweep(&daemon->watches);
		free_retired(daemon); /* what was let go points there until it is swept */
	}
	notify_stopping(daemon->notify);
	/* whoever comes next starts from silence */
	__atomic_store_n(&daemon->kernel->control->heartbeat_ns, 0, __ATOMIC_RELEASE);
	if (daemon->recorder.active_count)
		tracking_walk(&daemon->tracking);
	recorder_interrupt(&daemon->recorder);
	return daemon->status;
}

/* ---- opening ---- */

static int open_sources(struct daemon *daemon)
{
	const struct itimerspec second = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };
	sigset_t ending;
	int result;

	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	daemon->epoll = epoll_create1(EPOLL_CLOEXEC);
	daemon->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	daemon->signals = signalfd(-1, &ending, SFD_NONBLOCK | SFD_CLOEXEC);
	daemon->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (inotify_add_watch(daemon->inotify, daemon->where->pin_dir,
			      IN_MOVE_SELF | IN_DELETE_SELF | IN_DELETE) < 0 ||
	    timerfd_settime(daemon->timer, 0, &second, NULL)) {
		log_error("cannot watch %s: %s", daemon->where->pin_dir, strerror(errno));
		return -errno;
	}
	result = config_watch_open(&daemon->config_watch, daemon->where->config, daemon->where->rules_dir);
	if (result < 0)
		log_warning("changes of the configuration are not noticed: %s; SIGHUP reloads it",
			    strerror(-result));
	result = result < 0 ? 0 : add_source(daemon, daemon->config_watch.inotify, &daemon->config_source);
	if (!result)
		result = add_source(daemon, daemon->timer, &daemon->timer_source);
	if (!result)
		result = add_source(daemon, daemon->signals, &daemon->signals_source);
	if (!result)
		result = add_source(daemon, daemon->inotify, &daemon->pins_source);
	/* its answers are the store thread's; its end is ours */
	if (!result)
		result = add_events(daemon, daemon->spawner_socket, 0, &daemon->spawner_source);
	return result ? result
		      : add_source(daemon, process_events_fd(daemon->tracking.events),
				   &daemon->processes_source);
}

static void describe(void *user, FILE *out)
{
	const struct daemon *daemon = user;
	const struct status status = { .kernel = daemon->kernel,
				       .configuration = daemon->configuration,
				       .own_counters = daemon->own_counters,
				       .confinement = daemon->confinement,
				       .targets = &daemon->tracking.targets,
				       .watches = &daemon->watches,
				       .recorder = &daemon->recorder,
				       .reload = &daemon->reload,
				       .unwind = store_thread_unwind(daemon->store),
				       .unsampled_cpus = coverage_text(daemon->coverage),
				       .started_ns = daemon->started_ns };

	status_write(&status, out);
}

int daemon_start_services(struct daemon *daemon)
{
	int result = closer_start(&daemon->closer);

	daemon->watches.closer = daemon->closer;
	if (!result)
		result = control_open(&daemon->control, daemon->where->state_dir, daemon->epoll, describe,
				      daemon);
	return result;
}

int daemon_open(struct daemon **ret_daemon, const struct daemon_settings *settings,
		struct configuration *configuration)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	const struct kernel_objects *kernel = settings->kernel;
	int result;

	if (!daemon) {
		configuration_free(configuration);
		return -ENOMEM;
	}
	*daemon = (struct daemon){ .where = settings->where,
				   .kernel = kernel,
				   .own_counters = settings->own_counters,
				   .confinement = settings->confinement,
				   .notify = settings->notify,
				   .spawner_socket = settings->spawner_socket,
				   .configuration = configuration,
				   .timer_source = { SOURCE_TIMER },
				   .signals_source = { SOURCE_SIGNALS },
				   .pins_source = { SOURCE_PINS },
				   .spawner_source = { SOURCE_SPAWNER },
				   .processes_source = { SOURCE_PROCESSES },
				   .config_source = { SOURCE_CONFIG },
				   .reload_source = { SOURCE_RELOAD } };
	daemon->epoll = daemon->timer = daemon->signals = daemon->inotify = daemon->config_watch.inotify =
		-EBADF;
	daemon->unmapped = __atomic_load_n(&kernel->control->unmapped, __ATOMIC_RELAXED);
	daemon->unmapped_every_ns = CLOCK_SECOND_NS;
	daemon->recorder = (struct recorder){ .kernel = kernel,
					      .targets = &daemon->tracking.targets,
					      .usage = &daemon->tracking.usage,
					      .clocks = { .kernel = kernel },
					      .own_counters = settings->own_counters,
					      .rings = { .slots = kernel->slots,
							 .slots_per_cpu = kernel->manifest.slots_per_cpu,
							 .cpus = kernel->manifest.cpus,
							 .offcpu_slots = kernel->offcpu_slots },
					      .pace = -EBADF };
	result = getrandom(&daemon->recorder.seed, sizeof(daemon->recorder.seed), 0) < 0 ? -errno : 0;
	if (!result)
		result = cgroups_open(&daemon->cgroups);
	daemon->recorder.cgroups = daemon->cgroups;
	if (!result)
		result = coverage_open(&daemon->coverage, kernel);
	if (!result)
		result = tracking_open(&daemon->tracking, kernel, daemon->cgroups, &daemon->watches,
				       settings->own_counters);
	if (!result)
		result = open_sources(daemon);
	if (!result)
		result = recorder_open(&daemon->recorder, daemon->epoll);
	if (!result)
		result = watches_open(&daemon->watches, daemon->epoll, cgroups_mount(daemon->cgroups),
				      settings->where->grant_socket,
				      configuration->settings.short_windows_max);
	if (result < 0)
		daemon_close(daemon);
	else
		*ret_daemon = daemon;
	return result;
}

const char *daemon_cgroup_mount(const struct daemon *daemon)
{
	return cgroups_mount(daemon->cgroups);
}

void daemon_close(struct daemon *daemon)
{
	if (!daemon)
		return;
	control_close(daemon->control);
	watches_close(&daemon->watches);
	closer_stop(daemon->closer);
	tracking_close(&daemon->tracking);
	recorder_close(&daemon->recorder);
	coverage_free(daemon->coverage);
	cgroups_free(daemon->cgroups);
	config_watch_close(&daemon->config_watch);
	cleanup_close(&daemon->inotify);
	cleanup_close(&daemon->signals);
	cleanup_close(&daemon->timer);
	cleanup_close(&daemon->epoll);
	free_retired(daemon);
	configuration_free(daemon->configuration);
	config_errors_free(&daemon->reload.mistakes);
	free(daemon);
}
