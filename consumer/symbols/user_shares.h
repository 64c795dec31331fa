/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_shares.h counts what each user has of something that all users share, so that one of them cannot have
 * all of it.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_USER_SHARES_H
#define BOURDON_CONSUMER_SYMBOLS_USER_SHARES_H

#include "common/base/hash_index.h"

#include <stdint.h>

#define USER_SHARE_KINDS 4

struct user_share {
	uint32_t uid;
	uint64_t used[USER_SHARE_KINDS]; /* the meaning is the owner's */
};

/* Begins as zeros. */
struct user_shares {
	struct user_share *shares;
	uint32_t count, room;
	struct hash_index index;
	struct user_share rest; /* of users beyond the limit, and those without memory, together */
};

/* Returns the share of a user, which begins with nothing. Valid until the next call. */
struct user_share *user_shares_of(struct user_shares *shares, uint32_t uid);

/* Forgets all users. */
void user_shares_clear(struct user_shares *shares);

#endif
