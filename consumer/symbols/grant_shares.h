/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_shares.h decides which requests for files bourdon-grant gets. Each costs a process, and a target has as
 * many files that only bourdon-grant can open as it likes. So there is a limit for all targets together, one
 * for each, and an order: a target whose request was put off comes before those that asked after it. Users come
 * in turn, and within its user's turn each target: a user has as many targets as it likes. A target for which
 * bourdon-grant hangs pauses, and with several of them their user does.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_GRANT_SHARES_H
#define BOURDON_CONSUMER_SYMBOLS_GRANT_SHARES_H

#include "common/protocol/grant_limits.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one target. Half of all, so that one target leaves the other half to those that come after it. */
#define GRANT_SHARE                                                                                          \
	((struct rate){ .burst = GRANT_ASKED.burst / 2, .per_second = GRANT_ASKED.per_second / 2 })

/*
 * Targets that are remembered: as long as they wait or pause, or have not got their whole share back. If more
 * targets than these need bourdon-grant at once, the user that has most of them loses one for a user that has
 * fewer. The rest are put off without a place in the order.
 */
#define GRANT_SHARES_MAX 1024U

struct grant_target {
	uint32_t tgid, uid;
	uint64_t started_ns;
};

/* Each pause is twice as long as the one before, from 1 to 32 s. */
struct grant_pause {
	uint64_t length_ns, until_ns;
};

/* A place in an order. */
struct grant_turn {
	uint64_t number;   /* the lowest comes first; 0: it does not wait */
	uint64_t asked_ns; /* the last request that was put off */
};

struct grant_share {
	struct grant_target target;
	uint32_t put_off;       /* requests */
	uint32_t user;          /* position in users[] */
	uint64_t full_ns;       /* of GRANT_SHARE */
	struct grant_turn turn; /* among its user's targets */
	struct grant_pause pause;
};

struct grant_user {
	uint32_t uid;
	uint32_t shares;        /* of its targets; 0: the place is free */
	struct grant_turn turn; /* among the users */
	struct grant_pause pause;
	struct grant_target hung; /* the last one for which bourdon-grant hung */
	uint64_t hung_ns;
};

/* Begins as zeros. */
struct grant_shares {
	uint64_t full_ns; /* of GRANT_ASKED */
	uint64_t turns;
	uint32_t count, last; /* `last`: the share that was last looked at */
	uint32_t users_count;
	struct grant_share all[GRANT_SHARES_MAX];
	struct grant_user users[GRANT_SHARES_MAX];
};

/*
 * Whether a request for a file of this target may be sent at `now_ns` (CLOCK_MONOTONIC). If so, it is counted as
 * sent. Otherwise ask again: the target keeps its place in the order for 10 s.
 */
bool grant_shares_take(struct grant_shares *shares, const struct grant_target *target, uint64_t now_ns);

/*
 * bourdon-grant did not answer the last request that was taken: its target pauses, and its user as well if
 * another of its targets did the same in the last minute. Each hung request keeps the worker thread waiting.
 */
void grant_shares_note_hung(struct grant_shares *shares, uint64_t now_ns);

/* Whether no target's request may be sent now. */
bool grant_shares_are_spent(const struct grant_shares *shares, uint64_t now_ns);

/* How many requests of the target that was last looked at were put off, because there were too many. */
uint32_t grant_shares_put_off(const struct grant_shares *shares);

#endif
