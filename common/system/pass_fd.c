/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/pass_fd.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static int send_message(int socket, const void *bytes, size_t length, int fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control = { 0 };
	struct iovec part = { (void *)bytes, length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.aligned = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						    .cmsg_type = SCM_RIGHTS,
						    .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.aligned), &fd, sizeof(fd));
	}
	do {
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == length ? 0 : -EMSGSIZE;
}

int pass_fd_send(int socket, const void *bytes, size_t length, int fd)
{
	return send_message(socket, bytes, length, fd, 0);
}

int pass_fd_send_now(int socket, const void *bytes, size_t length, int fd)
{
	int result = send_message(socket, bytes, length, fd, MSG_DONTWAIT);

	return result == -EAGAIN ? -EBADMSG : result;
}

_Static_assert(CMSG_SPACE(sizeof(int)) <= CMSG_SPACE(0) + 2 * sizeof(int),
	       "room for more than two descriptors");

/* Returns the message's descriptor, or -EBADF if it has none. If it has more than one, closes them all. */
static int extract_descriptor(struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fds[2] = { -EBADF, -EBADF };
	size_t bytes;

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return -EBADF;
	bytes = header->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(header), bytes < sizeof(fds) ? bytes : sizeof(fds));
	if (fds[1] < 0)
		return fds[0];
	/* alignment leaves room for a second descriptor, and the kernel fills it without notice */
	close(fds[0]);
	close(fds[1]);
	message->msg_flags |= MSG_CTRUNC;
	return -EBADF;
}

ssize_t pass_fd_receive(int socket, void *bytes, size_t room, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control;
	struct iovec part = { bytes, room };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	_cleanup_close_ int fd = -EBADF;
	ssize_t got;

	do {
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	fd = extract_descriptor(&message);
	/* without a free descriptor recvmsg(2) succeeds; only this flag shows the loss */
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return -EBADMSG;
	*ret_fd = TAKE_FD(fd);
	return got;
}

int pass_fd_wait(int socket, uint64_t deadline_ns)
{
	struct pollfd message = { .fd = socket, .events = POLLIN };
	uint64_t now_ns = clock_monotonic_ns();
	struct timespec patience = clock_timespec(deadline_ns > now_ns ? deadline_ns - now_ns : 0);
	int result = ppoll(&message, 1, &patience, NULL);

	return result > 0 ? 0 : result ? -errno : -ETIMEDOUT;
}
