/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_modules.h owns the unwind tables: one for each file that a target executes, and one for the vDSO. It
 * decides when a table is built, rebuilt, retried or given up. It waits for files and for the symbolizer: for
 * the worker thread only.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_MODULES_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_MODULES_H

#include "consumer/unwind/table_cache.h"
#include "consumer/unwind/table_workers.h"
#include "consumer/unwind/unwind_pass.h"
#include "consumer/unwind/unwind_space.h"

struct unwind_modules;

/*
 * Copies the vDSO, so call it before confinement. `space`, `workers` and `cache` (which may be NULL) outlive the result. Returns
 * 0 or -errno.
 */
int unwind_modules_new(struct unwind_modules **ret_modules, struct unwind_space *space,
		       struct table_workers *workers, struct file_cache *cache);
/* Accepts NULL. Does not release the room in `space`. */
void unwind_modules_free(struct unwind_modules *modules);

/*
 * Returns the place of the table for a mapping, which is of a file with a path, or of the vDSO. If there is none, or if
 * the file may have changed, takes the table that is kept, or has the file wait for unwind_modules_work(). Returns NULL if there
 * is no table; pass->more says whether another pass may find one. Logs a table that cannot be had. Valid until the next call of
 * any function here.
 */
const struct unwind_place *unwind_modules_need(struct unwind_modules *modules, struct unwind_pass *pass,
					       const struct mapping *mapping);

/*
 * Has symbolizers make the tables of files that wait: those of the users who had least of their time first, of them those of
 * targets, and of them the smallest files. Returns at `until_ns` (CLOCK_MONOTONIC), or soon after the first table is made, or
 * given up, which it returns true for: another pass gives it to the processes. What is under way goes on until the next call.
 */
bool unwind_modules_work(struct unwind_modules *modules, struct unwind_pass *pass, uint64_t until_ns);

/* Files that wait, or whose table is being made. */
uint32_t unwind_modules_waiting(const struct unwind_modules *modules);

/* Call it at the end of a pass: releases the room that no process entry refers to any more. */
void unwind_modules_sweep(struct unwind_modules *modules, const struct unwind_pass *pass);

/* Releases all tables and forgets failures. The map must hold no process entry. */
void unwind_modules_empty(struct unwind_modules *modules);

struct unwind_modules_counts {
	uint64_t with;    /* files with a table */
	uint64_t without; /* files without one: their frames are unwound by frame pointers */
	uint64_t no_room; /* files without one for want of room */
	uint64_t rows;    /* rows of all tables */
};

struct unwind_modules_counts unwind_modules_count(const struct unwind_modules *modules);

#endif
