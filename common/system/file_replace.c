/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/file_replace.h"

#include "common/base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static int new_name(const char *path, char name[PATH_MAX])
{
	return snprintf(name, PATH_MAX, "%s.new", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int file_write_all(int fd, const void *from, size_t length)
{
	const char *bytes = from;

	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

int file_prepare(const char *path, const void *bytes, size_t length, mode_t mode, uid_t uid, gid_t gid)
{
	_cleanup_close_ int fd = -EBADF;
	char name[PATH_MAX];
	int result = new_name(path, name);

	if (result < 0)
		return result;
	if (unlink(name) && errno != ENOENT)
		return -errno;
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	result = file_write_all(fd, bytes, length);
	if (!result && (fchown(fd, uid, gid) || fchmod(fd, mode) || fsync(fd)))
		result = -errno;
	if (result < 0)
		unlink(name);
	return result;
}

int file_commit(const char *path)
{
	char name[PATH_MAX];
	int result = new_name(path, name);

	if (result < 0)
		return result;
	return rename(name, path) ? -errno : 0;
}

void file_abandon(const char *path)
{
	char name[PATH_MAX];

	if (!new_name(path, name))
		unlink(name);
}
