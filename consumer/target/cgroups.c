/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/cgroups.h"

#include "common/array.h"
#include "common/cgroup.h"
#include "common/cgroup_walk.h"
#include "common/clock.h"
#include "common/hash_index.h"
#include "common/log.h"

#include <string.h>

#define REMEMBERED_MAX 65536U
#define LOOK_INTERVAL_NS CLOCK_SECOND_NS

struct entry {
	uint64_t id;
	char *path;
};

struct cgroups {
	char *mount;
	struct entry *entries;
	uint32_t count, room;
	struct hash_index index;
	uint64_t looked_ns;
};

static bool is_entry(const void *user, uint32_t position)
{
	const void *const *pair = user;
	const struct cgroups *cgroups = pair[0];

	return cgroups->entries[position].id == *(const uint64_t *)pair[1];
}

static struct entry *find(const struct cgroups *cgroups, uint64_t id)
{
	const void *pair[2] = { cgroups, &id };
	uint32_t found = hash_index_find(&cgroups->index, hash_bytes(&id, sizeof(id)), is_entry, pair);

	return found == HASH_INDEX_NONE ? NULL : &cgroups->entries[found];
}

static void forget_all(struct cgroups *cgroups)
{
	for (uint32_t i = 0; i < cgroups->count; i++)
		free(cgroups->entries[i].path);
	hash_index_free(&cgroups->index);
	cgroups->count = 0;
}

/* A cgroup can be renamed, so a known id gets the path that it has now. */
static bool remember(void *user, uint64_t id, const char *path)
{
	struct cgroups *cgroups = user;
	struct entry *entry = find(cgroups, id);
	char *copy = entry && !strcmp(entry->path, path) ? NULL : strdup(path);

	if (entry) {
		if (copy) {
			free(entry->path);
			entry->path = copy;
		}
		return true;
	}
	if (!copy || array_make_room(cgroups->entries, cgroups->count, cgroups->room, 1U) ||
	    hash_index_add(&cgroups->index, hash_bytes(&id, sizeof(id)), cgroups->count)) {
		free(copy);
		return false; /* out of memory: the next reading looks for the rest */
	}
	cgroups->entries[cgroups->count++] = (struct entry){ id, copy };
	return true;
}

int cgroups_open(struct cgroups **ret_cgroups)
{
	struct cgroups *cgroups = calloc(1, sizeof(*cgroups));
	int result = cgroups ? cgroup_mount(&cgroups->mount) : -ENOMEM;

	if (result < 0) {
		log_error("cgroup2: %s; remedy: mount -t cgroup2 cgroup2 /sys/fs/cgroup", strerror(-result));
		free(cgroups);
		return result;
	}
	*ret_cgroups = cgroups;
	return 0;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	forget_all(cgroups);
	free(cgroups->entries);
	free(cgroups->mount);
	free(cgroups);
}

const char *cgroups_mount(const struct cgroups *cgroups)
{
	return cgroups->mount;
}

const char *cgroups_path(struct cgroups *cgroups, uint64_t id)
{
	struct entry *entry = find(cgroups, id);
	uint64_t now_ns = clock_monotonic_ns();

	if (entry)
		return entry->path;
	if (cgroups->looked_ns && now_ns - cgroups->looked_ns < LOOK_INTERVAL_NS)
		return NULL;
	cgroups->looked_ns = now_ns;
	if (cgroups->count >= REMEMBERED_MAX)
		forget_all(cgroups);
	cgroup_walk(cgroups->mount, remember, cgroups);
	entry = find(cgroups, id);
	return entry ? entry->path : NULL;
}

bool cgroup_is_within(const char *path, const char *above)
{
	size_t bytes = strlen(above);

	if (!strcmp(above, "/"))
		return true;
	return !strncmp(path, above, bytes) && (path[bytes] == '\0' || path[bytes] == '/');
}
