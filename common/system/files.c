/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/files.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/system/options.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

int file_read_all(int fd, size_t most, char **ret_text, size_t *ret_bytes)
{
	_cleanup_free_ char *text = NULL;
	size_t used = 0, room = 0;

	if (array_make_room(text, used, room, 4096UL))
		return -ENOMEM;
	for (;;) {
		ssize_t got = read(fd, text + used, room - used - 1);

		/* EAGAIN: an iterator whose program skipped many objects in a row */
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		used += (size_t)got;
		if (used > most)
			return -EFBIG;
		if (array_make_room(text, used, room, 4096UL))
			return -ENOMEM;
	}
	text[used] = '\0';
	*ret_text = TAKE_PTR(text);
	*ret_bytes = used;
	return 0;
}

int file_read_text(int directory, const char *path, size_t most, char **ret_text, size_t *ret_bytes)
{
	_cleanup_close_ int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : file_read_all(fd, most, ret_text, ret_bytes);
}

bool file_is_roots_alone(const struct stat *at)
{
	return !at->st_uid && !(at->st_mode & (S_IWGRP | S_IWOTH));
}

int account_user(const char *name, uid_t *ret_uid, gid_t *ret_gid)
{
	unsigned long long number;
	struct passwd *entry;

	if (!options_number(name, 0, UINT_MAX - 1, &number)) {
		entry = getpwuid((uid_t)number);
		*ret_uid = (uid_t)number;
		*ret_gid = entry ? entry->pw_gid : (gid_t)number;
		return 0;
	}
	errno = 0;
	entry = getpwnam(name);
	if (!entry)
		return errno ? -errno : -ENOENT;
	*ret_uid = entry->pw_uid;
	*ret_gid = entry->pw_gid;
	return 0;
}

int account_group(const char *name, gid_t *ret_gid)
{
	unsigned long long number;
	struct group *entry;

	if (!options_number(name, 0, UINT_MAX - 1, &number)) {
		*ret_gid = (gid_t)number;
		return 0;
	}
	errno = 0;
	entry = getgrnam(name);
	if (!entry)
		return errno ? -errno : -ENOENT;
	*ret_gid = entry->gr_gid;
	return 0;
}
