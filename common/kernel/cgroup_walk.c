/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/cgroup_walk.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The paths of the cgroups that were found, of which the first `visited` were visited. */
struct walk {
	char *paths[CGROUP_WALK_MOST];
	uint32_t count, visited;
	size_t bytes;
	uint64_t until_ns;
	bool is_cut;
};

/* Returns 0, -ENOBUFS at a limit, or -ENOMEM. */
static int add(struct walk *walk, const char *above, const char *name)
{
	char path[PATH_MAX];
	int bytes = snprintf(path, sizeof(path), "%s/%s", above, name) + 1;

	if ((size_t)bytes > sizeof(path) - 1) { /* "." comes before it */
		walk->is_cut = true;
		return 0;
	}
	if (walk->count == CGROUP_WALK_MOST || walk->bytes + (size_t)bytes > CGROUP_WALK_PATH_BYTES ||
	    clock_monotonic_ns() >= walk->until_ns) {
		walk->is_cut = true;
		return -ENOBUFS;
	}
	walk->paths[walk->count] = strdup(path);
	if (!walk->paths[walk->count])
		return -ENOMEM;
	walk->count++;
	walk->bytes += (size_t)bytes;
	return 0;
}

static int add_below(struct walk *walk, DIR *directory, const char *path)
{
	const struct dirent *entry;
	int result = 0;

	while (!result && (entry = readdir(directory)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			result = add(walk, path, entry->d_name);
	return result == -ENOBUFS ? 0 : result;
}

/* Returns 1 if `visit` returned false, 0, or -errno. */
static int visit_next(struct walk *walk, int mount_fd,
		      bool (*visit)(void *user, uint64_t id, const char *path), void *user)
{
	const char *path = walk->paths[walk->visited++];
	_cleanup_dir_ DIR *directory = NULL;
	char relative[PATH_MAX];
	struct stat at;
	int fd;

	snprintf(relative, sizeof(relative), ".%s", path);
	fd = openat(mount_fd, relative, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return walk->visited == 1 ? -errno : 0;
	directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return -ENOMEM;
	}
	if (fstat(fd, &at))
		return 0;
	if (!visit(user, at.st_ino, *path ? path : "/"))
		return 1;
	return add_below(walk, directory, path);
}

int cgroup_walk(const char *mount, uint64_t until_ns,
		bool (*visit)(void *user, uint64_t id, const char *path), void *user)
{
	_cleanup_free_ struct walk *walk = calloc(1, sizeof(*walk));
	_cleanup_close_ int mount_fd = open(mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int result = 0;

	if (!walk)
		return -ENOMEM;
	if (mount_fd < 0)
		return -errno;
	walk->until_ns = until_ns;
	walk->paths[walk->count++] = strdup("");
	if (!walk->paths[0])
		return -ENOMEM;
	while (!result && walk->visited < walk->count) {
		if (walk->visited && clock_monotonic_ns() >= until_ns) {
			walk->is_cut = true;
			break;
		}
		result = visit_next(walk, mount_fd, visit, user);
	}
	for (uint32_t i = 0; i < walk->count; i++)
		free(walk->paths[i]);
	return result < 0 ? result : !result && walk->is_cut;
}
