/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/wakes.h"

#include "common/base/array.h"

#define WAKES_MAX 8192U /* 1 MiB */

const char *const wake_role_names[WAKE_ROLES] = {
	[WAKE_BY_TARGET] = "target",       [WAKE_BY_OTHER] = "other",   [WAKE_BY_KERNEL] = "kernel",
	[WAKE_BY_INTERRUPT] = "interrupt", [WAKE_BY_DENIED] = "denied", [WAKE_BY_NONE] = "none",
};

void wakes_free(struct wakes *wakes)
{
	free(wakes->rows);
	free(wakes->pending);
	hash_index_free(&wakes->index);
	*wakes = (struct wakes){ 0 };
}

int wakes_add(struct wakes *wakes, const struct wake *wake, bool is_full)
{
	const struct hash_keys keys = HASH_KEYS_BEFORE(wakes->rows, intervals);
	uint32_t found = hash_index_find_key(&wakes->index, keys, wake);
	int result;

	if (found != HASH_INDEX_NONE) {
		wakes->rows[found].intervals += wake->intervals;
		wakes->rows[found].waited_ns += wake->waited_ns;
		return 0;
	}
	if (wakes->count == WAKES_MAX || is_full)
		return -ENOSPC;
	result = hash_index_intern(&wakes->index, keys, wakes->rows, wakes->count, wakes->room, wake, &found);
	if (result < 0)
		return result;
	wakes->rows[found] = *wake;
	return 0;
}

int wakes_add_pending(struct wakes *wakes, uint32_t ring, bool is_full)
{
	struct wake_pending *pending = wakes->pending ? &wakes->pending[ring] : NULL;

	if (!pending || !pending->is_pending)
		return 0;
	pending->is_pending = false;
	return wakes_add(wakes, &pending->wake, is_full);
}

void wakes_settle(struct wakes *wakes)
{
	hash_index_free(&wakes->index);
	free(wakes->pending);
	wakes->pending = NULL;
	array_fit(wakes->rows, wakes->count, wakes->room);
}
