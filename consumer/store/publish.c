/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/publish.h"

#include "common/base/cleanup.h"
#include "common/system/file_replace.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* "DIRECTORY/.NAME.new": readers of the directory pass over it. */
static int new_name(const char *path, char into[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int directory = slash ? (int)(slash - path + 1) : 0;

	return snprintf(into, PATH_MAX, "%.*s.%s.new", directory, path, path + directory) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

int publish_file(const char *path, const char *bytes, size_t length, mode_t mode)
{
	_cleanup_close_ int fd = -EBADF;
	char name[PATH_MAX];
	int result = new_name(path, name);

	if (result < 0)
		return result;
	/* of a daemon that was killed */
	if (unlink(name) && errno != ENOENT)
		return -errno;
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	result = file_write_all(fd, bytes, length);
	if (!result && (fchmod(fd, mode) || rename(name, path)))
		result = -errno;
	if (result < 0)
		unlink(name);
	return result;
}
