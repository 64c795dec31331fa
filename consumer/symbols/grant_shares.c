/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/grant_shares.h"

#include "consumer/watch/grant_client.h"

#include <stddef.h>

/* Longer than the longest pause after which a file that was put off is asked for again. */
#define WAIT_NS (10 * CLOCK_SECOND_NS)
/*
 * Users and targets that end while they wait hold back those behind them by no more than this many requests: for
 * two seconds, which is less than naming waits for files that were put off.
 */
#define AHEAD_MAX (2 * GRANT_ASKED.per_second)
/* How long a pause counts as the one before the next. */
#define REMEMBERED_NS (64 * CLOCK_SECOND_NS)

/* ---- pauses ---- */

static bool is_remembered(const struct grant_pause *pause, uint64_t now_ns)
{
	return pause->length_ns && now_ns < pause->until_ns + REMEMBERED_NS;
}

static void begin_pause(struct grant_pause *pause, uint64_t now_ns)
{
	pause->length_ns = grant_client_pause_ns(is_remembered(pause, now_ns) ? pause->length_ns : 0);
	pause->until_ns = now_ns + pause->length_ns;
}

/* ---- users and shares ---- */

static bool user_waits(const struct grant_user *user, uint64_t now_ns)
{
	return user->turn && now_ns - user->asked_ns < WAIT_NS;
}

static bool waits(const struct grant_share *share, uint64_t now_ns)
{
	return share->turn && now_ns - share->asked_ns < WAIT_NS;
}

/* To forget it changes nothing. */
static bool is_idle(const struct grant_share *share, uint64_t now_ns)
{
	return !waits(share, now_ns) && share->full_ns <= now_ns && !is_remembered(&share->pause, now_ns);
}

static bool user_is_idle(const struct grant_user *user, uint64_t now_ns)
{
	return !user->shares && !user_waits(user, now_ns) && !is_remembered(&user->pause, now_ns);
}

/* Returns a position, which is GRANT_SHARES_MAX if there is no room. */
static uint32_t find_or_add_user(struct grant_shares *shares, uint32_t uid, uint64_t now_ns)
{
	uint32_t idle = shares->users_count;

	for (uint32_t i = 0; i < shares->users_count; i++) {
		const struct grant_user *user = &shares->users[i];

		if (user->uid == uid)
			return i;
		if (idle == shares->users_count && user_is_idle(user, now_ns))
			idle = i;
	}
	if (idle == GRANT_SHARES_MAX)
		return idle;
	shares->users_count += idle == shares->users_count;
	shares->users[idle] = (struct grant_user){ .uid = uid };
	return idle;
}

/* Returns a share of the user that has most of them, if that has more than this one would have. */
static uint32_t take_from_the_greediest(const struct grant_shares *shares, uint32_t user)
{
	uint32_t greediest = user, place = 0;

	for (uint32_t i = 0; i < shares->users_count; i++)
		if (shares->users[i].shares > shares->users[greediest].shares)
			greediest = i;
	if (shares->users[greediest].shares <= shares->users[user].shares + 1)
		return GRANT_SHARES_MAX;
	while (shares->all[place].user != greediest)
		place++;
	return place;
}

/* Most requests are of the same target as the one before. Returns NULL if there is no room. */
static struct grant_share *find_or_add(struct grant_shares *shares, const struct grant_target *target,
				       uint64_t now_ns)
{
	uint32_t place = shares->count, user;

	for (uint32_t i = 0; i < shares->count; i++) {
		uint32_t at = (shares->last + i) % shares->count;
		const struct grant_share *share = &shares->all[at];

		if (share->target.tgid == target->tgid && share->target.started_ns == target->started_ns) {
			shares->last = at;
			return &shares->all[at];
		}
		if (place == shares->count && is_idle(share, now_ns))
			place = at;
	}
	user = find_or_add_user(shares, target->uid, now_ns);
	if (user == GRANT_SHARES_MAX)
		return NULL;
	if (place == GRANT_SHARES_MAX)
		place = take_from_the_greediest(shares, user);
	if (place == GRANT_SHARES_MAX)
		return NULL;
	if (place == shares->count)
		shares->count++;
	else
		shares->users[shares->all[place].user].shares--;
	shares->users[user].shares++;
	shares->last = place;
	shares->all[place] = (struct grant_share){ .target = *target, .user = user };
	return &shares->all[place];
}

/* ---- the order ---- */

/* The number of users that come before its user, and of that one's targets that come before it. */
static uint32_t ahead_of(const struct grant_shares *shares, const struct grant_share *share, uint64_t now_ns)
{
	const struct grant_user *own = &shares->users[share->user];
	uint32_t ahead = 0;

	for (uint32_t i = 0; i < shares->users_count && ahead < AHEAD_MAX; i++) {
		const struct grant_user *user = &shares->users[i];

		ahead += user != own && user_waits(user, now_ns) && (!own->turn || user->turn < own->turn);
	}
	for (uint32_t i = 0; i < shares->count && ahead < AHEAD_MAX; i++) {
		const struct grant_share *other = &shares->all[i];

		ahead += other != share && other->user == share->user && waits(other, now_ns) &&
			 (!share->turn || other->turn < share->turn);
	}
	return ahead;
}

/* A target that has used up its own share is in nobody's way. */
static void put_off(struct grant_shares *shares, struct grant_share *share, bool has_share, uint64_t now_ns)
{
	struct grant_user *user = &shares->users[share->user];

	share->put_off++;
	share->asked_ns = now_ns;
	if (!has_share) {
		share->turn = 0;
		return;
	}
	user->asked_ns = now_ns;
	if (!share->turn)
		share->turn = ++shares->turns;
	if (!user->turn)
		user->turn = ++shares->turns;
}

bool grant_shares_take(struct grant_shares *shares, const struct grant_target *target, uint64_t now_ns)
{
	struct grant_share *share = find_or_add(shares, target, now_ns);
	uint32_t left = rate_left(GRANT_ASKED, shares->full_ns, now_ns);
	struct grant_user *user;
	bool has_share;

	if (!share)
		return false;
	user = &shares->users[share->user];
	if (now_ns < share->pause.until_ns || now_ns < user->pause.until_ns)
		return false;
	if (!waits(share, now_ns))
		share->turn = 0;
	if (!user_waits(user, now_ns))
		user->turn = 0;
	has_share = rate_left(GRANT_SHARE, share->full_ns, now_ns);
	if (!has_share || !left || left <= ahead_of(shares, share, now_ns)) {
		put_off(shares, share, has_share, now_ns);
		return false;
	}
	share->turn = user->turn = 0;
	rate_take(GRANT_SHARE, &share->full_ns, now_ns);
	rate_take(GRANT_ASKED, &shares->full_ns, now_ns);
	return true;
}

void grant_shares_note_hung(struct grant_shares *shares, uint64_t now_ns)
{
	struct grant_share *share = &shares->all[shares->last];
	struct grant_user *user = &shares->users[share->user];

	bool another =
		user->hung_ns && now_ns - user->hung_ns < REMEMBERED_NS &&
		(user->hung.tgid != share->target.tgid || user->hung.started_ns != share->target.started_ns);

	begin_pause(&share->pause, now_ns);
	if (another || is_remembered(&user->pause, now_ns))
		begin_pause(&user->pause, now_ns);
	user->hung = share->target;
	user->hung_ns = now_ns;
}

bool grant_shares_are_spent(const struct grant_shares *shares, uint64_t now_ns)
{
	return !rate_left(GRANT_ASKED, shares->full_ns, now_ns);
}

uint32_t grant_shares_put_off(const struct grant_shares *shares)
{
	return shares->count ? shares->all[shares->last].put_off : 0;
}
