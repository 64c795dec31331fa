/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/table_cache.h"

#include "common/base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int table_cache_add_message(struct kept_bytes *table, const struct table_message *message, size_t bytes)
{
	uint32_t size = (uint32_t)bytes;
	int result = kept_bytes_add(table, &size, sizeof(size));

	return result < 0 ? result : kept_bytes_add(table, message, bytes);
}

struct taker {
	int (*take)(void *user, struct table_message *message, size_t bytes);
	void *user;
};

/* Passes each message on. */
static int take_content(void *user, const char *content, size_t bytes)
{
	_cleanup_free_ struct table_message *message = malloc(sizeof(*message));
	const struct taker *taker = user;
	size_t at = 0;
	int result = 1;

	if (!message)
		return -ENOMEM;
	while (result == 1) {
		uint32_t size;

		if (bytes - at < sizeof(size))
			return -EBADMSG;
		memcpy(&size, content + at, sizeof(size));
		at += sizeof(size);
		if (size > bytes - at || size > sizeof(*message))
			return -EBADMSG;
		memcpy(message, content + at, size);
		at += size;
		result = taker->take(taker->user, message, size);
	}
	return result < 0 ? result : at == bytes ? 0 : -EBADMSG;
}

int table_cache_load(struct file_cache *cache, const struct file_key *key,
		     int (*take)(void *user, struct table_message *message, size_t bytes), void *user)
{
	struct taker taker = { take, user };
	int result = file_cache_load(cache, FILE_CACHE_TABLES, key, take_content, &taker);

	/* while somebody has locked the file, a table is made anew */
	return result == -EBUSY ? -ENOENT : result;
}
