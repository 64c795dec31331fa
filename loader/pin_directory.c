/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/pin_directory.h"

#include "common/base/cleanup.h"
#include "common/protocol/pins.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

static char *loading_path(const char *pin_dir)
{
	char *path;

	return asprintf(&path, "%s" PIN_LOADING, pin_dir) < 0 ? NULL : path;
}

static int lock_parent(const char *pin_dir)
{
	_cleanup_free_ char *copy = strdup(pin_dir);
	_cleanup_close_ int fd = -EBADF;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return -errno;
	return TAKE_FD(fd);
}

int pin_directory_lock(const char *pin_dir, int own)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	_cleanup_free_ char *loading = loading_path(pin_dir);

	if (!loading)
		return -ENOMEM;
	for (int locked = 0, loads = 0;
	     locked <= PIN_LOCK_SECONDS * 10 && loads <= PIN_LOADING_SECONDS * 10;) {
		int fd = lock_parent(pin_dir);

		if (fd >= 0 ? own >= 0 || pin_directory_users(loading) <= 0 : fd != -EWOULDBLOCK)
			return fd;
		if (fd < 0) {
			locked++;
		} else {
			close(fd);
			loads++;
		}
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

int pin_directory_users(const char *pin_dir)
{
	_cleanup_close_ int fd = open(pin_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

/* Makes the directory, and holds it. */
static int make_held(const char *path, gid_t gid)
{
	_cleanup_close_ int fd = -EBADF;

	if (mkdir(path, 0700))
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || fchown(fd, 0, gid) || fchmod(fd, PIN_DIRECTORY_MODE)) {
		int result = -errno;

		rmdir(path);
		return result;
	}
	return TAKE_FD(fd);
}

int pin_directory_prepare(const char *pin_dir, gid_t gid, char **ret_path)
{
	_cleanup_close_ int lock = pin_directory_lock(pin_dir, -EBADF);
	_cleanup_free_ char *path = loading_path(pin_dir);
	struct statfs at;
	int result;

	if (lock < 0)
		return lock;
	if (!path)
		return -ENOMEM;
	if (fstatfs(lock, &at))
		return -errno;
	if ((unsigned long)at.f_type != BPF_FS_MAGIC)
		return -ENODEV;
	result = pin_directory_remove(path);
	if (!result)
		result = make_held(path, gid);
	if (result >= 0)
		*ret_path = TAKE_PTR(path);
	return result;
}

int pin_directory_swap(const char *prepared, const char *pin_dir)
{
	if (!renameat2(AT_FDCWD, prepared, AT_FDCWD, pin_dir, RENAME_EXCHANGE))
		return 0;
	if (errno != ENOENT)
		return -errno;
	return renameat2(AT_FDCWD, prepared, AT_FDCWD, pin_dir, RENAME_NOREPLACE) ? -errno : 0;
}

/* Removes pins on bpffs only: a wrong --pin-dir must not delete a directory of files. */
static int open_pins(const char *path, DIR **ret_directory)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs at;

	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? -EXDEV : -errno;
	if (fstatfs(fd, &at))
		return -errno;
	if ((unsigned long)at.f_type != BPF_FS_MAGIC)
		return -EXDEV;
	*ret_directory = fdopendir(fd);
	if (!*ret_directory)
		return -errno;
	(void)TAKE_FD(fd);
	return 0;
}

int pin_directory_retire(const char *path)
{
	const __u32 zero = 0, one = 1;
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *pin = NULL;

	if (asprintf(&pin, "%s/" PIN_RETIRED, path) < 0)
		return -ENOMEM;
	fd = bpf_obj_get(pin);
	if (fd == -ENOENT)
		return access(path, F_OK) ? 0 : -ENODATA;
	if (fd < 0)
		return fd;
	return bpf_map_update_elem(fd, &zero, &one, BPF_ANY);
}

int pin_directory_remove(const char *path)
{
	_cleanup_dir_ DIR *directory = NULL;
	struct dirent *entry;
	int result = open_pins(path, &directory);

	if (result < 0)
		return result == -ENOENT ? 0 : result;
	result = pin_directory_retire(path);
	if (result < 0 && result != -ENODATA)
		return result;
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(directory), entry->d_name, 0))
			return -errno;
	}
	return rmdir(path) ? -errno : 0;
}
