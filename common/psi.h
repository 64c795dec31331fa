/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * psi.h owns Pressure Stall Information: reading a pressure file, arming a trigger on one, and telling from
 * running totals whether a threshold was crossed (kernel/sched/psi.c, Documentation/accounting/psi.rst).
 */
#ifndef BOURDON_PSI_H
#define BOURDON_PSI_H

#include "common/psi_resource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psi_totals {
	uint64_t us[PSI_KINDS];
	bool has[PSI_KINDS]; /* system-wide cpu has no "full" before 5.13, irq no "some" */
};

/* Parses the text of a pressure file. 0 or -EBADMSG. */
int psi_parse(const char *text, struct psi_totals *ret_totals);

/*
 * Opens the pressure file of a cgroup below the mount point of cgroup2, or with NULL that of the whole
 * system. The descriptor or -errno.
 */
int psi_open(const char *mount, const char *cgroup, enum psi_resource resource, int flags);

/* Reads a pressure file that is open. 0, -ENODEV when its cgroup is gone, -EOPNOTSUPP (psi=0) or -errno. */
int psi_read(int fd, struct psi_totals *ret_totals);

/* Arms a trigger on a file that is open read-write. 0 or -errno: -EINVAL where the kernel refuses it. */
int psi_arm(int fd, enum psi_kind kind, uint64_t stall_us, uint64_t window_us);

/*
 * The stall within the last window, from totals that are added as time goes. What lies between two readings
 * is taken as even, as the kernel does.
 */
#define PSI_READINGS 16

struct psi_window {
	uint64_t window_ns;
	struct {
		uint64_t at_ns, total_us;
	} readings[PSI_READINGS];
	unsigned int newest, count;
};

void psi_window_begin(struct psi_window *window, uint64_t window_us);

/* Adds a total that was read at `at_ns` (CLOCK_MONOTONIC). */
void psi_window_add(struct psi_window *window, uint64_t at_ns, uint64_t total_us);

/*
 * How much a total that is `total_us` at `at_ns` has grown within the last `windows` windows, in us; less,
 * where the readings do not go back so far.
 */
uint64_t psi_window_growth(const struct psi_window *window, unsigned int windows, uint64_t at_ns,
			   uint64_t total_us);

/*
 * The same with all that grew between the two readings around the window's beginning: as much as it can have
 * been, however rarely the total was read.
 */
uint64_t psi_window_growth_most(const struct psi_window *window, unsigned int windows, uint64_t at_ns,
				uint64_t total_us);

#endif
