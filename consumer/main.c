/* SPDX-License-Identifier: GPL-2.0-only */
/* bourdond, the consumer. main() shows the order in which it drops its privileges. */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/confine/privilege.h"
#include "common/kernel/cgroup.h"
#include "common/sql/sql_files.h"
#include "common/store/machine.h"
#include "common/symbolizer/spawner.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/plural.h"
#include "consumer/confine.h"
#include "consumer/daemon.h"
#include "consumer/process/heap.h"
#include "consumer/process/journal.h"
#include "consumer/process/notify.h"
#include "consumer/process/own_usage.h"
#include "consumer/rules/configuration.h"
#include "consumer/rules/settings.h"
#include "consumer/worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_PATIENCE_NS 8000000000U /* shorter than the service manager's timeout */

static struct configuration *read_configuration(const struct settings *where)
{
	struct configuration *configuration = NULL;
	struct config_errors errors = { 0 };

	if (where->config_named && access(where->config, F_OK) && errno == ENOENT)
		log_info("%s does not exist; using the defaults", where->config);
	if (!configuration_read(where, &configuration, &errors) && !configuration->rules.count)
		log_warning(
			"no rules in %s: nothing will be captured; add a file there whose name ends in .conf",
			where->rules_dir);
	config_errors_log(&errors);
	config_errors_free(&errors);
	return configuration;
}

static void report_valid(const struct rule_set *rules)
{
	printf("configuration is valid: %zu %s in %zu %s\n", rules->count,
	       plural(rules->count, "rule", "rules"), rules->files, plural(rules->files, "file", "files"));
}

/*
 * Also locks the memory mapped so far and later, but not the rings between the two: the kernel never swaps
 * them.
 */
static int open_pins(const struct settings *where, struct kernel_objects *ret_kernel,
		     enum locked_memory *ret_locked)
{
	bool present;
	int result = kernel_objects_open(ret_kernel, where->pin_dir, where->run_dir);

	if (result < 0)
		return result;
	present = privilege_lock_present();
	result = kernel_objects_map(ret_kernel);
	if (result < 0)
		kernel_objects_close(ret_kernel);
	else
		*ret_locked = privilege_lock_future() && present ? LOCKED_ALL
			      : present                          ? LOCKED_PRESENT
								 : LOCKED_NONE;
	return result;
}

static int find_cgroup_mount(char **ret_mount)
{
	int result = cgroup_mount(ret_mount);

	if (result < 0)
		log_error("cgroup2: %s; remedy: mount -t cgroup2 cgroup2 /sys/fs/cgroup", strerror(-result));
	return result;
}

/* Takes ownership of the configuration. */
static int run(const struct settings *where, struct configuration *configuration, struct notify *notify)
{
	struct own_counters own_counters = { 0 };
	char machine[MACHINE_TEXT_BYTES];
	struct worker_settings worker_settings = {
		.where = where,
		.limits = { configuration->settings.database_bytes_max,
			    configuration->settings.database_age_ns_max,
			    configuration->settings.activity_age_ns_max,
			    configuration->settings.baseline_age_ns_max },
		.machine = machine_hash(MACHINE_ID_FILE, machine),
		.own_counters = &own_counters,
		.journal_socket = JOURNAL_SOCKET,
		.clock = &clock_of_kernel,
	};
	struct own_usage own_usage;
	struct confinement confinement = { 0 };
	struct daemon_settings daemon_settings = {
		.clock = &clock_of_kernel,
		.where = where,
		.own_counters = &own_counters,
		.notify = notify,
		.confinement = &confinement,
	};
	_cleanup_free_ char *mount = NULL;
	struct worker *worker = NULL;
	struct daemon *daemon = NULL;
	struct kernel_objects kernel;
	int status = EXIT_FAILED;

	if (find_cgroup_mount(&mount) || spawner_start(&daemon_settings.spawner_socket) ||
	    open_pins(where, &kernel, &confinement.locked_memory)) {
		configuration_free(configuration);
		return EXIT_FAILED;
	}
	own_usage_open(&own_usage);
	worker_settings.own_usage = daemon_settings.own_usage = &own_usage;
	worker_settings.kernel = daemon_settings.kernel = &kernel;
	worker_settings.spawner_socket = daemon_settings.spawner_socket;
	daemon_settings.cgroup_mount = mount;
	privilege_raise_descriptors();
	heap_start();
	log_never_wait();
	if (!daemon_open(&daemon, &daemon_settings, configuration) && !privilege_drop_all() &&
	    !confine_files(&configuration->settings, &kernel, mount, &confinement) &&
	    !worker_open(&worker, &worker_settings) && !worker_begin_run(worker, configuration) &&
	    !worker_start(worker) && !daemon_start_services(daemon) && !confine_calls(&confinement))
		status = daemon_run(daemon, worker);
	worker_stop(worker, END_PATIENCE_NS);
	daemon_close(daemon);
	kernel_objects_close(&kernel);
	own_usage_close(&own_usage);
	return status;
}

int main(int count, char **words)
{
	struct configuration *configuration;
	struct settings settings;
	struct notify notify;
	int status;

	log_init("bourdond");
	close_range(STDERR_FILENO + 1, ~0U, 0); /* the parent may have left descriptors open */
	umask(0027);
	sql_files_never_wait();
	status = settings_parse(&settings, count, words);
	if (status != OPTIONS_RUN)
		return status;
	if (!settings.check_config && privilege_become(settings.user, settings.group, settings.pin_dir))
		return EXIT_FAILED;
	configuration = read_configuration(&settings);
	if (!configuration)
		return EXIT_FAILED;
	if (settings.check_config) {
		report_valid(&configuration->rules);
		configuration_free(configuration);
		return EXIT_DONE;
	}
	notify_open(&notify);
	status = run(&settings, configuration, &notify);
	notify_close(&notify);
	return status;
}
