/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_tables.h owns what is in the maps by which the programs unwind user stacks (abi.h, unwind_*): a table
 * for each file that targets execute, compiled by the symbolizer, and for each process which of them lie
 * where. It waits for files and for the symbolizer: for the store thread only.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_TABLES_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_TABLES_H

#include "consumer/process/kernel_objects.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mappings.h"

#include <stdatomic.h>
#include <stdbool.h>

struct unwind_tables;

/* How it stands, for any thread to read. */
struct unwind_gauges {
	atomic_uint_fast64_t modules;          /* with a table */
	atomic_uint_fast64_t modules_without;  /* whose stacks are unwound by frame pointers */
	atomic_uint_fast64_t modules_no_room;  /* of those, for want of room: --unwind-memory */
	atomic_uint_fast64_t rows;             /* in all tables */
	atomic_uint_fast64_t bytes, bytes_max; /* of rows, in the map; 0: there are no tables at all */
	atomic_uint_fast64_t processes;        /* with tables */
	atomic_uint_fast64_t processes_no_room;
	atomic_uint_fast64_t pending; /* 1: there is more to do, in a second */
};

/*
 * Before confinement: it makes a copy of the vDSO. `kernel` and `gauges` outlive it. 0 or -errno. With tables
 * of no size (bourdon-load --unwind-memory 0) it does nothing, ever.
 */
int unwind_tables_open(struct unwind_tables **ret_tables, const struct kernel_objects *kernel,
		       int spawner_socket, struct unwind_gauges *gauges);
void unwind_tables_close(struct unwind_tables *tables);

/*
 * Makes the maps agree with what the last read of the mappings has shown: builds tables for files that are
 * new, until `deadline_ns` (CLOCK_MONOTONIC), and lets go of what is not there any more. True: there is more
 * to do.
 */
bool unwind_tables_follow(struct unwind_tables *tables, const struct mappings *mappings,
			  struct mapped_files *files, uint64_t deadline_ns);

#endif
