/* SPDX-License-Identifier: GPL-2.0-only */
/* table_cache.h keeps the unwind tables of files (file_cache.h) as the messages that they arrived in (table_stream.h). */
#ifndef BOURDON_CONSUMER_UNWIND_TABLE_CACHE_H
#define BOURDON_CONSUMER_UNWIND_TABLE_CACHE_H

#include "common/symbolizer/table_stream.h"
#include "consumer/kept/file_cache.h"

/* Returns 0 or -ENOMEM. */
int table_cache_add_message(struct kept_bytes *table, const struct table_message *message, size_t bytes);

/*
 * Passes the messages of the file's table to `take`, which returns 1 if more has to follow, 0 at the end of the table, or
 * -errno to stop. Returns 0, the error of `take`, or -ENOENT: there is none. If `take` finds a message invalid (-EBADMSG),
 * the table is removed.
 */
int table_cache_load(struct file_cache *cache, const struct file_key *key,
		     int (*take)(void *user, struct table_message *message, size_t bytes), void *user);

#endif
