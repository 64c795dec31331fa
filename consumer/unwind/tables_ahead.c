/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/tables_ahead.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/text/plural.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/unwind/table_workers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#define SPAWN_NS (2 * CLOCK_SECOND_NS)

struct tables_ahead {
	struct file_cache *cache;
	int spawner_socket;
	struct cpu_budget budget; /* of nothing */
	struct table_workers *workers;
	struct mapped_files files; /* without bourdon-grant: its requests are for what is needed now */
	struct own_counters counters;
	struct mappings *mappings;
	uint32_t next;       /* file */
	int fd;              /* of the file whose table is being made */
	struct file_key key; /* of that file */
	uint32_t made;
};

static int spawn(void *user, enum symbolizer_priority priority)
{
	const struct tables_ahead *ahead = user;

	return spawner_request(ahead->spawner_socket, priority, clock_monotonic_ns() + SPAWN_NS);
}

struct tables_ahead *tables_ahead_begin(struct file_cache *cache, int spawner_socket,
					struct mappings *mappings)
{
	struct tables_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead) {
		mappings_free(mappings);
		return NULL;
	}
	ahead->cache = cache;
	ahead->spawner_socket = spawner_socket;
	ahead->mappings = mappings;
	ahead->fd = -EBADF;
	ahead->files.own_counters = &ahead->counters;
	ahead->workers = table_workers_new(NULL, &ahead->budget, spawn, ahead);
	if (ahead->workers)
		return ahead;
	tables_ahead_free(ahead);
	return NULL;
}

void tables_ahead_free(struct tables_ahead *ahead)
{
	if (!ahead)
		return;
	table_workers_free(ahead->workers);
	cleanup_close(&ahead->fd);
	mappings_free(ahead->mappings);
	free(ahead);
}

/* Opens the next file whose table is not kept, and begins with it. Returns false if there is none, or it cannot begin. */
static bool begin_next(struct tables_ahead *ahead)
{
	struct mapped_file *file;

	while ((file = mappings_file(ahead->mappings, ahead->next))) {
		struct stat at = { 0 };

		cleanup_close(&ahead->fd);
		ahead->fd = mapped_files_open(&ahead->files, ahead->mappings, file, 0, &at);
		ahead->key = file_key_of(&at, makedev(file->device_major, file->device_minor));
		if (ahead->fd < 0 || !file_key_is_settled(&ahead->key) ||
		    file_cache_has(ahead->cache, FILE_CACHE_TABLES, &ahead->key)) {
			ahead->next++;
			continue;
		}
		if (table_workers_begin(ahead->workers, ahead->fd, true, ahead))
			return false; /* no symbolizer now */
		ahead->next++;
		return true;
	}
	return false;
}

bool tables_ahead_step(struct tables_ahead *ahead, uint64_t until_ns)
{
	struct table_outcome outcome;

	while (clock_monotonic_ns() < until_ns) {
		if (!table_workers_busy(ahead->workers) && !begin_next(ahead))
			break;
		if (!table_workers_wait(ahead->workers, until_ns, &outcome))
			return true;
		ahead->made += file_cache_keep(ahead->cache, FILE_CACHE_TABLES, &ahead->key, ahead->fd,
					       &outcome.bytes);
	}
	if (mappings_file(ahead->mappings, ahead->next) || table_workers_busy(ahead->workers))
		return true;
	file_cache_flush(ahead->cache);
	if (ahead->made)
		log_info("made the unwind tables of %u %s ahead of need", ahead->made,
			 plural(ahead->made, "file", "files"));
	return false;
}
