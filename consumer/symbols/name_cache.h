/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * name_cache.h remembers the names of user frames from one second of `live` to the next: nothing of those is in the database,
 * and opening files and starting a symbolizer each second would take more than all else. Frames that could not be named are
 * remembered as such, for a shorter time. Names are of a file, or of one process's memory, so no file lends its names to
 * another one.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAME_CACHE_H
#define BOURDON_CONSUMER_SYMBOLS_NAME_CACHE_H

#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

struct name_cache;

/* Which frames had no name before they were looked for, and in which module they were: naming may move them. */
struct name_questions {
	uint32_t *modules; /* by frame; NAME_CACHE_KNOWN: it has a name already */
	uint32_t count;
};

#define NAME_CACHE_KNOWN UINT32_MAX

/* Without memory, NULL: call the other functions with it all the same. */
struct name_cache *name_cache_new(void);
void name_cache_free(struct name_cache *cache);

/* Names what it remembers at `now_ns`. Stores what is left to ask, which the caller frees. 0 or -ENOMEM. */
int name_cache_recall(struct name_cache *cache, const struct capture *capture, struct resolved *resolved,
		      uint64_t now_ns, struct name_questions *ret_questions);

/* Remembers what became of these questions, once every frame has a text. Without memory it remembers less. */
void name_cache_keep(struct name_cache *cache, const struct capture *capture, const struct resolved *resolved,
		     uint64_t now_ns, const struct name_questions *questions);

void name_questions_free(struct name_questions *questions);

#endif
