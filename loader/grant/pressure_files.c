/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant/pressure_files.h"

#include "common/base/cleanup.h"
#include "common/kernel/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

bool pressure_files_is_privileged(const struct grant_request *request)
{
	return request->window_us % PSI_WINDOW_UNPRIVILEGED_US != 0;
}

/*
 * A cgroup's file handle is its id (FILEID_KERNFS of linux/exportfs.h, 64 bits since Linux 5.5). The kernel
 * finds the cgroup below this mount or fails. No path is resolved, so nobody can exchange one meanwhile.
 */
static int open_cgroup(int mount_fd, uint64_t id)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} by_id = { 0 };
	int fd;

	by_id.handle.handle_bytes = sizeof(id);
	by_id.handle.handle_type = 0xfe;
	memcpy(by_id.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount_fd, &by_id.handle, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_pressure(const struct grant_request *request)
{
	_cleanup_close_ int mount_fd = -EBADF, cgroup_fd = -EBADF, fd = -EBADF;
	_cleanup_free_ char *mount = NULL;
	char name[32];
	struct statfs system;
	struct stat at;
	int result = cgroup_mount(&mount);

	if (result < 0)
		return result;
	mount_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount_fd < 0)
		return -errno;
	cgroup_fd = open_cgroup(mount_fd, request->cgroup_id);
	if (cgroup_fd < 0)
		return cgroup_fd;
	snprintf(name, sizeof(name), "%s.pressure", psi_resource_names[request->resource]);
	fd = openat(cgroup_fd, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &system) || fstat(fd, &at))
		return -errno;
	if ((unsigned long)system.f_type != CGROUP2_SUPER_MAGIC || !S_ISREG(at.st_mode))
		return -EINVAL;
	return TAKE_FD(fd);
}

const char *pressure_files_open(const struct grant_request *request, int *ret_fd)
{
	int fd = open_pressure(request);

	if (fd == -ESTALE || fd == -ENOENT)
		return "no such cgroup, or no such file in it";
	if (fd < 0)
		return strerror(-fd);
	*ret_fd = fd;
	return NULL;
}
