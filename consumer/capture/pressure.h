/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pressure.h owns PSI's running totals during a capture, of the whole system and of the cgroup that fired, so
 * that the recorded stalls can be compared with the kernel's counts.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_PRESSURE_H
#define BOURDON_CONSUMER_CAPTURE_PRESSURE_H

#include "common/kernel/psi.h"

/* The last scope has no files: it is PSI's formula applied to the targets alone. */
enum pressure_scope { PRESSURE_SYSTEM, PRESSURE_CGROUP, PRESSURE_TARGETS, PRESSURE_SCOPES };

#define PRESSURE_RESOURCES (PSI_IO + 1) /* cpu, memory, io */

struct pressure_reading {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	struct psi_totals totals;
	enum pressure_scope scope;
	enum psi_resource resource;
};

/* The initial state; pressure_close() accepts it. */
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
 * Opens the system's pressure files and, unless `cgroup` is NULL, those of a cgroup below the mount point of
 * cgroup2. A file that cannot be opened has no readings.
 */
void pressure_open(struct pressure *pressure, const char *mount, const char *cgroup);

/* Reads all files. All readings of one call have the same time. */
void pressure_read(struct pressure *pressure, uint64_t now_ns);

/* Adds the totals of the targets, counted elsewhere, in the order of the resources. */
void pressure_add_targets(struct pressure *pressure, uint64_t now_ns,
			  const uint64_t some_us[PRESSURE_RESOURCES]);

/* Closes the files; the readings stay. */
void pressure_close(struct pressure *pressure);
void pressure_free(struct pressure *pressure);

#endif
