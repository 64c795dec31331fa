/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_modules.h owns the unwind tables of files: one for each file that a target executes, and one for the
 * vDSO. It decides when a table is built, built again, retried or given up. It waits for files and for the
 * symbolizer: for the store thread only.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_MODULES_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_MODULES_H

#include "consumer/unwind/unwind_pass.h"
#include "consumer/unwind/unwind_space.h"

struct unwind_modules;

/* Makes a copy of the vDSO, which is possible before confinement only. `space` outlives the result. 0 or -errno. */
int unwind_modules_new(struct unwind_modules **ret_modules, struct unwind_space *space);
/* Accepts NULL. The room in `space` is not given back. */
void unwind_modules_free(struct unwind_modules *modules);

/*
 * The place of the table for a mapping, which is of a file with a path, or of the vDSO; builds the table where
 * there is none, or where the file may have changed. NULL where it has none, now or for good; pass->more says
 * whether another pass may change that. Logs a table that cannot be built. Valid until the next call of any
 * function here.
 */
const struct unwind_place *unwind_modules_need(struct unwind_modules *modules, struct unwind_pass *pass,
					       const struct mapping *mapping);

/* At the end of a pass: gives back what no entry of a process leads to any more. */
void unwind_modules_sweep(struct unwind_modules *modules, const struct unwind_pass *pass);

/* Gives all tables back, and forgets what failed. No entry of a process may be in the map. */
void unwind_modules_empty(struct unwind_modules *modules);

struct unwind_modules_counts {
	uint64_t with;    /* a table */
	uint64_t without; /* whose stacks are unwound by frame pointers */
	uint64_t no_room; /* of these, for want of room */
	uint64_t rows;    /* in all tables */
};

struct unwind_modules_counts unwind_modules_count(const struct unwind_modules *modules);

#endif
