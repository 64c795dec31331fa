/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ask_limit.h owns how often captures may be asked for: each user has a budget, and so have all together, so that one user
 * who asks without pause does not keep the others from asking.
 */
#ifndef BOURDON_CONSUMER_ASK_LIMIT_H
#define BOURDON_CONSUMER_ASK_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* A user may ask so often at once, and then once in so many ns; all users together ASK_ALL times as often. */
#define ASK_BURST 10U
#define ASK_EVERY_NS 3000000000ULL
#define ASK_ALL 4U

#define ASK_USERS 16U /* whose budgets are kept: of those who asked last */

/* Initially zeros. */
struct ask_budget {
	uint64_t full_ns; /* when the budget is full again */
	uint32_t uid;
};

struct ask_limit {
	struct ask_budget users[ASK_USERS];
	struct ask_budget all;
};

/* Whether the user may ask at `now_ns` (CLOCK_MONOTONIC); if so, that is charged. */
bool ask_allowed(struct ask_limit *limit, uint32_t uid, uint64_t now_ns);

#endif
