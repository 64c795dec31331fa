/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ask_limit.h owns how often users may ask: each has a budget, and so have all users together, so that one who asks without
 * pause does not keep the others from asking. The budget of all does not bind root.
 */
#ifndef BOURDON_CONSUMER_ASK_LIMIT_H
#define BOURDON_CONSUMER_ASK_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define ASK_ALL 4U /* all users together may ask so many times as often as one */

#define ASK_USERS 16U /* whose budgets are kept: of those who asked last */

/* Initially zeros. */
struct ask_budget {
	uint64_t full_ns; /* when the budget is full again */
	uint32_t uid;
};

/* A user may ask so often at once, and then once in so many ns. */
struct ask_limit {
	uint32_t burst;
	uint64_t every_ns;
	struct ask_budget users[ASK_USERS];
	struct ask_budget all;
};

/* Captures and live views. */
#define ASK_BURST 10U
#define ASK_EVERY_NS 3000000000ULL
#define ASK_LIMIT ((struct ask_limit){ .burst = ASK_BURST, .every_ns = ASK_EVERY_NS })

/* Whether the user may ask at `now_ns` (CLOCK_MONOTONIC); if so, that is charged. */
bool ask_allowed(struct ask_limit *limit, uint32_t uid, uint64_t now_ns);

#endif
