/* SPDX-License-Identifier: GPL-2.0-only */
/* bourdon-load: the privileged loader. It runs for a third of a second and leaves the pins and two files. */
#include "common/cleanup.h"
#include "common/files.h"
#include "common/log.h"
#include "common/options.h"
#include "common/pins.h"
#include "common/seccomp.h"
#include "common/units.h"
#include "loader/load.h"
#include "loader/policy_file.h"
#include "loader/preflight.h"
#include "loader/readers_pin.h"
#include "loader/unload.h"
#include "policy/bourdon-load.h"

#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#define HZ_MAX 1000
#define HZ_DEFAULT 47U
#define RING_BYTES_MIN (16UL << 10)
#define RING_BYTES_MAX (256UL << 20)
#define TARGETS_MAX (1U << 20)
#define UNWIND_BYTES_MIN (1UL << 20)
#define UNWIND_BYTES_MAX (1UL << 30)

struct arguments {
	const char *check, *json, *unload, *status;
	const char *policy, *pin_dir, *run_dir, *group, *readers, *hz, *ring_size, *targets, *unwind_memory,
		*quiet_after;
};

/*
 * The kernel and this program build other names from the path (links, PIN_DIR_loading), so it must be plain
 * and absolute.
 */
static bool is_pin_path(const char *path)
{
	const char *name = strrchr(path, '/');

	for (const char *at = path; *at; at++)
		if (*at <= ' ' || *at == ';' || *at == 0x7f)
			return false; /* the manifest has no way to write it */
	return path[0] == '/' && name[1] && !strchr(name, '.') && !strstr(path, "//") && strlen(path) < 200;
}

/* Applies root's policy to what the command line asks for. Returns an exit status. */
static int read_policy(const struct arguments *arguments, struct programs_settings *settings)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	const char *path = arguments->policy ? arguments->policy : POLICY_DEFAULT;

	if (policy_file_read(path, arguments->policy, &settings->policy, &errors)) {
		config_errors_log(&errors);
		log_error("policy.conf is invalid; nothing was loaded");
		return EXIT_FAILED;
	}
	if (arguments->hz && settings->hz > settings->policy.max_rate) {
		log_error("--hz %s: %s allows %u (max_rate)", arguments->hz, path, settings->policy.max_rate);
		return EXIT_FAILED;
	}
	if (settings->hz > settings->policy.max_rate)
		settings->hz = settings->policy.max_rate;
	if (settings->policy.unwinding != POLICY_UNWIND_DWARF)
		settings->unwind_bytes = 0;
	return EXIT_DONE;
}

static int fill_settings(const struct arguments *arguments, struct load_settings *settings)
{
	unsigned long long number;

	settings->pin_dir = arguments->pin_dir;
	settings->run_dir = arguments->run_dir;
	if (!is_pin_path(arguments->pin_dir)) {
		log_error("--pin-dir %s: give an absolute path without blanks whose last part has no dot",
			  arguments->pin_dir);
		return EXIT_USAGE;
	}
	if (arguments->hz && options_number(arguments->hz, 1, HZ_MAX, &number)) {
		log_error("--hz %s: give a whole number from 1 to %d", arguments->hz, HZ_MAX);
		return EXIT_USAGE;
	}
	settings->programs.hz = arguments->hz ? (unsigned int)number : HZ_DEFAULT;
	if (options_number(arguments->targets, 1, TARGETS_MAX, &number)) {
		log_error("--targets %s: give a whole number from 1 to %u", arguments->targets, TARGETS_MAX);
		return EXIT_USAGE;
	}
	settings->programs.targets = (unsigned int)number;
	if (units_size(arguments->ring_size, &settings->programs.ring_bytes) ||
	    settings->programs.ring_bytes < RING_BYTES_MIN ||
	    settings->programs.ring_bytes > RING_BYTES_MAX) {
		log_error("--ring-size %s: give a size with its unit, from 16KiB to 256MiB",
			  arguments->ring_size);
		return EXIT_USAGE;
	}
	if (strcmp(arguments->unwind_memory, "0") != 0 &&
	    (units_size(arguments->unwind_memory, &settings->programs.unwind_bytes) ||
	     settings->programs.unwind_bytes < UNWIND_BYTES_MIN ||
	     settings->programs.unwind_bytes > UNWIND_BYTES_MAX)) {
		log_error("--unwind-memory %s: give a size with its unit, from 1MiB to 1GiB, or 0",
			  arguments->unwind_memory);
		return EXIT_USAGE;
	}
	if (units_duration(arguments->quiet_after, &settings->programs.quiet_after_ns) ||
	    !settings->programs.quiet_after_ns || settings->programs.quiet_after_ns > INT64_MAX) {
		log_error("--quiet-after %s: give a duration with its unit, such as 30s",
			  arguments->quiet_after);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

/*
 * Runs before the filter is installed: the C library may load a module to look up account names, and that
 * module may make any system call.
 */
static int read_policy_and_accounts(const struct arguments *arguments, struct load_settings *settings)
{
	if (!arguments->check && account_group(arguments->group, &settings->gid)) {
		log_error("--group %s: no such group; make it, or name another", arguments->group);
		return EXIT_FAILED;
	}
	if (!arguments->check && readers_pin_is_possible(arguments->run_dir)) {
		settings->has_readers = !account_group(arguments->readers, &settings->readers);
		if (!settings->has_readers) {
			log_error("--readers %s: no such group; make it, or name another",
				  arguments->readers);
			return EXIT_FAILED;
		}
	}
	return read_policy(arguments, &settings->programs);
}

static bool needs_sys_admin(const struct arguments *arguments)
{
	if (arguments->status)
		return false;
	return arguments->unload ? unload_needs_sys_admin(arguments->pin_dir, arguments->run_dir)
				 : preflight_needs_sys_admin(arguments->pin_dir);
}

static int confine(const struct arguments *arguments)
{
	int result = needs_sys_admin(arguments) ? 0 : preflight_drop_sys_admin();

	if (result < 0) {
		log_error("cannot give up CAP_SYS_ADMIN, which is not needed: %s", strerror(-result));
		return EXIT_FAILED;
	}
	result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
	if (!result)
		result = seccomp_install(&bourdon_load_policy, false);
	if (!result)
		return EXIT_DONE;
	log_error("cannot install the system-call filter: %s", strerror(-result));
	return EXIT_FAILED;
}

static int load(struct load_settings *settings)
{
	int status = preflight_pass(settings->pin_dir, &settings->mounted_bpffs);

	return status == EXIT_DONE ? load_run(settings) : status;
}

static int parse_arguments(struct arguments *ret_arguments, int count, char **words)
{
	struct arguments arguments = { .pin_dir = PIN_DIRECTORY_DEFAULT,
				       .run_dir = RUN_DIRECTORY_DEFAULT,
				       .group = "bourdon",
				       .readers = READERS_GROUP,
				       .ring_size = "1MiB",
				       .targets = "16384",
				       .unwind_memory = "16MiB",
				       .quiet_after = "30s" };
	const struct option_spec options[] = {
		{ "check", NULL, "check whether this machine can run bourdon; leaves nothing loaded",
		  &arguments.check },
		{ "json", NULL, "with --check: for scripts", &arguments.json },
		{ "unload", NULL, "remove every trace of a load", &arguments.unload },
		{ "status", NULL, "show what is loaded", &arguments.status },
		{ "pin-dir", "DIR", "where to pin (" PIN_DIRECTORY_DEFAULT ")", &arguments.pin_dir },
		{ "run-dir", "DIR", "manifest and kernel symbols (" RUN_DIRECTORY_DEFAULT ")",
		  &arguments.run_dir },
		{ "group", "GROUP", "group that may open the pins (bourdon)", &arguments.group },
		{ "readers", "GROUP",
		  "group that may read the threads in RUN_DIR/" READERS_DIRECTORY " (" READERS_GROUP ")",
		  &arguments.readers },
		{ "policy", "F", "root's policy (" POLICY_DEFAULT ", which may be missing)",
		  &arguments.policy },
		{ "hz", "N", "on-CPU samples per second and CPU (47)", &arguments.hz },
		{ "ring-size", "SIZE", "size of each CPU's sample ring (1MiB)", &arguments.ring_size },
		{ "targets", "N", "maximum number of processes sampled at once (16384)", &arguments.targets },
		{ "unwind-memory", "SIZE",
		  "memory for unwind tables; 0: unwind by frame pointers only (16MiB)",
		  &arguments.unwind_memory },
		{ "quiet-after", "TIME", "stop sampling this long after the consumer's last heartbeat (30s)",
		  &arguments.quiet_after },
	};
	const struct command_spec command = { "bourdon-load",
					      "[--check [--json] | --unload | --status] [OPTION...]",
					      "Loads bourdon's kernel programs, pins them, and exits.",
					      "bourdon-load --group adm --hz 97",
					      options,
					      ARRAY_SIZE(options) };
	int unexpected, status = options_parse(&command, count, words, &unexpected);

	if (status != OPTIONS_RUN)
		return status;
	if (unexpected || !!arguments.check + !!arguments.unload + !!arguments.status > 1) {
		log_error("give at most one of --check, --unload and --status, and no other words");
		return EXIT_USAGE;
	}
	if (arguments.json && !arguments.check) {
		log_error("--json goes with --check");
		return EXIT_USAGE;
	}
	*ret_arguments = arguments;
	return OPTIONS_RUN;
}

int main(int count, char **words)
{
	struct load_settings settings = { 0 };
	struct arguments arguments;
	int status;

	log_init("bourdon-load");
	status = parse_arguments(&arguments, count, words);
	if (status != OPTIONS_RUN)
		return status;
	status = fill_settings(&arguments, &settings);
	if (status == EXIT_DONE && !arguments.unload && !arguments.status)
		status = read_policy_and_accounts(&arguments, &settings);
	if (status == EXIT_DONE)
		status = confine(&arguments);
	if (status != EXIT_DONE)
		return status;
	if (arguments.unload)
		return unload_run(settings.pin_dir, settings.run_dir);
	if (arguments.status)
		return load_status_run(settings.pin_dir, settings.run_dir);
	if (arguments.check)
		return preflight_report(settings.pin_dir, settings.programs.hz, arguments.json);
	return load(&settings);
}
