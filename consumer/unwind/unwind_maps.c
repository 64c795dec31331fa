/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_maps.h"

#include <bpf/bpf.h>
#include <errno.h>

static int write_kernel(void *user, enum pin_map map, const uint32_t *keys, const void *elements,
			uint32_t count)
{
	const int *map_fds = user;

	return bpf_map_update_batch(map_fds[map], keys, elements, &count, NULL);
}

static int read_kernel(void *user, enum pin_map map, uint32_t first, void *ret_elements, uint32_t count)
{
	const int *map_fds = user;
	uint32_t keys[UNWIND_MAPS_A_CALL], before = first - 1, batch, taken = count;

	if (count > UNWIND_MAPS_A_CALL)
		return -E2BIG;
	/* the kernel goes on behind the key that it is given; at the end of the map it says -ENOENT with what there was */
	if (bpf_map_lookup_batch(map_fds[map], first ? &before : NULL, &batch, keys, ret_elements, &taken,
				 NULL) &&
	    errno != ENOENT)
		return -errno;
	return taken == count ? 0 : -ENOENT;
}

struct unwind_maps unwind_maps_of_kernel(const int map_fds[PIN_MAPS])
{
	return (struct unwind_maps){ write_kernel, read_kernel, (void *)map_fds };
}

int unwind_maps_write_from(const struct unwind_maps *maps, enum pin_map map, uint32_t first,
			   const void *elements, size_t element_bytes, uint32_t count)
{
	uint32_t keys[UNWIND_MAPS_A_CALL];
	int result = 0;

	for (uint32_t done = 0; done < count && !result;) {
		uint32_t part = count - done < UNWIND_MAPS_A_CALL ? count - done : UNWIND_MAPS_A_CALL;

		for (uint32_t i = 0; i < part; i++)
			keys[i] = first + done + i;
		result = maps->write(maps->user, map, keys, (const char *)elements + done * element_bytes,
				     part);
		done += part;
	}
	return result;
}
