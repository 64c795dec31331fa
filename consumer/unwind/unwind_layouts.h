/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_layouts.h owns the layouts in the map unwind_maps. A layout lists the mappings of a process, each
 * with the place of its file's table. Processes with the same mappings share one layout: a program and its
 * forks.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_LAYOUTS_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_LAYOUTS_H

#include "common/abi/abi.h"
#include "consumer/unwind/unwind_maps.h"

#include <nettle/sha2.h>
#include <stdint.h>

struct unwind_layout {
	uint8_t digest[SHA256_DIGEST_SIZE]; /* of its mappings, as written */
	uint32_t first, count;              /* position in the map */
	uint32_t users;
	unsigned int pass; /* the caller's: the last pass that counted it */
};

struct unwind_layouts;

/* `room` is the map's size in mappings. Returns 0 or -ENOMEM. */
int unwind_layouts_new(struct unwind_layouts **ret_layouts, const struct unwind_maps *maps, uint32_t room);
/* Accepts NULL. Frees all layouts. */
void unwind_layouts_free(struct unwind_layouts *layouts);

/*
 * Returns the layout with exactly these mappings, UNWIND_MAPPINGS_MAX at most. Writes it into the map if there
 * is none and it has at most `new_most` mappings. The caller ends with unwind_layout_release(). Returns NULL
 * without room or memory, or if the write fails.
 */
struct unwind_layout *unwind_layouts_acquire(struct unwind_layouts *layouts,
					     const struct unwind_mapping *mappings, uint32_t count,
					     uint64_t new_most);

/* Accepts NULL. An unused layout stays until unwind_layouts_sweep(). */
void unwind_layout_release(struct unwind_layout *layout);

/* Frees the unused layouts. Call it at the end of a pass, when no process entry refers to them. */
void unwind_layouts_sweep(struct unwind_layouts *layouts);

#endif
