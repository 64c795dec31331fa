/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wakes.h owns what a capture knows of wake-ups: for how long threads of targets were blocked, where, and who ended it.
 * Intervals off CPU of the same thread, stack, lock and waker are one row.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_WAKES_H
#define BOURDON_CONSUMER_CAPTURE_WAKES_H

#include "common/abi/abi.h"
#include "common/base/hash_index.h"

#include <stdbool.h>
#include <stdint.h>

enum wake_role {
	WAKE_BY_TARGET,
	WAKE_BY_OTHER,
	WAKE_BY_KERNEL,
	WAKE_BY_INTERRUPT,
	WAKE_BY_DENIED, /* root's policy denies the waker's process */
	WAKE_BY_NONE,   /* the thread still waits, or its wake-up was not seen */
	WAKE_ROLES,
};

extern const char *const wake_role_names[WAKE_ROLES];

#define WAKE_UNKNOWN UINT32_MAX

/* Rows are one whose members before `intervals` are the same: there is no padding before it. */
struct wake {
	/* who waited: positions in the capture's processes and stacks */
	uint32_t process, stack;
	uint64_t lock; /* sample.lock */
	uint32_t tid;
	char thread[ABI_COMM_BYTES];
	/* who ended it, or WAKE_UNKNOWN and a tid of 0 */
	uint32_t waker_process, waker_tid;
	char waker[ABI_COMM_BYTES];
	uint32_t waker_stack; /* or WAKE_UNKNOWN */
	uint8_t stall;
	bool releases; /* the waker gave a futex free */
	uint16_t role; /* enum wake_role */
	uint32_t intervals;
	uint64_t waited_ns;
};

/* An interval whose waker's stack comes in the next slot of the ring. */
struct wake_pending {
	struct wake wake;
	uint64_t left_ns, woken_ns;
	bool is_pending;
};

struct wakes {
	struct wake *rows;
	uint32_t count, room;
	struct hash_index index;
	struct wake_pending *pending; /* of each ring; NULL: none has had one */
};

void wakes_free(struct wakes *wakes);

/* Adds the intervals to the row that is like `wake`, or, unless it is_full, to a new one. Returns 0; -ENOSPC; or -ENOMEM. */
int wakes_add(struct wakes *wakes, const struct wake *wake, bool is_full);

/* The same of the interval that waits for the stack of its waker in that ring, with what came of it. 0 also without one. */
int wakes_add_pending(struct wakes *wakes, uint32_t ring, bool is_full);

/* Gives back the memory that only adding needs. */
void wakes_settle(struct wakes *wakes);

#endif
