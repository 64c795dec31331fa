/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shares.h divides a few places among users and rules: captures, live views, connections. An owner may have half of what the
 * others leave, so that whoever comes next still finds a place. For an owner that has nothing, the owner that has most makes
 * way. Root finds a place in a reserve, too, and so do rules that have nothing, or one place whose holder is fixed.
 */
#ifndef BOURDON_CONSUMER_PROCESS_SHARES_H
#define BOURDON_CONSUMER_PROCESS_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#define SHARES_PLACES_MAX 16U

enum share_kind { SHARE_OF_ROOT, SHARE_OF_USER, SHARE_OF_RULE };

struct share_owner {
	enum share_kind kind;
	uint32_t id;   /* uid, or the id of a rule */
	bool is_alone; /* no other rule wants places: it may have all */
};

struct share_place {
	struct share_owner owner;
	uint64_t holder; /* by which the caller knows what has the place */
	bool is_fixed;   /* it does not make way any more */
	bool is_ending;  /* it made way: its owner's share is without it */
};

struct shares {
	uint32_t total;
	uint32_t
		of_users; /* users other than root have so many of them at most; and root, besides; 0: no limit */
	uint32_t reserve;  /* beyond `total` */
	bool at_once;      /* who makes way is gone before the next one has its place */
	bool oldest_first; /* an owner's oldest makes way, also for a new one of its own; else its newest */
	struct share_place places[SHARES_PLACES_MAX]; /* in the order in which they were taken */
	uint32_t count;
};

bool share_is_of(const struct share_owner *owner, const struct share_owner *other);

/*
 * Whether the owner may have a place. If a holder has to make way for that, it is *ret_loser; else that is 0. The caller ends
 * the loser, with shares_make_way() or shares_give(), and takes the place.
 */
bool shares_allow(const struct shares *shares, const struct share_owner *owner, uint64_t *ret_loser);

/* How many places the holder's owner has, without others that made way. */
uint32_t shares_held_with(struct shares *shares, uint64_t holder);

/* `holder` is not 0 and has no place yet. */
void shares_take(struct shares *shares, const struct share_owner *owner, uint64_t holder);

/* Nothing happens where the holder has no place. */
void shares_fix(struct shares *shares, uint64_t holder);
void shares_make_way(struct shares *shares, uint64_t holder);
void shares_give(struct shares *shares, uint64_t holder);

#endif
