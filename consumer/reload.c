/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/reload.h"

#include "common/base/clock.h"
#include "common/system/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLED_NS (CLOCK_SECOND_NS / 5)   /* an editor saves a file in several steps */
#define UNSETTLED_NS (5 * CLOCK_SECOND_NS) /* files that keep changing are read after this time */

struct retired_configuration {
	struct configuration *configuration;
	struct retired_configuration *next;
};

void reload_init(struct reload *reload, const struct reload_actions *actions,
		 struct configuration *configuration, struct own_counters *own_counters)
{
	*reload = (struct reload){ .actions = *actions,
				   .own_counters = own_counters,
				   .in_force = configuration,
				   .watch = { .inotify = -EBADF } };
}

int reload_watch(struct reload *reload, const struct settings *where)
{
	return config_watch_open(&reload->watch, where->config, where->rules_dir);
}

static void drop(struct retired_configuration **link)
{
	struct retired_configuration *retired = *link;

	*link = retired->next;
	configuration_free(retired->configuration);
	free(retired);
}

void reload_close(struct reload *reload)
{
	if (!reload->in_force)
		return;
	config_watch_close(&reload->watch);
	while (reload->retired)
		drop(&reload->retired);
	configuration_free(reload->in_force);
	config_errors_free(&reload->mistakes);
}

/* ---- when ---- */

int reload_fd(const struct reload *reload)
{
	return reload->watch.inotify;
}

void reload_read_changes(struct reload *reload, uint64_t now_ns)
{
	if (config_watch_read(&reload->watch))
		reload_note_change(reload, now_ns);
}

void reload_note_change(struct reload *reload, uint64_t now_ns)
{
	if (!reload->first_changed_ns)
		reload->first_changed_ns = now_ns;
	reload->changed_ns = now_ns;
}

void reload_ask(struct reload *reload, uint64_t now_ns)
{
	reload->asked = true;
	reload_when_due(reload, now_ns);
}

/*
 * A request or a change during a reload starts another reload, because the one under way may have read the
 * files already.
 */
void reload_when_due(struct reload *reload, uint64_t now_ns)
{
	bool changed = reload->first_changed_ns && (now_ns - reload->changed_ns >= SETTLED_NS ||
						    now_ns - reload->first_changed_ns >= UNSETTLED_NS);

	if (reload->under_way || !(reload->asked || changed))
		return;
	reload->under_way = true;
	reload->answers = reload->asked;
	reload->asked = false;
	reload->first_changed_ns = 0;
	reload->actions.read(reload->actions.user, now_ns);
}

/* ---- the result ---- */

static bool is_same(const struct configuration *one, const struct configuration *other)
{
	return rules_equal(&one->rules, &other->rules) &&
	       one->settings.database_bytes_max == other->settings.database_bytes_max &&
	       one->settings.database_age_ns_max == other->settings.database_age_ns_max &&
	       one->settings.short_windows_max == other->settings.short_windows_max &&
	       one->settings.watches_max == other->settings.watches_max &&
	       one->settings.rule_watches_max == other->settings.rule_watches_max &&
	       one->settings.naming_ns == other->settings.naming_ns &&
	       one->settings.budget_ppm == other->settings.budget_ppm &&
	       one->settings.capture_hz == other->settings.capture_hz &&
	       one->settings.activity_ns == other->settings.activity_ns &&
	       one->settings.activity_age_ns_max == other->settings.activity_age_ns_max &&
	       one->settings.baseline_ns == other->settings.baseline_ns &&
	       one->settings.baseline_age_ns_max == other->settings.baseline_age_ns_max &&
	       one->settings.metrics_ns == other->settings.metrics_ns &&
	       !strcmp(one->settings.metrics_file, other->settings.metrics_file) &&
	       !strcmp(one->settings.directories, other->settings.directories);
}

static int put_in_force(struct reload *reload, struct configuration *configuration)
{
	struct retired_configuration *retired = malloc(sizeof(*retired));
	int result = retired ? reload->actions.follow(reload->actions.user, configuration) : -ENOMEM;

	if (result < 0) {
		free(retired);
		return result;
	}
	*retired = (struct retired_configuration){ reload->in_force, reload->retired };
	reload->retired = retired;
	reload->in_force = configuration;
	return 0;
}

/* Takes ownership of the errors. */
static void refuse(struct reload *reload, struct config_errors *errors)
{
	own_count(reload->own_counters, OWN_RELOADS_REFUSED);
	config_errors_log(errors);
	snprintf(reload->mistake, sizeof(reload->mistake), "%s",
		 !errors->count ? "the rules could not be written to the kernel; bourdond's log says why"
		 : errors->messages[0] ? errors->messages[0]
				       : "out of memory");
	log_warning("reload refused; keeping the previous configuration");
	reload->mistakes = *errors;
	*errors = (struct config_errors){ 0 };
}

bool reload_finish(struct reload *reload, struct configuration *configuration, struct config_errors *errors)
{
	bool replaced = false;

	reload->under_way = false;
	config_errors_free(&reload->mistakes);
	if (configuration && is_same(configuration, reload->in_force)) {
		if (reload->answers || reload->mistake[0])
			log_info("the configuration has not changed");
		reload->mistake[0] = '\0';
		configuration_free(configuration);
	} else if (configuration && !put_in_force(reload, configuration)) {
		own_count(reload->own_counters, OWN_RELOADS);
		reload->mistake[0] = '\0';
		replaced = true;
	} else {
		refuse(reload, errors);
		configuration_free(configuration);
	}
	config_errors_free(errors);
	return replaced;
}

void reload_sweep(struct reload *reload)
{
	struct retired_configuration **link = &reload->retired;

	while (*link) {
		if (reload->actions.is_used(reload->actions.user, (*link)->configuration))
			link = &(*link)->next;
		else
			drop(link);
	}
}
