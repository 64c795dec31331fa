/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/shares.h"

#include <string.h>

bool share_is_of(const struct share_owner *owner, const struct share_owner *other)
{
	return owner->kind == other->kind && owner->id == other->id;
}

static uint32_t held_by(const struct shares *shares, const struct share_owner *owner)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < shares->count; i++)
		held += share_is_of(&shares->places[i].owner, owner) && !shares->places[i].is_ending;
	return held;
}

static uint32_t held_by_users(const struct shares *shares)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < shares->count; i++)
		held += shares->places[i].owner.kind == SHARE_OF_USER && !shares->places[i].is_ending;
	return held;
}

/* Whether one place more is within half of what the others leave of so many, rounded up. */
static bool is_fair(uint32_t held, uint32_t by_others, uint32_t of)
{
	return by_others < of && held + 1 <= (of - by_others + 1) / 2;
}

static bool fits(const struct shares *shares, const struct share_owner *owner)
{
	uint32_t held = held_by(shares, owner);

	if (shares->count >= shares->total)
		return false;
	if (owner->kind == SHARE_OF_ROOT || owner->is_alone)
		return true;
	if (owner->kind == SHARE_OF_USER && shares->of_users)
		return is_fair(held, held_by_users(shares) - held, shares->of_users);
	return is_fair(held, shares->count - held, shares->total);
}

/* Whether a holder of `other`, which has so many places, makes way for the owner. */
static bool makes_way(const struct shares *shares, const struct share_owner *other, uint32_t its,
		      const struct share_owner *owner, uint32_t held)
{
	if (shares->oldest_first)
		return owner->kind == SHARE_OF_ROOT || other->kind != SHARE_OF_ROOT;
	if (owner->kind == SHARE_OF_ROOT)
		return other->kind != SHARE_OF_ROOT;
	if (owner->kind == SHARE_OF_USER && other->kind != SHARE_OF_USER)
		return false;
	return !held && (its > 1 || (owner->kind == SHARE_OF_RULE && other->kind != SHARE_OF_RULE));
}

/* Of the owner that has most; 0: nobody makes way. */
static uint64_t find_loser(const struct shares *shares, const struct share_owner *owner)
{
	uint32_t held = held_by(shares, owner), most = 0;
	uint64_t loser = 0;

	for (uint32_t i = 0; i < shares->count; i++) {
		const struct share_place *place = &shares->places[i];
		uint32_t its = held_by(shares, &place->owner);
		bool is_later = shares->oldest_first ? its > most : its >= most;

		if (place->is_fixed || place->is_ending || !is_later ||
		    !makes_way(shares, &place->owner, its, owner, held))
			continue;
		most = its;
		loser = place->holder;
	}
	return loser;
}

/* Whether nothing of the owner is at work, and at most one waits. */
static bool is_idle(const struct shares *shares, const struct share_owner *owner)
{
	uint32_t fixed = 0;

	for (uint32_t i = 0; i < shares->count; i++)
		fixed += share_is_of(&shares->places[i].owner, owner) && shares->places[i].is_fixed;
	return fixed < 2 && held_by(shares, owner) <= fixed;
}

bool shares_allow(const struct shares *shares, const struct share_owner *owner, uint64_t *ret_loser)
{
	uint32_t held = held_by(shares, owner);

	*ret_loser = 0;
	if (owner->kind == SHARE_OF_ROOT && shares->of_users && held >= shares->of_users)
		return false;
	if (fits(shares, owner))
		return true;
	*ret_loser = find_loser(shares, owner);
	if (shares->at_once)
		return *ret_loser != 0;
	if (shares->count < shares->total && *ret_loser)
		return true;
	if (owner->kind == SHARE_OF_ROOT || (owner->kind == SHARE_OF_RULE && is_idle(shares, owner)))
		return shares->count < shares->total + shares->reserve;
	return false;
}

void shares_take(struct shares *shares, const struct share_owner *owner, uint64_t holder)
{
	if (shares->count < SHARES_PLACES_MAX)
		shares->places[shares->count++] = (struct share_place){ .owner = *owner, .holder = holder };
}

static struct share_place *find(struct shares *shares, uint64_t holder)
{
	for (uint32_t i = 0; i < shares->count; i++)
		if (shares->places[i].holder == holder)
			return &shares->places[i];
	return NULL;
}

void shares_fix(struct shares *shares, uint64_t holder)
{
	struct share_place *place = find(shares, holder);

	if (place)
		place->is_fixed = true;
}

void shares_make_way(struct shares *shares, uint64_t holder)
{
	struct share_place *place = find(shares, holder);

	if (place)
		place->is_ending = true;
}

uint32_t shares_held_with(struct shares *shares, uint64_t holder)
{
	const struct share_place *place = find(shares, holder);

	return place ? held_by(shares, &place->owner) + place->is_ending : 0;
}

void shares_give(struct shares *shares, uint64_t holder)
{
	struct share_place *place = find(shares, holder);

	if (!place)
		return;
	shares->count--;
	memmove(place, place + 1, sizeof(*place) * (size_t)(shares->places + shares->count - place));
}
