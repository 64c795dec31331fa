/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine_load.h owns what the line of totals above the screen's table says: how busy the machine was in each second that the
 * history keeps, from /proc alone.
 */
#ifndef BOURDON_REPORT_LIVE_MACHINE_LOAD_H
#define BOURDON_REPORT_LIVE_MACHINE_LOAD_H

#include "common/kernel/cpu_times.h"
#include "common/kernel/disk_bytes.h"
#include "common/kernel/psi_resource.h"
#include "report/live/thread_history.h"

#define LOAD_RESOURCES (PSI_IO + 1) /* cpu, memory, io */

/* Since the note before. What is not known is negative. */
struct machine_load {
	int64_t at_ns;             /* of the history's second */
	float cpu, memory;         /* in use: 0 to 1 */
	double disk_bytes;         /* read and written, a second */
	float psi[LOAD_RESOURCES]; /* in which at least one thread was stalled: 0 to 1 */
};

/* Running sums. */
struct load_reading {
	uint64_t now_ns; /* CLOCK_MONOTONIC; 0: none was made */
	struct cpu_times cpu;
	struct disk_bytes disk;
	uint64_t psi_us[LOAD_RESOURCES];
	bool has_psi[LOAD_RESOURCES];
};

struct machine_loads {
	struct load_reading before;
	struct machine_load loads[HISTORY_SECONDS]; /* a ring */
	uint32_t noted;
};

/* Notes the load of the second that ends now and began at at_ns, wall clock. The first note has none. */
void machine_load_note(struct machine_loads *loads, int64_t at_ns);

/* The load of the second that began then; NULL: it is not kept. */
const struct machine_load *machine_load_find(const struct machine_loads *loads, int64_t at_ns);

/* Of the text of /proc/meminfo: the part of the memory that is not available to programs; negative: it does not say. */
float machine_load_memory(const char *meminfo);

/* What lies between two readings; a sum that has fallen is not known. */
struct machine_load machine_load_between(const struct load_reading *before, const struct load_reading *after);

#endif
