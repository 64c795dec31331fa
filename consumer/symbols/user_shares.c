/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/user_shares.h"

#include <stdlib.h>

/* A user has up to 65,536 uids in a user namespace; 128 KiB for those with processes of their own suffice. */
#define USERS_MAX 4096U

struct user_share *user_shares_of(struct user_shares *shares, uint32_t uid)
{
	uint32_t found = hash_index_find_key(&shares->index, HASH_KEYS(shares->shares, uid), &uid);

	if (found == HASH_INDEX_NONE &&
	    (shares->count == USERS_MAX ||
	     hash_index_intern(&shares->index, HASH_KEYS(shares->shares, uid), shares->shares, shares->count,
			       shares->room, &uid, &found) < 0))
		return &shares->rest;
	return &shares->shares[found];
}

void user_shares_clear(struct user_shares *shares)
{
	free(shares->shares);
	hash_index_free(&shares->index);
	*shares = (struct user_shares){ 0 };
}
