/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kills.h keeps the last processes that the kernel killed because memory ran out, or that another process killed. Where
 * there is no room, the uid that has most of them loses its oldest: one user cannot drive out what concerns others.
 */
#ifndef BOURDON_CONSUMER_HOST_KILLS_H
#define BOURDON_CONSUMER_HOST_KILLS_H

#include "common/abi/abi.h"

#include <stdbool.h>
#include <stdint.h>

#define KILLS_MAX 256U

/* Begins as zeros. */
struct kills {
	struct kill_record *each; /* the oldest first */
	uint32_t count, room;
};

void kills_free(struct kills *kills);

/*
 * Adds a record. Where there are `most` already (KILLS_MAX at most), or without memory, one is left out: stores it in
 * ret_left_out and returns true.
 */
bool kills_add(struct kills *kills, const struct kill_record *record, uint32_t most,
	       struct kill_record *ret_left_out);

/*
 * Whether the process was killed for lack of memory: by the kernel, or by systemd-oomd. That one is known by its unit, in
 * which only root begins processes; `by_cgroup` is the killer's cgroup, NULL where it is not known.
 */
bool kill_is_by_oomd(const struct kill_record *record, const char *by_cgroup);
bool kill_is_for_memory(const struct kill_record *record, const char *by_cgroup);

#endif
