/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/user_shares.h"

#include "common/base/array.h"

#include <stdlib.h>

/* A user has up to 65,536 uids in a user namespace; 128 KiB for those with processes of their own suffice. */
#define USERS_MAX 4096U

struct wanted {
	const struct user_shares *shares;
	uint32_t uid;
};

static bool is_user(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;

	return wanted->shares->shares[position].uid == wanted->uid;
}

struct user_share *user_shares_of(struct user_shares *shares, uint32_t uid)
{
	struct wanted wanted = { shares, uid };
	uint32_t hash = hash_bytes(&uid, sizeof(uid)),
		 found = hash_index_find(&shares->index, hash, is_user, &wanted);

	if (found != HASH_INDEX_NONE)
		return &shares->shares[found];
	if (shares->count == USERS_MAX || array_make_room(shares->shares, shares->count, shares->room, 1U) ||
	    hash_index_add(&shares->index, hash, shares->count))
		return &shares->rest;
	shares->shares[shares->count] = (struct user_share){ .uid = uid };
	return &shares->shares[shares->count++];
}

void user_shares_clear(struct user_shares *shares)
{
	free(shares->shares);
	hash_index_free(&shares->index);
	*shares = (struct user_shares){ 0 };
}
