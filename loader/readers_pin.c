/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/readers_pin.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

static char *path_of(const char *run_dir, enum pin_iterator iterator, const char *suffix)
{
	char *path;
	int bytes =
		asprintf(&path, "%s/" READERS_DIRECTORY "/%s%s", run_dir, pin_iterators[iterator], suffix);

	return bytes < 0 ? NULL : path;
}

char *readers_pin_path(const char *run_dir, enum pin_iterator iterator)
{
	return path_of(run_dir, iterator, "");
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

static int remove_pins(const char *run_dir, const char *suffix)
{
	for (enum pin_iterator i = PIN_THREADS; i < PIN_ITERATORS; i++) {
		_cleanup_free_ char *path = path_of(run_dir, i, suffix);

		if (!path)
			return -ENOMEM;
		if (unlink(path) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

int readers_pin_prepare(const char *run_dir, enum pin_iterator iterator, int link_fd, gid_t gid)
{
	_cleanup_free_ char *path = path_of(run_dir, iterator, PIN_LOADING);
	int result;

	if (!path)
		return -ENOMEM;
	if (unlink(path) && errno != ENOENT) /* of a load that was killed */
		return -errno;
	result = bpf_obj_pin(link_fd, path);
	if (!result && (chown(path, 0, gid) || chmod(path, PIN_ITERATOR_MODE)))
		result = -errno;
	return result;
}

static int swap(const char *run_dir, enum pin_iterator iterator)
{
	_cleanup_free_ char *prepared = path_of(run_dir, iterator, PIN_LOADING);
	_cleanup_free_ char *path = path_of(run_dir, iterator, "");

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

int readers_pins_swap(const char *run_dir)
{
	for (enum pin_iterator i = PIN_THREADS; i < PIN_ITERATORS; i++) {
		int result = swap(run_dir, i);

		if (!result)
			continue;
		while (i-- > PIN_THREADS)
			swap(run_dir, i);
		return result;
	}
	return 0;
}

int readers_pins_abandon(const char *run_dir)
{
	return remove_pins(run_dir, PIN_LOADING);
}

int readers_pins_remove(const char *run_dir)
{
	int result;

	if (!readers_pin_is_possible(run_dir))
		return 0;
	result = remove_pins(run_dir, "");
	return result ? result : remove_pins(run_dir, PIN_LOADING);
}
