/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/grant_client.h"

#include "common/cleanup.h"
#include "common/pass_fd.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int grant_client_connect(const char *socket_path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -EBADF;

	if (strlen(socket_path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, socket_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* a Unix socket connects at once, or says EAGAIN where too many wait to be accepted */
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	return TAKE_FD(fd);
}

static bool is_text(const char *text, size_t bytes, const char *expected)
{
	return bytes == strlen(expected) && !memcmp(text, expected, bytes);
}

int grant_client_receive(int connection)
{
	char text[GRANT_ANSWER_BYTES_MAX];
	_cleanup_close_ int fd = -EBADF;
	ssize_t received = pass_fd_receive(connection, text, sizeof(text), &fd);
	size_t bytes = (size_t)received;

	if (received < 0)
		return (int)received;
	if (fd >= 0 && is_text(text, bytes, GRANT_OK))
		return TAKE_FD(fd);
	if (is_text(text, bytes, GRANT_REFUSED GRANT_NO_FILES "\n"))
		return -EPERM;
	return bytes > strlen(GRANT_REFUSED) && !memcmp(text, GRANT_REFUSED, strlen(GRANT_REFUSED))
		       ? -EACCES
		       : -EBADMSG;
}
