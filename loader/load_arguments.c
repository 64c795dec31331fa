/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/load_arguments.h"

#include "common/base/cleanup.h"
#include "common/protocol/latency_groups.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/units.h"
#include "loader/policy_file.h"

#include <stdint.h>
#include <string.h>

#define HZ_MAX 1000
#define HZ_DEFAULT 47U
#define RING_BYTES_MIN (16UL << 10)
#define RING_BYTES_MAX (256UL << 20)
#define TARGETS_MAX (1U << 20)
#define UNWIND_BYTES_MIN (1UL << 20)
#define UNWIND_BYTES_MAX (1UL << 30)

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

int load_arguments_parse(struct load_arguments *ret_arguments, int count, char **words)
{
	struct load_arguments arguments = { .pin_dir = PIN_DIRECTORY_DEFAULT,
					    .run_dir = RUN_DIRECTORY_DEFAULT,
					    .group = PINS_GROUP,
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
		{ "group", "GROUP", "group that may open the pins (" PINS_GROUP ")", &arguments.group },
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
		{ "probes", "LIST",
		  "groups of latencies that rules may ask for: block,lock...; all or none (all but request)",
		  &arguments.probes },
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
	if (unexpected || !!arguments.check + !!arguments.unload + !!arguments.status > 1)
		return log_failed(EXIT_USAGE,
				  "give at most one of --check, --unload and --status, and no other words");
	if (arguments.json && !arguments.check)
		return log_failed(EXIT_USAGE, "--json goes with --check");
	*ret_arguments = arguments;
	return OPTIONS_RUN;
}

int load_arguments_settings(const struct load_arguments *arguments, struct load_settings *settings)
{
	unsigned long long number;
	const char *wrong;

	settings->pin_dir = arguments->pin_dir;
	settings->run_dir = arguments->run_dir;
	if (!is_pin_path(arguments->pin_dir))
		return log_failed(
			EXIT_USAGE,
			"--pin-dir %s: give an absolute path without blanks whose last part has no dot",
			arguments->pin_dir);
	if (arguments->hz && options_number(arguments->hz, 1, HZ_MAX, &number))
		return log_failed(EXIT_USAGE, "--hz %s: give a whole number from 1 to %d", arguments->hz,
				  HZ_MAX);
	settings->programs.hz = arguments->hz ? (unsigned int)number : HZ_DEFAULT;
	if (options_number(arguments->targets, 1, TARGETS_MAX, &number))
		return log_failed(EXIT_USAGE, "--targets %s: give a whole number from 1 to %u",
				  arguments->targets, TARGETS_MAX);
	settings->programs.targets = (unsigned int)number;
	if (units_size(arguments->ring_size, &settings->programs.ring_bytes) ||
	    settings->programs.ring_bytes < RING_BYTES_MIN || settings->programs.ring_bytes > RING_BYTES_MAX)
		return log_failed(EXIT_USAGE,
				  "--ring-size %s: give a size with its unit, from 16KiB to 256MiB",
				  arguments->ring_size);
	if (strcmp(arguments->unwind_memory, "0") != 0 &&
	    (units_size(arguments->unwind_memory, &settings->programs.unwind_bytes) ||
	     settings->programs.unwind_bytes < UNWIND_BYTES_MIN ||
	     settings->programs.unwind_bytes > UNWIND_BYTES_MAX))
		return log_failed(EXIT_USAGE,
				  "--unwind-memory %s: give a size with its unit, from 1MiB to 1GiB, or 0",
				  arguments->unwind_memory);
	settings->programs.probes = LATENCY_DEFAULT;
	wrong = arguments->probes ? latency_groups_parse(arguments->probes, &settings->programs.probes)
				  : NULL;
	if (wrong)
		return log_failed(
			EXIT_USAGE,
			"--probes %s: '%s' is no group; give runqueue, offcpu, block, lock, memory, softirq, exec, fork or request, parted by commas; or all, or none",
			arguments->probes, wrong);
	if (units_duration(arguments->quiet_after, &settings->programs.quiet_after_ns) ||
	    !settings->programs.quiet_after_ns || settings->programs.quiet_after_ns > INT64_MAX)
		return log_failed(EXIT_USAGE, "--quiet-after %s: give a duration with its unit, such as 30s",
				  arguments->quiet_after);
	return EXIT_DONE;
}
