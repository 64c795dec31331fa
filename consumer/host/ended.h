/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ended.h owns what short-lived processes used: those that began and ended between two walks, summed by name, parent
 * and cgroup. The kernel programs sum; each walk takes their sums out.
 */
#ifndef BOURDON_CONSUMER_HOST_ENDED_H
#define BOURDON_CONSUMER_HOST_ENDED_H

#include "common/abi/abi.h"

#include <stdint.h>

struct ended_program {
	struct ended_key key;
	struct ended_sums sums;
	uint32_t walk; /* number of the walk that took it out */
};

/* Begins as zeros. */
struct ended {
	struct ended_program *programs; /* in the order of their walks */
	uint32_t count, room;
};

void ended_free(struct ended *ended);

/*
 * Adds a program of the walk `walk`. Where there are too many, those that ran least are summed, by walk, under the key
 * ENDED_OVERFLOW alone. Without memory it is left out.
 */
void ended_add(struct ended *ended, const struct ended_key *key, const struct ended_sums *sums,
	       uint32_t walk);

/* Takes everything out of the map `ended` of the kernel programs. */
void ended_collect(struct ended *ended, int map_fd, uint32_t walk);

/* Forgets programs of the walks up to `since`; UINT32_MAX: all. */
void ended_forget(struct ended *ended, uint32_t since);

void ended_sums_add(struct ended_sums *to, const struct ended_sums *more);

#endif
