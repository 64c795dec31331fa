/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_maps.h owns access to the kernel's unwind maps (abi.h, unwind_*). It goes through two function pointers, so tests
 * need no kernel.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_MAPS_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_MAPS_H

#include "common/protocol/pins.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_MAPS_A_CALL 1024U /* elements that are read at most */

struct unwind_maps {
	/* Writes elements[i] at keys[i]. Returns 0 or -errno. */
	int (*write)(void *user, enum pin_map map, const uint32_t *keys, const void *elements,
		     uint32_t count);
	/* Reads `count` adjacent elements, the first at the key `first`. Returns 0 or -errno. */
	int (*read)(void *user, enum pin_map map, uint32_t first, void *ret_elements, uint32_t count);
	void *user;
};

/* Writes to the kernel's maps. `map_fds`, of kernel_objects.h, outlives the result. */
struct unwind_maps unwind_maps_of_kernel(const int map_fds[PIN_MAPS]);

/*
 * Writes `count` adjacent elements of `element_bytes` each, the first at the key `first`. Returns 0 or
 * -errno.
 */
int unwind_maps_write_from(const struct unwind_maps *maps, enum pin_map map, uint32_t first,
			   const void *elements, size_t element_bytes, uint32_t count);

#endif
