/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_layouts.h owns the layouts in the map unwind_maps: the mappings of a process with the place of each
 * file's table. Processes that map the same share one: a program and what it forks.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_LAYOUTS_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_LAYOUTS_H

#include "common/abi.h"
#include "consumer/unwind/unwind_maps.h"

#include <nettle/sha2.h>
#include <stdint.h>

struct unwind_layout {
	uint8_t digest[SHA256_DIGEST_SIZE]; /* of what was written */
	uint32_t first, count;              /* in the map */
	uint32_t users;
};

struct unwind_layouts;

/* `room` is how many mappings the map has. 0 or -ENOMEM. */
int unwind_layouts_new(struct unwind_layouts **ret_layouts, const struct unwind_maps *maps, uint32_t room);
/* Accepts NULL. All layouts end with it. */
void unwind_layouts_free(struct unwind_layouts *layouts);

/*
 * The layout with exactly these mappings, UNWIND_MAPPINGS_MAX at most; it is written where there is none. The
 * caller gives it back with unwind_layout_release(). NULL where there is no room, no memory, or no writing.
 */
struct unwind_layout *unwind_layouts_acquire(struct unwind_layouts *layouts,
					     const struct unwind_mapping *mappings, uint32_t count);

/* Accepts NULL. A layout that nobody uses stays until unwind_layouts_sweep(). */
void unwind_layout_release(struct unwind_layout *layout);

/* Frees the layouts that nobody uses: at the end of a pass, when no entry of a process leads to one. */
void unwind_layouts_sweep(struct unwind_layouts *layouts);

#endif
