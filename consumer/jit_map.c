/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/jit_map.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "consumer/symbolizer/perf_map.h"

#include <fcntl.h>
#include <limits.h>

/* The file's time is the kernel's at its last tick, and wall clock is set now and then. */
#define CLOCKS_DIFFER_NS CLOCK_SECOND_NS

/* What an earlier process of the same number left behind names that one's code. */
static bool is_older(const struct stat *at, const struct capture_process *process)
{
	int64_t lived_ns = (int64_t)(clock_read_ns(CLOCK_BOOTTIME) - process->started_ns);
	int64_t written_at = at->st_mtim.tv_sec * (int64_t)CLOCK_SECOND_NS + at->st_mtim.tv_nsec;

	return written_at + (int64_t)CLOCKS_DIFFER_NS < clock_wall_ns() - lived_ns;
}

int jit_map_open(const char *directory, const struct capture_process *process, struct stat *ret_at)
{
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX];
	struct stat at;

	if (snprintf(path, sizeof(path), "%s/perf-%u.map", directory, process->tgid) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &at))
		return -errno;
	if (!S_ISREG(at.st_mode) || (at.st_uid && at.st_uid != process->uid))
		return -EPERM;
	if ((uint64_t)at.st_size > PERF_MAP_BYTES_MAX)
		return -EFBIG;
	if (is_older(&at, process))
		return -ESTALE;
	*ret_at = at;
	return TAKE_FD(fd);
}
