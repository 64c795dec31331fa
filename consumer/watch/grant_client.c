/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/grant_client.h"

#include "common/base/cleanup.h"
#include "common/system/pass_fd.h"

#include <stdbool.h>
#include <stdio.h>
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
	/* a Unix socket connects at once, or returns EAGAIN when the backlog is full */
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	return TAKE_FD(fd);
}

static bool is_text(const char *text, size_t bytes, const char *expected)
{
	return bytes == strlen(expected) && !memcmp(text, expected, bytes);
}

/* Parses "refused REASON\n". Returns false if the answer is not a refusal. */
static bool parse_refusal(const char *text, size_t bytes, char ret_refusal[GRANT_ANSWER_BYTES_MAX])
{
	const size_t prefix = strlen(GRANT_REFUSED);

	if (bytes <= prefix || memcmp(text, GRANT_REFUSED, prefix))
		return false;
	snprintf(ret_refusal, GRANT_ANSWER_BYTES_MAX, "%.*s", (int)(bytes - prefix), text + prefix);
	ret_refusal[strcspn(ret_refusal, "\n")] = '\0';
	return true;
}

int grant_client_receive(int connection, char ret_refusal[GRANT_ANSWER_BYTES_MAX])
{
	char text[GRANT_ANSWER_BYTES_MAX];
	_cleanup_close_ int fd = -EBADF;
	ssize_t received = pass_fd_receive(connection, text, sizeof(text), &fd);
	size_t bytes = (size_t)received;

	if (received < 0)
		return (int)received;
	if (fd >= 0 && is_text(text, bytes, GRANT_OK))
		return TAKE_FD(fd);
	if (!parse_refusal(text, bytes, ret_refusal))
		return -EBADMSG;
	if (is_text(text, bytes, GRANT_REFUSED GRANT_LATER "\n"))
		return -EBUSY;
	return is_text(text, bytes, GRANT_REFUSED GRANT_NO_FILES "\n") ? -EPERM : -EACCES;
}
