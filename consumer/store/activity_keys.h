/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity_keys.h owns the rows of activity_key: each combination of words is one, which is found by its hash. Those of the
 * last minutes are remembered, so that most need no look-up in the database.
 */
#ifndef BOURDON_CONSUMER_STORE_ACTIVITY_KEYS_H
#define BOURDON_CONSUMER_STORE_ACTIVITY_KEYS_H

#include "common/base/hash_index.h"
#include "common/sql/sql.h"
#include "consumer/store/activity_rows.h"

#define ACTIVITY_KEYS_REMEMBERED 16384U

struct activity_keys {
	sqlite3_stmt *find_key, *add_key;
	struct remembered_key *keys;
	uint32_t count, room;
	struct hash_index index;
};

/* Return 0 or -errno, as all functions of sql.h do. sql_close() ends the statements. */
int activity_keys_prepare(struct sql *sql, struct activity_keys *ret_keys);

/* Stores the id of the key, 0: the database has none. */
int activity_keys_find(struct sql *sql, struct activity_keys *keys, const struct activity_words *words,
		       int64_t *ret_key_id);

/* Adds a key that the database does not have, and stores its id. */
int activity_keys_add(struct sql *sql, struct activity_keys *keys, const struct activity_words *words,
		      int64_t *ret_key_id);

/* Call it when keys were removed from the database, or a transaction that added some was rolled back. */
void activity_keys_forget(struct activity_keys *keys);

#endif
