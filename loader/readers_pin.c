/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/readers_pin.h"

#include "common/cleanup.h"
#include "common/files.h"
#include "common/pins.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

static char *path_of(const char *run_dir, const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/" READERS_DIRECTORY "/%s%s", run_dir, pin_iterators[PIN_THREADS], suffix) <
			       0
		       ? NULL
		       : path;
}

char *readers_pin_path(const char *run_dir)
{
	return path_of(run_dir, "");
}

bool readers_pin_is_possible(const char *run_dir)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct statfs on;
	struct stat at;

	if (asprintf(&path, "%s/" READERS_DIRECTORY, run_dir) < 0) {
		path = NULL;
		return false;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && !fstatfs(fd, &on) && (unsigned long)on.f_type == BPF_FS_MAGIC && !fstat(fd, &at) &&
	       file_is_roots_alone(&at);
}

static int remove_pin(const char *run_dir, const char *suffix)
{
	_cleanup_free_ char *path = path_of(run_dir, suffix);

	if (!path)
		return -ENOMEM;
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

int readers_pin_prepare(const char *run_dir, int link_fd, gid_t gid)
{
	_cleanup_free_ char *path = path_of(run_dir, PIN_LOADING);
	int result = remove_pin(run_dir, PIN_LOADING);

	if (result < 0 || !path)
		return result ? result : -ENOMEM;
	result = bpf_obj_pin(link_fd, path);
	if (!result && (chown(path, 0, gid) || chmod(path, PIN_ITERATOR_MODE)))
		result = -errno;
	if (result < 0)
		unlink(path);
	return result;
}

int readers_pin_swap(const char *run_dir)
{
	_cleanup_free_ char *prepared = path_of(run_dir, PIN_LOADING), *path = path_of(run_dir, "");

	if (!prepared || !path)
		return -ENOMEM;
	if (!renameat2(AT_FDCWD, prepared, AT_FDCWD, path, RENAME_EXCHANGE))
		return 0;
	if (errno != ENOENT)
		return -errno;
	/* one of the two is missing: the first load, or its end */
	if (!renameat2(AT_FDCWD, prepared, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	return renameat2(AT_FDCWD, path, AT_FDCWD, prepared, RENAME_NOREPLACE) ? -errno : 0;
}

int readers_pin_abandon(const char *run_dir)
{
	return remove_pin(run_dir, PIN_LOADING);
}

int readers_pin_remove(const char *run_dir)
{
	int result;

	if (!readers_pin_is_possible(run_dir))
		return 0;
	result = remove_pin(run_dir, "");
	return result ? result : remove_pin(run_dir, PIN_LOADING);
}
