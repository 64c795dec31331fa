/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/map_elements.h"

#include "common/base/cleanup.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

/* The kernel reads whole buckets, and fails with ENOSPC where one has more elements. */
#define READ_AT_ONCE 64U

int map_elements_read(int map_fd, size_t key_bytes, size_t value_bytes, map_element each, void *user)
{
	_cleanup_free_ char *keys = calloc(READ_AT_ONCE, key_bytes);
	_cleanup_free_ char *values = calloc(READ_AT_ONCE, value_bytes);
	__u32 batch;
	void *from = NULL;
	int ended, result = 0;

	if (!keys || !values)
		return -ENOMEM;
	do {
		__u32 count = READ_AT_ONCE;

		ended = bpf_map_lookup_batch(map_fd, from, &batch, keys, values, &count, NULL);
		if (ended < 0 && ended != -ENOENT)
			return ended;
		for (__u32 i = 0; i < count && !result; i++)
			result = each(user, keys + i * key_bytes, values + i * value_bytes);
		from = &batch;
	} while (!result && !ended);
	return result;
}
