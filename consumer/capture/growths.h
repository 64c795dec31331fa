/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * growths.h owns where the processes of a capture grew their memory: bytes by process and stack. They are no samples of time, so
 * they are in none of the capture's rows and sums.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_GROWTHS_H
#define BOURDON_CONSUMER_CAPTURE_GROWTHS_H

#include "common/base/hash_index.h"

#include <stdbool.h>
#include <stdint.h>

/* Rows are one whose members before `samples` are the same: positions in the capture's processes and stacks. */
struct growth_row {
	uint32_t process, stack;
	uint64_t samples, bytes;
};

struct growths {
	struct growth_row *rows;
	uint32_t count, room;
	struct hash_index index;
};

void growths_free(struct growths *growths);

/* Adds the bytes to the row that is like `row`, or, unless it is_full, to a new one. Returns 0; -ENOSPC; or -ENOMEM. */
int growths_add(struct growths *growths, const struct growth_row *row, bool is_full);

/* Gives back the memory that only adding needs. */
void growths_settle(struct growths *growths);

#endif
