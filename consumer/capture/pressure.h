/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pressure.h owns the running totals of PSI while a capture is taken: of the whole system and of the cgroup
 * that fired, so that what was recorded can be held against what the kernel counted.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_PRESSURE_H
#define BOURDON_CONSUMER_CAPTURE_PRESSURE_H

#include "common/psi.h"

/* The last has no files: what PSI would say of the targets alone. */
enum pressure_scope { PRESSURE_SYSTEM, PRESSURE_CGROUP, PRESSURE_TARGETS, PRESSURE_SCOPES };

#define PRESSURE_RESOURCES (PSI_IO + 1) /* cpu, memory, io */

struct pressure_reading {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	struct psi_totals totals;
	enum pressure_scope scope;
	enum psi_resource resource;
};

/* One that was never opened is PRESSURE_EMPTY. */
struct pressure {
	int fds[PRESSURE_TARGETS][PRESSURE_RESOURCES];
	struct pressure_reading *readings;
	uint32_t count, room;
};

#define PRESSURE_EMPTY                                                                                       \
	(struct pressure)                                                                                    \
	{                                                                                                    \
		.fds = { { -1, -1, -1 }, { -1, -1, -1 } }                                                    \
	}

/*
 * Opens the files of the system and, unless it is NULL, of a cgroup below the mount point of cgroup2. What
 * cannot be opened has no readings.
 */
void pressure_open(struct pressure *pressure, const char *mount, const char *cgroup);

/* Reads all of them. The readings of one call have one time. */
void pressure_read(struct pressure *pressure, uint64_t now_ns);

/* Adds what somebody else counted, of the resources in their order. */
void pressure_add_targets(struct pressure *pressure, uint64_t now_ns,
			  const uint64_t some_us[PRESSURE_RESOURCES]);

/* Closes the files; the readings stay. */
void pressure_close(struct pressure *pressure);
void pressure_free(struct pressure *pressure);

#endif
