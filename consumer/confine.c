/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/confine.h"

#include "common/base/cleanup.h"
#include "common/confine/landlock.h"
#include "common/confine/seccomp.h"
#include "common/system/log.h"
#include "consumer/symbols/jit_map.h"
#include "policy/bourdond.h"

#include <libgen.h>
#include <string.h>

#define PLACES_OWN 13

/* The places that the consumer opens after its start, each with its purpose. */
static size_t list_own(const struct settings *settings, const struct kernel_objects *kernel,
		       const char *cgroup_mount, const char *config_dir, const char *metrics_dir,
		       struct landlock_place places[PLACES_OWN])
{
	const struct landlock_place own[] = {
		/*
		 * For a reload. Landlock takes a replaced file for another file, so the directory of
		 * bourdon.conf is allowed rather than the file. That rule covers rules.d, too, where it lies
		 * in the same directory.
		 */
		{ .path = config_dir, .uses = LANDLOCK_READ | LANDLOCK_LIST },
		{ .path = settings->rules_dir, .uses = LANDLOCK_READ | LANDLOCK_LIST },
		/* the iterators, opened for each walk */
		{ .fd = kernel->directory_fd, .uses = LANDLOCK_READ },
		/*
		 * PSI triggers are written; the kernel's statistics are read when a capture begins and ends
		 */
		{ .path = "/proc/pressure", .uses = LANDLOCK_READ | LANDLOCK_WRITE },
		{ .path = "/proc/vmstat", .uses = LANDLOCK_READ },
		{ .path = "/proc/stat", .uses = LANDLOCK_READ },
		{ .path = "/proc/diskstats", .uses = LANDLOCK_READ },
		{ .path = cgroup_mount, .uses = LANDLOCK_READ | LANDLOCK_LIST },
		/* without listing: a perf map's name follows from its process id */
		{ .path = JIT_MAP_DIRECTORY, .uses = LANDLOCK_READ },
		/* random numbers for SQLite */
		{ .path = "/dev/urandom", .uses = LANDLOCK_READ },
		{ .path = settings->state_dir,
		  .uses = LANDLOCK_READ | LANDLOCK_LIST | LANDLOCK_WRITE | LANDLOCK_MAKE },
		/* files of metrics; of the second there may be none yet */
		{ .path = METRICS_DIRECTORY, .uses = LANDLOCK_WRITE | LANDLOCK_MAKE },
		{ .path = metrics_dir, .uses = LANDLOCK_WRITE | LANDLOCK_MAKE },
	};

	_Static_assert(ARRAY_SIZE(own) == PLACES_OWN, "room for all of them");
	memcpy(places, own, sizeof(own));
	return PLACES_OWN;
}

int confine_files(const struct settings *settings, const struct kernel_objects *kernel,
		  const char *cgroup_mount, struct confinement *confinement)
{
	struct landlock_place places[PLACES_OWN + DIRECTORIES_MAX];
	_cleanup_free_ char *config = strdup(settings->config), *directories = strdup(settings->directories);
	char *rest = directories, *directory, metrics[INI_LINE_BYTES + 1];
	size_t count;
	int result;

	if (!config || !directories)
		return -ENOMEM;
	settings_directory_of(settings->metrics_file, metrics);
	count = list_own(settings, kernel, cgroup_mount, dirname(config),
			 *metrics ? metrics : METRICS_DIRECTORY, places);
	while ((directory = strsep(&rest, " ")))
		if (*directory)
			places[count++] = (struct landlock_place){ .path = directory, .uses = LANDLOCK_READ };
	result = landlock_confine(places, count);
	if (result < 0)
		return log_failed(result, "cannot install the Landlock rules: %s", strerror(-result));
	if (!result)
		log_warning(
			"the kernel has no Landlock: only file permissions limit which files bourdond can open; add landlock to lsm= on the kernel's command line");
	confinement->landlock_abi = result;
	snprintf(confinement->directories, sizeof(confinement->directories), "%s", settings->directories);
	snprintf(confinement->metrics_file, sizeof(confinement->metrics_file), "%s", settings->metrics_file);
	return 0;
}

bool confine_calls_are_only_named(const struct confinement *confinement)
{
	return !strcmp(confinement->filtered, "log");
}

int confine_calls(struct confinement *confinement)
{
	int result = seccomp_install(&bourdond_policy, true);

	if (result < 0)
		log_error("cannot install the system-call filter: %s", strerror(-result));
	else
		confinement->filtered = bourdond_policy.otherwise;
	if (!result)
		log_info("confined: Landlock version %d, other system calls: %s", confinement->landlock_abi,
			 confinement->filtered);
	if (!result && confine_calls_are_only_named(confinement))
		log_warning(
			"built with SECCOMP_LOG: system calls that the policies do not list are logged and allowed");
	return result;
}
