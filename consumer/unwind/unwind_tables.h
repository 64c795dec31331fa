/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_tables.h owns the content of the maps by which the kernel programs unwind user stacks (abi.h,
 * unwind_*): a table for each file that targets execute, compiled by the symbolizer, and for each process the
 * places of the tables. It waits for files and for the symbolizer: for the worker thread only.
 *
 * Room: the unwind tables in the kernel's maps. The worker thread alone; it writes those maps, and has
 * symbolizers make tables.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_TABLES_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_TABLES_H

#include "consumer/process/kernel_objects.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mappings.h"
#include "consumer/unwind/table_cache.h"
#include "consumer/unwind/table_failures.h"
#include "consumer/unwind/table_workers.h"

#include <stdatomic.h>

struct unwind_tables;

/* The current state, for any thread to read. */
struct unwind_gauges {
	atomic_uint_fast64_t modules; /* files with a table */
	/* files without one: their frames are unwound by frame pointers */
	atomic_uint_fast64_t modules_without;
	atomic_uint_fast64_t modules_no_room;  /* files without one for want of room: --unwind-memory */
	atomic_uint_fast64_t rows;             /* rows of all tables */
	atomic_uint_fast64_t bytes, bytes_max; /* of rows, in use and in the map; 0: no tables at all */
	atomic_uint_fast64_t processes;        /* processes with tables */
	atomic_uint_fast64_t processes_no_room;
	atomic_uint_fast64_t processes_cut;      /* with more executable mappings than are used */
	atomic_uint_fast64_t pending;            /* 1: files wait for their tables */
	atomic_uint_fast64_t kept, kept_bytes;   /* tables in the state directory (file_cache.h) */
	atomic_uint_fast64_t loaded;             /* tables that were taken from there since the start */
	atomic_uint_fast64_t named, named_bytes; /* files with an index of names there (name_index.h) */
	struct table_failures *failures;         /* of files without a table, while the tables are open */
};

/* What the tables are made with. */
struct unwind_tools {
	int spawner_socket;
	struct cpu_budget *budget;
	struct file_cache *cache; /* or NULL */
};

/* What unwind_tables_follow() could not do in its time. */
enum unwind_left {
	UNWIND_LEFT_NOTHING,
	UNWIND_LEFT_PASS, /* files are to be opened: at the next scan */
	UNWIND_LEFT_WORK, /* symbolizers are at work: call it again soon */
};

/*
 * Copies the vDSO, so call it before confinement. `kernel`, the tools and `gauges` outlive it. Returns 0 or -errno. With tables of
 * no size (bourdon-load --unwind-memory 0) no function does anything.
 */
int unwind_tables_open(struct unwind_tables **ret_tables, const struct kernel_objects *kernel,
		       const struct unwind_tools *tools, struct unwind_gauges *gauges);
void unwind_tables_close(struct unwind_tables *tables);

/*
 * Updates the maps after a scan of the mappings, or to go on with what is left: has tables made for new files, until `deadline_ns`
 * (CLOCK_MONOTONIC), and removes what is not mapped any more. Processes with few mappings come first, and one user gets at
 * most half of the room for mappings and half of the time.
 */
enum unwind_left unwind_tables_follow(struct unwind_tables *tables, const struct mappings *mappings,
				      struct mapped_files *files, uint64_t deadline_ns);

#endif
