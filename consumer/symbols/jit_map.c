/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/jit_map.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/grant_request.h"

#include <fcntl.h>
#include <limits.h>

/* The file's time is that of the kernel's last tick, and the wall clock may be set: allow a second. */
#define CLOCKS_DIFFER_NS CLOCK_SECOND_NS

/* A map left behind by an earlier process with the same id does not describe this process's code. */
static bool is_older(const struct stat *at, const struct capture_process *process)
{
	int64_t lived_ns = (int64_t)(clock_read_ns(CLOCK_BOOTTIME) - process->started_ns);
	int64_t written_at = at->st_mtim.tv_sec * (int64_t)CLOCK_SECOND_NS + at->st_mtim.tv_nsec;

	return written_at + (int64_t)CLOCKS_DIFFER_NS < clock_wall_ns() - lived_ns;
}

/* Any user can write to /tmp, so trust only a file of the process's user or root. */
static int check(int fd, const struct capture_process *process, struct stat *ret_at)
{
	struct stat at;

	if (fstat(fd, &at))
		return -errno;
	if (!S_ISREG(at.st_mode) || (at.st_uid && at.st_uid != process->uid) ||
	    at.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	if ((uint64_t)at.st_size > PERF_MAP_BYTES_MAX)
		return -EFBIG;
	if (is_older(&at, process))
		return -ESTALE;
	*ret_at = at;
	return 0;
}

static int open_here(const char *directory, const struct capture_process *process, struct stat *ret_at)
{
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX];
	int result;

	if (snprintf(path, sizeof(path), "%s/perf-%u.map", directory, process->tgid) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	result = fd < 0 ? -errno : check(fd, process, ret_at);
	return result < 0 ? result : TAKE_FD(fd);
}

int jit_map_open(const char *directory, struct mapped_files *files, const struct capture_process *process,
		 uint64_t deadline_ns, struct stat *ret_at)
{
	const struct grant_target target = { process->tgid, process->uid, process->started_ns };
	int here = open_here(directory, process, ret_at), result;
	_cleanup_close_ int granted = -EBADF;

	if (here >= 0)
		return here;
	granted = mapped_files_ask_perf_map(files, &target, deadline_ns);
	if (granted < 0)
		return granted == -ENOENT ? here : granted; /* bourdon-grant is not available */
	result = check(granted, process, ret_at);
	return result < 0 ? result : TAKE_FD(granted);
}
