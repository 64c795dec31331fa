/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bourdond: the consumer. main() is the order in which it gives up what it may.
 */
#include "common/log.h"
#include "common/options.h"
#include "common/seccomp.h"
#include "consumer/daemon.h"
#include "consumer/privilege.h"
#include "consumer/settings.h"
#include "consumer/store_thread.h"
#include "consumer/symbolizer/spawner.h"
#include "policy/bourdond.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_PATIENCE_NS 8000000000U /* well within the service manager's */

static int read_configuration(struct settings *settings, struct rule_set *ret_rules)
{
	struct config_errors errors = { 0 };
	int result = settings_read(settings, &errors), rules = 0;

	if (result != -ENOMEM)
		rules = rules_read_directory(settings->rules_dir, ret_rules, &errors);
	config_errors_log(&errors);
	if (rules < 0 && !errors.count)
		log_error("cannot read the rules in %s: %s", settings->rules_dir, strerror(-rules));
	config_errors_free(&errors);
	return result < 0 ? result : rules;
}

static int confine(void)
{
	int result = seccomp_install(bourdond_filter, BOURDOND_FILTER_LENGTH, true);

	if (result < 0)
		log_error("cannot install the system-call filter: %s", strerror(-result));
	return result;
}

static int run(struct settings *settings, struct rule_set *rules)
{
	struct store_thread_settings store_settings = { .state_dir = settings->state_dir,
							.database_bytes_max = settings->database_bytes_max };
	struct store_thread *store = NULL;
	struct daemon *daemon = NULL;
	struct pinned pinned;
	int status = EXIT_FAILED;

	if (spawner_start(&store_settings.spawner_socket) ||
	    pinned_open(&pinned, settings->pin_dir, settings->run_dir))
		return EXIT_FAILED;
	store_settings.pinned = &pinned;
	privilege_raise_descriptors();
	privilege_lock_memory();
	log_never_wait();
	if (!daemon_open(&daemon, &pinned, rules, settings->pin_dir) && !privilege_drop_all() &&
	    !store_thread_open(&store, &store_settings) && !store_thread_begin_run(store, rules) &&
	    !store_thread_start(store) && !confine())
		status = daemon_run(daemon, store);
	store_thread_stop(store, END_PATIENCE_NS);
	daemon_close(daemon);
	pinned_close(&pinned);
	return status;
}

int main(int count, char **words)
{
	struct rule_set rules = { 0 };
	struct settings settings;
	int status;

	log_init("bourdond");
	close_range(STDERR_FILENO + 1, ~0U, 0); /* whoever started us may have left something open */
	umask(0027);
	status = settings_parse(&settings, count, words);
	if (status != OPTIONS_RUN)
		return status;
	if (!settings.check_config && privilege_become(settings.user, settings.group))
		return EXIT_FAILED;
	if (read_configuration(&settings, &rules))
		return EXIT_FAILED;
	if (!rules.count)
		log_warning("there is no rule in %s: nothing will be captured", settings.rules_dir);
	status = settings.check_config ? EXIT_DONE : run(&settings, &rules);
	rules_free(&rules);
	return status;
}
