/* SPDX-License-Identifier: GPL-2.0-only */
/* sums.h adds up what of a victim's wait is charged to whom: by what the parties are, and the largest of them. */
#ifndef BOURDON_VERDICT_SUMS_H
#define BOURDON_VERDICT_SUMS_H

#include "common/verdict/verdict.h"

/* A set of waits has these. */
#define WAIT(account) (1U << (account))

/* What of a wait is charged to parties of one sort, and the largest of them. */
struct sum {
	uint64_t ns;
	const struct verdict_party *first;
};

struct sums {
	struct sum own, interrupts, steal, quota, limit, device;
	uint64_t neighbours_ns;
	const struct verdict_party *neighbours[VERDICT_BLAMED_MAX]; /* with a name, the largest first */
	uint64_t neighbours_count;                                  /* of all */
	uint64_t unknown_ns, denied_ns, idle_ns;                    /* denied and idle are in unknown */
};

/* Of the parties of this victim in these waits. */
struct sums sums_make(const struct verdict_facts *facts, const struct verdict_victim *victim,
		      unsigned int waits);

/* Another host is not known by its name, but it is known that the network was waited for. */
bool sums_is_blamed(const struct verdict_party *party);

/* Neither the victim itself, nor the machine. */
bool sums_is_neighbour(const struct verdict_party *party);

/* At most 100; 0 of nothing. */
double sums_percent(uint64_t part, uint64_t all);

#endif
