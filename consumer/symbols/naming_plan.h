/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naming_plan.h owns the order in which the modules of a capture are named, and the frames of each: naming may
 * end at its deadline before it has seen all modules, and one user may have most of them.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAMING_PLAN_H
#define BOURDON_CONSUMER_SYMBOLS_NAMING_PLAN_H

#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

struct naming_plan {
	/*
	 * All modules, those of targets first: the users take turns, and the processes of a user take turns when it is
	 * theirs. The modules of a process are sorted by the weight of their heaviest frame. A frame weighs the time of all
	 * stacks that it is in.
	 */
	uint32_t *modules;
	uint32_t modules_count;
	uint32_t *frames; /* of module m: frames[first[m]] to frames[first[m + 1] - 1], the heaviest first */
	uint32_t *first;
};

/* Takes the time of sorting the frames and modules. Returns 0 or -ENOMEM; free it in either case. */
int naming_plan_make(const struct capture *capture, const struct resolved *resolved,
		     struct naming_plan *ret_plan);
void naming_plan_free(struct naming_plan *plan);

#endif
