/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/daemon_follow.h"

#include "common/system/log.h"
#include "common/text/plural.h"
#include "consumer/host/patterns.h"

#include <errno.h>
#include <string.h>

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
	measuring_follow(&daemon->latencies, configuration, &daemon->recorder, clock_now_ns(daemon->clock));
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

void daemon_finish_reload(struct daemon *daemon)
{
	struct config_errors errors = { 0 };
	struct configuration *configuration = worker_reload_result(daemon->worker, &errors);

	say_state(daemon, reload_finish(&daemon->reload, configuration, &errors) ? "reloaded" : NULL);
	reload_when_due(&daemon->reload, clock_now_ns(daemon->clock));
}

int daemon_follow_first(struct daemon *daemon)
{
	const struct configuration *configuration = daemon->reload.in_force;
	int result = publish(daemon, configuration);

	if (result < 0)
		return result;
	follow_watches(daemon, configuration);
	follow_rules(daemon, configuration);
	say_state(daemon, "ready");
	return 0;
}

void daemon_follow_init(struct daemon *daemon, struct configuration *configuration)
{
	const struct reload_actions actions = { read_again, follow, is_used, daemon };

	reload_init(&daemon->reload, &actions, configuration, daemon->own_counters);
}
