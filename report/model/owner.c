/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/owner.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"

#include <cap-ng.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

static bool was_root;

/*
 * With an access control list, the mode's group bits are the mask: the most that any named user or group has
 * (acl(5)).
 */
static bool others_may_write(const char *path, const struct stat *at)
{
	return at->st_mode & S_IWOTH ||
	       (at->st_mode & S_IWGRP &&
		(at->st_gid || getxattr(path, "system.posix_acl_access", NULL, 0) > 0));
}

int owner_find(const char *real, uid_t *ret_uid, gid_t *ret_gid)
{
	_cleanup_free_ char *path = strdup(real);
	bool is_its_directory = true;
	struct stat at;

	if (!path)
		return -ENOMEM;
	if (stat(path, &at))
		return -errno;
	if (!at.st_uid && others_may_write(path, &at))
		at.st_uid = OWNER_NOBODY;
	while (!at.st_uid && strcmp(path, "/") != 0) {
		char *slash = strrchr(path, '/');

		slash[slash == path] = '\0'; /* for an entry of "/", keep the slash */
		if (lstat(path, &at))
			return -errno;
		/*
		 * The sticky bit keeps others from replacing the file, but not from creating a -wal file
		 * beside it
		 */
		if (!at.st_uid && others_may_write(path, &at) &&
		    (is_its_directory || !(at.st_mode & S_ISVTX)))
			at.st_uid = OWNER_NOBODY;
		is_its_directory = false;
	}
	*ret_uid = at.st_uid;
	*ret_gid = at.st_gid;
	/* root's group may read files that root did not mean to share */
	if (at.st_uid && (at.st_uid == OWNER_NOBODY || !at.st_gid))
		*ret_gid = OWNER_NOBODY;
	return 0;
}

int owner_become(uid_t uid, gid_t gid)
{
	int result;

	capng_clear(CAPNG_SELECT_BOTH);
	result = capng_change_id((int)uid, (int)gid, CAPNG_DROP_SUPP_GRP);
	if (!result && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && geteuid() == uid && getuid() == uid) {
		was_root = true;
		return 0;
	}
	return log_failed(
		-EPERM,
		"cannot become user %u, who may have written the database: %s; run bourdon as that user", uid,
		result ? "libcap-ng could not change the ids" : strerror(errno));
}

bool owner_was_root(void)
{
	return was_root;
}

int owner_become_of(const char *path, char **ret_real)
{
	_cleanup_free_ char *real = NULL;
	uid_t uid = OWNER_NOBODY;
	gid_t gid = OWNER_NOBODY;
	int result;

	*ret_real = NULL;
	if (geteuid())
		return 0;
	real = realpath(path, NULL);
	result = real ? owner_find(real, &uid, &gid) : -errno;
	if (!result && uid)
		result = owner_become(uid, gid);
	if (!result)
		*ret_real = TAKE_PTR(real);
	return result;
}
