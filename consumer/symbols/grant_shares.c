/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/grant_shares.h"

#include <stddef.h>

/* Longer than the longest pause after which a file that was put off is asked for again. */
#define WAIT_NS (10 * CLOCK_SECOND_NS)
/* Targets that end while they wait hold back those behind them by no more than this many requests. */
#define AHEAD_MAX (GRANT_ASKED.burst / 2)

static bool waits(const struct grant_share *share, uint64_t now_ns)
{
	return share->turn && now_ns - share->asked_ns < WAIT_NS;
}

/* To forget it changes nothing. */
static bool is_idle(const struct grant_share *share, uint64_t now_ns)
{
	return !waits(share, now_ns) && share->full_ns <= now_ns;
}

/* Most requests are of the same target as the one before. Returns NULL if there is no room. */
static struct grant_share *find_or_add(struct grant_shares *shares, uint32_t tgid, uint64_t started_ns,
				       uint64_t now_ns)
{
	uint32_t idle = shares->count;

	for (uint32_t i = 0; i < shares->count; i++) {
		uint32_t at = (shares->last + i) % shares->count;
		const struct grant_share *share = &shares->all[at];

		if (share->tgid == tgid && share->started_ns == started_ns) {
			shares->last = at;
			return &shares->all[at];
		}
		if (idle == shares->count && is_idle(share, now_ns))
			idle = at;
	}
	if (idle == GRANT_SHARES_MAX)
		return NULL;
	shares->count += idle == shares->count;
	shares->last = idle;
	shares->all[idle] = (struct grant_share){ .tgid = tgid, .started_ns = started_ns };
	return &shares->all[idle];
}

/* The number of targets that come before it. */
static uint32_t ahead_of(const struct grant_shares *shares, const struct grant_share *share, uint64_t now_ns)
{
	uint32_t ahead = 0;

	for (uint32_t i = 0; i < shares->count && ahead < AHEAD_MAX; i++)
		ahead += waits(&shares->all[i], now_ns) &&
			 (!share->turn || shares->all[i].turn < share->turn);
	return ahead;
}

/* A target that has used up its own share is in nobody's way. */
static void put_off(struct grant_shares *shares, struct grant_share *share, bool has_share, uint64_t now_ns)
{
	share->put_off++;
	share->asked_ns = now_ns;
	if (!has_share)
		share->turn = 0;
	else if (!share->turn)
		share->turn = ++shares->turns;
}

bool grant_shares_take(struct grant_shares *shares, uint32_t tgid, uint64_t started_ns, uint64_t now_ns)
{
	struct grant_share *share = find_or_add(shares, tgid, started_ns, now_ns);
	uint32_t left = rate_left(GRANT_ASKED, shares->full_ns, now_ns);
	bool has_share;

	if (!share)
		return false;
	if (!waits(share, now_ns))
		share->turn = 0;
	has_share = rate_left(GRANT_SHARE, share->full_ns, now_ns);
	if (!has_share || !left || left <= ahead_of(shares, share, now_ns)) {
		put_off(shares, share, has_share, now_ns);
		return false;
	}
	share->turn = 0;
	rate_take(GRANT_SHARE, &share->full_ns, now_ns);
	rate_take(GRANT_ASKED, &shares->full_ns, now_ns);
	return true;
}

bool grant_shares_are_spent(const struct grant_shares *shares, uint64_t now_ns)
{
	return !rate_left(GRANT_ASKED, shares->full_ns, now_ns);
}

uint32_t grant_shares_put_off(const struct grant_shares *shares)
{
	return shares->count ? shares->all[shares->last].put_off : 0;
}
