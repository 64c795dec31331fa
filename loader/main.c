/* SPDX-License-Identifier: GPL-2.0-only */
/* bourdon-load: the privileged loader. It runs for a third of a second and leaves the pins and two files. */
#include "common/base/cleanup.h"
#include "common/confine/seccomp.h"
#include "common/system/files.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "loader/load_arguments.h"
#include "loader/policy_file.h"
#include "loader/preflight.h"
#include "loader/readers_pin.h"
#include "loader/unload.h"
#include "policy/bourdon-load.h"

#include <string.h>
#include <sys/prctl.h>

/* Applies root's policy to what the command line asks for. Returns an exit status. */
static int read_policy(const struct load_arguments *arguments, struct programs_settings *settings)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	const char *path = arguments->policy ? arguments->policy : POLICY_DEFAULT;

	if (policy_file_read(path, arguments->policy, &settings->policy, &errors)) {
		config_errors_log(&errors);
		return log_failed(EXIT_FAILED, "policy.conf is invalid; nothing was loaded");
	}
	if (arguments->hz && settings->hz > settings->policy.max_rate)
		return log_failed(EXIT_FAILED, "--hz %s: %s allows %u (max_rate)", arguments->hz, path,
				  settings->policy.max_rate);
	if (settings->hz > settings->policy.max_rate)
		settings->hz = settings->policy.max_rate;
	if (settings->policy.unwinding != POLICY_UNWIND_DWARF)
		settings->unwind_bytes = 0;
	return EXIT_DONE;
}

/*
 * Runs before the filter is installed: the C library may load a module to look up account names, and that
 * module may make any system call.
 */
static int read_policy_and_accounts(const struct load_arguments *arguments, struct load_settings *settings)
{
	if (!arguments->check && account_group(arguments->group, &settings->gid))
		return log_failed(EXIT_FAILED, "--group %s: no such group; make it, or name another",
				  arguments->group);
	if (!arguments->check && readers_pin_is_possible(arguments->run_dir)) {
		settings->has_readers = !account_group(arguments->readers, &settings->readers);
		if (!settings->has_readers)
			return log_failed(EXIT_FAILED,
					  "--readers %s: no such group; make it, or name another",
					  arguments->readers);
	}
	return read_policy(arguments, &settings->programs);
}

static bool needs_sys_admin(const struct load_arguments *arguments)
{
	if (arguments->status)
		return false;
	return arguments->unload ? unload_needs_sys_admin(arguments->pin_dir, arguments->run_dir)
				 : preflight_needs_sys_admin(arguments->pin_dir);
}

static int confine(const struct load_arguments *arguments)
{
	int result = needs_sys_admin(arguments) ? 0 : preflight_drop_sys_admin();

	if (result < 0)
		return log_failed(EXIT_FAILED, "cannot give up CAP_SYS_ADMIN, which is not needed: %s",
				  strerror(-result));
	result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
	if (!result)
		result = seccomp_install(&bourdon_load_policy, false);
	if (!result)
		return EXIT_DONE;
	return log_failed(EXIT_FAILED, "cannot install the system-call filter: %s", strerror(-result));
}

static int load(struct load_settings *settings)
{
	int status = preflight_pass(settings->pin_dir, &settings->mounted_bpffs);

	return status == EXIT_DONE ? load_run(settings) : status;
}

int main(int count, char **words)
{
	struct load_settings settings = { 0 };
	struct load_arguments arguments;
	int status;

	log_init("bourdon-load");
	status = load_arguments_parse(&arguments, count, words);
	if (status != OPTIONS_RUN)
		return status;
	status = load_arguments_settings(&arguments, &settings);
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
