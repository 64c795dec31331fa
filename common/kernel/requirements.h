/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * requirements.h checks what bourdon needs of a machine and any user can read: the kernel and its settings.
 */
#ifndef BOURDON_COMMON_KERNEL_REQUIREMENTS_H
#define BOURDON_COMMON_KERNEL_REQUIREMENTS_H

#include "common/system/findings.h"

/* The machine to check. A test passes its own directory as the root. */
struct machine {
	int root_fd;
	char release[65], version[65]; /* uname(2) */
	int landlock_abi;              /* 0: none */
};

/* Opens the machine that this program runs on. Returns 0 or -errno; the caller ends with machine_close(). */
int machine_open(struct machine *ret_machine);
void machine_close(struct machine *machine);

/*
 * Returns kernel.perf_event_paranoid, 0 if unreadable. From 3 on, Debian's kernels require CAP_SYS_ADMIN for
 * perf events.
 */
#define PERF_PARANOID_DEBIAN 3
long requirements_perf_paranoid(const struct machine *machine);

/*
 * Adds a finding for each requirement; GRADE_FAILED if bourdon cannot work without it. With `thorough`,
 * also visits every cgroup.
 */
void requirements_check(const struct machine *machine, bool thorough, struct findings *findings);

#endif
