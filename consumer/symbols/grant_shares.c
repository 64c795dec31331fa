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

/* ---- turns ---- */

static bool waits(const struct grant_turn *turn, uint64_t now_ns)
{
	return turn->number && now_ns - turn->asked_ns < WAIT_NS;
}

static bool comes_before(const struct grant_turn *other, const struct grant_turn *own, uint64_t now_ns)
{
	return waits(other, now_ns) && (!own->number || other->number < own->number);
}

/* ---- users and shares ---- */

static bool is_same_target(const struct grant_target *one, const struct grant_target *other)
{
	return one->tgid == other->tgid && one->started_ns == other->started_ns;
}

/* To forget it changes nothing. */
static bool is_idle(const struct grant_share *share, uint64_t now_ns)
{
	return !waits(&share->turn, now_ns) && share->full_ns <= now_ns &&
	       !is_remembered(&share->pause, now_ns);
}

static bool user_is_idle(const struct grant_user *user, uint64_t now_ns)
{
	return !user->shares && !waits(&user->turn, now_ns) && !is_remembered(&user->pause, now_ns);
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

		if (is_same_target(&share->target, target)) {
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

		ahead += user != own && comes_before(&user->turn, &own->turn, now_ns);
	}
	for (uint32_t i = 0; i < shares->count && ahead < AHEAD_MAX; i++) {
		const struct grant_share *other = &shares->all[i];

		ahead += other != share && other->user == share->user &&
			 comes_before(&other->turn, &share->turn, now_ns);
	}
	return ahead;
}

static void wait_for_turn(struct grant_shares *shares, struct grant_turn *turn, uint64_t now_ns)
{
	turn->asked_ns = now_ns;
	if (!turn->number)
		turn->number = ++shares->turns;
}

/* A target that has used up its own share is in nobody's way. */
static void put_off(struct grant_shares *shares, struct grant_share *share, bool has_share, uint64_t now_ns)
{
	share->put_off++;
	if (!has_share) {
		share->turn.number = 0;
		return;
	}
	wait_for_turn(shares, &share->turn, now_ns);
	wait_for_turn(shares, &shares->users[share->user].turn, now_ns);
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
	if (!waits(&share->turn, now_ns))
		share->turn.number = 0;
	if (!waits(&user->turn, now_ns))
		user->turn.number = 0;
	has_share = rate_left(GRANT_SHARE, share->full_ns, now_ns);
	if (!has_share || !left || left <= ahead_of(shares, share, now_ns)) {
		put_off(shares, share, has_share, now_ns);
		return false;
	}
	share->turn.number = user->turn.number = 0;
	rate_take(GRANT_SHARE, &share->full_ns, now_ns);
	rate_take(GRANT_ASKED, &shares->full_ns, now_ns);
	return true;
}

void grant_shares_note_hung(struct grant_shares *shares, uint64_t now_ns)
{
	struct grant_share *share = &shares->all[shares->last];
	struct grant_user *user = &shares->users[share->user];
	bool another = user->hung_ns && now_ns - user->hung_ns < REMEMBERED_NS &&
		       !is_same_target(&user->hung, &share->target);

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
