/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * psi.h handles Pressure Stall Information: it reads pressure files, arms triggers, and computes from running
 * totals whether a threshold was crossed (kernel/sched/psi.c, Documentation/accounting/psi.rst).
 * Room: what /proc, /sys and cgroup2 tell. Any program, any thread; it reads there and arms triggers.
 */
#ifndef BOURDON_COMMON_KERNEL_PSI_H
#define BOURDON_COMMON_KERNEL_PSI_H

#include "common/kernel/psi_resource.h"

#include <stdbool.h>
#include <stdint.h>

struct psi_totals {
	uint64_t us[PSI_KINDS];
	bool has[PSI_KINDS]; /* system-wide cpu has no "full" before Linux 5.13; irq has no "some" */
};

/* Parses the text of a pressure file. Returns 0 or -EBADMSG. */
int psi_parse(const char *text, struct psi_totals *ret_totals);

/*
 * Opens the pressure file of a cgroup below the mount point of cgroup2; with `cgroup` NULL, of the whole
 * system. Returns the descriptor or -errno.
 */
int psi_open(const char *mount, const char *cgroup, enum psi_resource resource, int flags);

/*
 * Reads an open pressure file. Returns 0, -ENODEV if its cgroup is gone, -EOPNOTSUPP if booted with psi=0, or
 * -errno.
 */
int psi_read(int fd, struct psi_totals *ret_totals);

/* Reads for how many us some thread of the machine was stalled so far. Returns 0, or -errno where that is not known. */
int psi_read_machine(enum psi_resource resource, uint64_t *ret_some_us);

/* Arms a trigger on a file opened read-write. Returns 0 or -errno; -EINVAL if the kernel refuses it. */
int psi_arm(int fd, enum psi_kind kind, uint64_t stall_us, uint64_t window_us);

/*
 * Stall within the last window, from totals that are read over time. Between two readings the stall is
 * assumed to grow evenly, as the kernel does.
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

/* Adds a total read at `at_ns` (CLOCK_MONOTONIC). */
void psi_window_add(struct psi_window *window, uint64_t at_ns, uint64_t total_us);

/*
 * Returns the growth in us within the last `windows` windows, for a total of `total_us` at `at_ns`; less if
 * the readings do not reach back that far.
 */
uint64_t psi_window_growth(const struct psi_window *window, unsigned int windows, uint64_t at_ns,
			   uint64_t total_us);

/*
 * As psi_window_growth(), but counts all growth between the two readings around the window's start: an upper
 * bound, however rarely the total was read.
 */
uint64_t psi_window_growth_most(const struct psi_window *window, unsigned int windows, uint64_t at_ns,
				uint64_t total_us);

/*
 * When the stall began that has crossed a threshold of `stall_us` at the newest reading (CLOCK_MONOTONIC). The stall
 * reaches back over all readings between which the total grew at a quarter of the threshold's rate or more, and over
 * pauses within the last window. Between the first two of them it is assumed to be without a break, up to the later one: so the result
 * is late by at most their distance.
 */
uint64_t psi_window_onset(const struct psi_window *window, uint64_t stall_us);

#endif
