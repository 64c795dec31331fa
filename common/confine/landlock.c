/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/confine/landlock.h"

#include "common/base/cleanup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/*
 * From linux/landlock.h of Linux 6.18; the header in Debian 12 ends at version 2. The kernel accepts a
 * structure longer than its own if the rest is zero.
 */
struct ruleset_attributes {
	uint64_t files, network, scopes;
};

struct path_attributes {
	uint64_t files;
	int32_t fd;
} __attribute__((packed));

#define RULE_PATH_BENEATH 1
#define FILE_WRITE (1ULL << 1)
#define FILE_READ (1ULL << 2)
#define DIRECTORY_READ (1ULL << 3)
#define FILE_REMOVE (1ULL << 5)
#define FILE_MAKE (1ULL << 8)
#define SOCKET_MAKE (1ULL << 9)
#define FILE_TRUNCATE (1ULL << 14)
#define NETWORK_ALL 3ULL /* bind and connect */
#define SCOPE_ALL 3ULL   /* abstract sockets and signals */

/* Access rights that each version can restrict. */
static const struct ruleset_attributes handled[] = {
	{ 0x1fff, 0, 0 },                   /* 1: Linux 5.13 */
	{ 0x3fff, 0, 0 },                   /* 2: 5.19, linking and renaming across directories */
	{ 0x7fff, 0, 0 },                   /* 3: 6.2, truncate(2) */
	{ 0x7fff, NETWORK_ALL, 0 },         /* 4: 6.7 */
	{ 0xffff, NETWORK_ALL, 0 },         /* 5: 6.10, ioctl(2) on devices */
	{ 0xffff, NETWORK_ALL, SCOPE_ALL }, /* 6: 6.12 */
};

_Static_assert(ARRAY_SIZE(handled) == LANDLOCK_ABI_KNOWN, "landlock_abi.h knows other versions");

static int make_ruleset(const struct ruleset_attributes *attributes)
{
	long result = syscall(SYS_landlock_create_ruleset, attributes, sizeof(*attributes), 0);

	return result < 0 ? -errno : (int)result;
}

static uint64_t accesses_of(unsigned int uses)
{
	return (uses & LANDLOCK_READ ? FILE_READ : 0) | (uses & LANDLOCK_LIST ? DIRECTORY_READ : 0) |
	       (uses & LANDLOCK_WRITE ? FILE_WRITE | FILE_TRUNCATE : 0) |
	       (uses & LANDLOCK_MAKE ? FILE_MAKE | SOCKET_MAKE | FILE_REMOVE : 0);
}

/*
 * Landlock identifies a file by its inode. procfs allocates a new inode after the kernel drops the name from
 * its cache, as it does when memory is short. An open descriptor keeps the inode.
 */
static bool must_stay_open(int fd)
{
	struct statfs at;

	return !fstatfs(fd, &at) && at.f_type == PROC_SUPER_MAGIC;
}

static int add_place(int ruleset, const struct landlock_place *place, uint64_t handled_files)
{
	_cleanup_close_ int opened = place->path ? open(place->path, O_PATH | O_CLOEXEC) : -EBADF;
	const struct path_attributes attributes = { accesses_of(place->uses) & handled_files,
						    place->path ? opened : place->fd };

	/* a path that is unreachable before the domain is unreachable within it, too */
	if (place->path && opened < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -errno;
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attributes, 0))
		return -errno;
	if (opened >= 0 && must_stay_open(opened))
		(void)TAKE_FD(opened);
	return 0;
}

int landlock_confine(const struct landlock_place *places, size_t count)
{
	const struct ruleset_attributes *attributes;
	_cleanup_close_ int ruleset = -EBADF;
	int version = landlock_abi();

	if (!version)
		return 0;
	attributes = &handled[version - 1];
	ruleset = make_ruleset(attributes);
	if (ruleset < 0)
		return ruleset;
	for (size_t i = 0; i < count; i++) {
		int result = add_place(ruleset, &places[i], attributes->files);

		if (result < 0)
			return result;
	}
	return syscall(SYS_landlock_restrict_self, ruleset, 0) ? -errno : version;
}
