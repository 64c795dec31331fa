/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/cgroup_walk.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

int cgroup_walk(const char *mount, bool (*visit)(void *user, uint64_t id, const char *path), void *user)
{
	char *roots[] = { (char *)mount, NULL };
	size_t mount_bytes = strlen(mount);
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;

	if (!walk)
		return -errno;
	while ((entry = fts_read(walk))) {
		const char *path;

		if (entry->fts_info != FTS_D)
			continue;
		path = entry->fts_path + mount_bytes;
		if (!visit(user, entry->fts_statp->st_ino, *path ? path : "/"))
			break;
	}
	fts_close(walk);
	return 0;
}
