/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_maps.h"

#include <bpf/bpf.h>

#define KEYS_A_CALL 1024U

static int write_kernel(void *user, enum pin_map map, const uint32_t *keys, const void *elements,
			uint32_t count)
{
	const int *map_fds = user;

	return bpf_map_update_batch(map_fds[map], keys, elements, &count, NULL);
}

struct unwind_maps unwind_maps_of_kernel(const int map_fds[PIN_MAPS])
{
	return (struct unwind_maps){ write_kernel, (void *)map_fds };
}

int unwind_maps_write_from(const struct unwind_maps *maps, enum pin_map map, uint32_t first,
			   const void *elements, size_t element_bytes, uint32_t count)
{
	uint32_t keys[KEYS_A_CALL];
	int result = 0;

	for (uint32_t done = 0; done < count && !result;) {
		uint32_t part = count - done < KEYS_A_CALL ? count - done : KEYS_A_CALL;

		for (uint32_t i = 0; i < part; i++)
			keys[i] = first + done + i;
		result = maps->write(maps->user, map, keys, (const char *)elements + done * element_bytes,
				     part);
		done += part;
	}
	return result;
}
