/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * requirements.h owns what bourdon needs of a machine and anyone may look at: the kernel and its settings.
 */
#ifndef BOURDON_REQUIREMENTS_H
#define BOURDON_REQUIREMENTS_H

#include "common/findings.h"

/* What the answers come from. A test puts a directory of its own in place of the root. */
struct machine {
	int root_fd;
	char release[65], version[65]; /* uname(2) */
	int landlock_abi;              /* 0: none */
};

/* The machine that this runs on. 0 or -errno; the caller ends with machine_close(). */
int machine_open(struct machine *ret_machine);
void machine_close(struct machine *machine);

/* kernel.perf_event_paranoid; 0 where it cannot be read. From 3 on Debian's kernels want CAP_SYS_ADMIN. */
#define PERF_PARANOID_DEBIAN 3
long requirements_perf_paranoid(const struct machine *machine);

/*
 * Adds a finding for each requirement. VERDICT_FAILED is for what bourdon cannot do without. With `thorough`
 * that includes what takes a walk over all cgroups.
 */
void requirements_check(const struct machine *machine, bool thorough, struct findings *findings);

#endif
