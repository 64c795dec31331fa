/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/file_grant.h"

#include "common/base/cleanup.h"
#include "common/system/pass_fd.h"
#include "consumer/watch/grant_client.h"

int file_grant_ask(const char *socket_path, const struct grant_request *request, uint64_t deadline_ns)
{
	_cleanup_close_ int connection = grant_client_connect(socket_path);
	char text[GRANT_REQUEST_BYTES_MAX], refusal[GRANT_ANSWER_BYTES_MAX];
	int result;

	if (connection < 0)
		return connection;
	result = pass_fd_send(connection, text, grant_request_format(request, text), -EBADF);
	/* bourdon-grant may refuse this user, and close the connection, before it reads the request */
	if (!result || result == -EPIPE)
		result = pass_fd_wait(connection, deadline_ns);
	return result < 0 ? result : grant_client_receive(connection, refusal);
}
