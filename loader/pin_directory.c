/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/pin_directory.h"

#include "common/cleanup.h"
#include "common/pins.h"

#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

int pin_directory_lock(const char *pin_dir)
{
	_cleanup_free_ char *copy = strdup(pin_dir);
	_cleanup_close_ int fd = -EBADF;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX))
		return -errno;
	return TAKE_FD(fd);
}

int pin_directory_prepare(const char *pin_dir, gid_t gid, char **ret_path)
{
	_cleanup_free_ char *path = NULL;
	int result;

	if (asprintf(&path, "%s_loading", pin_dir) < 0)
		return -ENOMEM;
	result = pin_directory_remove(path);
	if (result < 0)
		return result;
	if (mkdir(path, 0700))
		return -errno;
	if (chown(path, 0, gid) || chmod(path, PIN_DIRECTORY_MODE)) {
		result = -errno;
		rmdir(path);
		return result;
	}
	*ret_path = TAKE_PTR(path);
	return 0;
}

int pin_directory_swap(const char *prepared, const char *pin_dir)
{
	if (!renameat2(AT_FDCWD, prepared, AT_FDCWD, pin_dir, RENAME_EXCHANGE))
		return 0;
	if (errno != ENOENT)
		return -errno;
	return renameat2(AT_FDCWD, prepared, AT_FDCWD, pin_dir, RENAME_NOREPLACE) ? -errno : 0;
}

int pin_directory_remove(const char *path)
{
	_cleanup_dir_ DIR *directory = opendir(path);
	struct dirent *entry;

	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(directory), entry->d_name, 0))
			return -errno;
	}
	return rmdir(path) ? -errno : 0;
}
