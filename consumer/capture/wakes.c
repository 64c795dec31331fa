/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/wakes.h"

#include "common/base/array.h"

#include <string.h>

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

struct wanted {
	const struct wakes *wakes;
	const struct wake *wake;
};

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const struct wake *there = &wanted->wakes->rows[position], *wake = wanted->wake;

	return there->process == wake->process && there->stack == wake->stack && there->tid == wake->tid &&
	       there->lock == wake->lock && there->stall == wake->stall && there->role == wake->role &&
	       there->releases == wake->releases && there->waker_process == wake->waker_process &&
	       there->waker_tid == wake->waker_tid && there->waker_stack == wake->waker_stack &&
	       !memcmp(there->thread, wake->thread, sizeof(wake->thread)) &&
	       !memcmp(there->waker, wake->waker, sizeof(wake->waker));
}

int wakes_add(struct wakes *wakes, const struct wake *wake, bool is_full)
{
	const uint64_t key[] = { (uint64_t)wake->process << 32 | wake->stack,
				 (uint64_t)wake->tid << 32 | wake->waker_tid,
				 (uint64_t)wake->waker_process << 32 | wake->waker_stack, wake->lock };
	uint32_t hash = hash_bytes(key, sizeof(key));
	const struct wanted wanted = { wakes, wake };
	uint32_t found = hash_index_find(&wakes->index, hash, is_wanted, &wanted);
	int result;

	if (found != HASH_INDEX_NONE) {
		wakes->rows[found].intervals += wake->intervals;
		wakes->rows[found].waited_ns += wake->waited_ns;
		return 0;
	}
	if (wakes->count == WAKES_MAX || is_full)
		return -ENOSPC;
	result = array_make_room(wakes->rows, wakes->count, wakes->room, 1U);
	if (!result)
		result = hash_index_add(&wakes->index, hash, wakes->count);
	if (!result)
		wakes->rows[wakes->count++] = *wake;
	return result;
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
