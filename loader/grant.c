/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant.h"

#include "common/cgroup.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/grant.h"
#include "common/grant_counters.h"
#include "common/log.h"
#include "common/pass_fd.h"

#include <cap-ng.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>

/* ---- who asks, and for what ---- */

static int check_peer(int socket, uid_t uid, struct ucred *ret_peer)
{
	socklen_t bytes = sizeof(*ret_peer);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, ret_peer, &bytes))
		return -errno;
	return ret_peer->uid == uid || !ret_peer->uid ? 0 : -EACCES;
}

static int receive_request(int socket, uint64_t patience_ns, struct grant_request *ret_request)
{
	uint64_t deadline_ns = clock_monotonic_ns() + patience_ns;
	char text[GRANT_REQUEST_BYTES_MAX + 1];
	size_t used = 0;

	for (;;) {
		int passed = -EBADF, result = pass_fd_wait(socket, deadline_ns);
		ssize_t got;

		if (result < 0)
			return result;
		got = pass_fd_receive(socket, text + used, sizeof(text) - used, &passed);
		if (passed >= 0) {
			close(passed);
			return -EINVAL; /* descriptors go the other way */
		}
		if (got < 0)
			return (int)got;
		if (!got)
			return -EINVAL;
		used += (size_t)got;
		result = grant_parse(text, used, ret_request);
		if (result != -EAGAIN)
			return result;
	}
}

/* ---- opening it ---- */

/*
 * A cgroup's id is what its file handle consists of (FILEID_KERNFS of linux/exportfs.h, 64-bit ids since
 * Linux 5.5): the kernel finds it below this mount or not at all. No path is walked, so none can be changed
 * meanwhile.
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

/*
 * The kernel judges a trigger by the credentials that opened its file. Without CAP_SYS_RESOURCE it uses the
 * worker that averages anyway, and takes windows of whole two seconds only; with it, a real-time thread for
 * each cgroup. So the capability is given up where the window can do without.
 */
static int choose_privilege(uint64_t window_us)
{
	if (window_us % PSI_WINDOW_UNPRIVILEGED_US)
		return 0;
	if (capng_get_caps_process() ||
	    capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_SYS_RESOURCE) ||
	    capng_apply(CAPNG_SELECT_CAPS))
		return -EPERM;
	return 0;
}

static int open_pressure(const struct grant_request *request)
{
	_cleanup_close_ int mount_fd = -EBADF, cgroup_fd = -EBADF, fd = -EBADF;
	_cleanup_free_ char *mount = NULL;
	char name[32];
	struct statfs system;
	struct stat at;
	int result = request->kind == GRANT_PRESSURE ? cgroup_mount(&mount) : -EOPNOTSUPP;

	if (result < 0)
		return result;
	mount_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount_fd < 0)
		return -errno;
	cgroup_fd = open_cgroup(mount_fd, request->cgroup_id);
	if (cgroup_fd < 0)
		return cgroup_fd;
	result = choose_privilege(request->window_us);
	if (result < 0)
		return result;
	snprintf(name, sizeof(name), "%s.pressure", psi_resource_names[request->resource]);
	fd = openat(cgroup_fd, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &system) || fstat(fd, &at))
		return -errno;
	if ((unsigned long)system.f_type != CGROUP2_SUPER_MAGIC || !S_ISREG(at.st_mode))
		return -EINVAL;
	return TAKE_FD(fd);
}

/* ---- the connection ---- */

static const char *reason_of(int error)
{
	switch (error) {
	case -EACCES:
		return "only the consumer's user and root may ask";
	case -EINVAL:
		return "not a request";
	case -E2BIG:
		return "longer than a request is";
	case -ETIMEDOUT:
		return "it did not come in time";
	case -ESTALE:
	case -ENOENT:
		return "no such cgroup, or no such file in it";
	case -EOPNOTSUPP:
		return GRANT_NO_FILES;
	default:
		return strerror(-error);
	}
}

static int refuse(int socket, const struct grant_settings *settings, const struct ucred *peer, int error)
{
	char answer[GRANT_ANSWER_BYTES_MAX];
	int length = snprintf(answer, sizeof(answer), GRANT_REFUSED "%s\n", reason_of(error));

	log_warning("refused process %d of uid %u: %s", peer->pid, peer->uid, reason_of(error));
	grant_counters_add(settings->counters, GRANT_COUNTER_REFUSED);
	pass_fd_send(socket, answer, (size_t)length, -EBADF); /* it may be gone */
	return EXIT_FAILED;
}

int grant_serve(int socket, const struct grant_settings *settings)
{
	_cleanup_close_ int fd = -EBADF;
	struct grant_request request;
	struct ucred peer = { 0 };
	int result = check_peer(socket, settings->uid, &peer);

	if (!result)
		result = receive_request(socket, settings->patience_ns, &request);
	if (!result) {
		fd = open_pressure(&request);
		result = fd < 0 ? fd : 0;
	}
	if (result < 0)
		return refuse(socket, settings, &peer, result);
	grant_counters_add(settings->counters, GRANT_COUNTER_GRANTED);
	result = pass_fd_send(socket, GRANT_OK, strlen(GRANT_OK), fd);
	if (result < 0)
		log_warning("process %d went away before its answer: %s", peer.pid, strerror(-result));
	return result < 0 ? EXIT_FAILED : EXIT_DONE;
}
