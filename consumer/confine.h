/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * confine.h owns the confinement of the consumer, which begins once it has dropped its capabilities: the
 * places where it may open files (Landlock), and the system calls that it may make (policy/bourdond.seccomp).
 */
#ifndef BOURDON_CONSUMER_CONFINE_H
#define BOURDON_CONSUMER_CONFINE_H

#include "common/confine/privilege.h"
#include "consumer/process/kernel_objects.h"
#include "consumer/rules/settings.h"

struct confinement {
	int landlock_abi; /* Landlock version in force; 0: none */
	enum locked_memory locked_memory;
	const char *filtered; /* what happens to a call that the policy does not list: "kill" or "log" */
	/* fixed until the process ends: directories of ELF files; a file of metrics, in whose directory others may be written */
	char directories[INI_LINE_BYTES + 1];
	char metrics_file[INI_LINE_BYTES + 1];
};

/*
 * Call it while the process has one thread. From then on files can be opened only below the directories of
 * `settings`, of the configuration, of the pins, of the database and of metrics, and where PSI, cgroups and perf
 * maps are. Logs a failure, and a kernel without Landlock. Returns 0 or -errno.
 */
int confine_files(const struct settings *settings, const struct kernel_objects *kernel,
		  const char *cgroup_mount, struct confinement *confinement);

/* Filters the system calls of all threads. Logs a failure. Returns 0 or -errno. */
int confine_calls(struct confinement *confinement);

/*
 * True in a build with SECCOMP_LOG, which finds gaps in the policies: unlisted calls are logged and allowed.
 */
bool confine_calls_are_only_named(const struct confinement *confinement);

#endif
