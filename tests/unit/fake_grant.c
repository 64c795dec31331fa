/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/fake_grant.h"

#include "common/base/cleanup.h"
#include "common/protocol/grant_request.h"
#include "common/system/pass_fd.h"
#include "tests/unit/helpers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

void fake_grant_make(struct fake_grant *grant)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*grant = (struct fake_grant){ .directory = directory_make(), .child = -1 };
	grant->path = path_join(grant->directory, "s");
	grant->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(address.sun_path, grant->path);
	ck_assert_int_eq(bind(grant->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(grant->listener, 16), 0);
}

void fake_grant_free(struct fake_grant *grant)
{
	close(grant->listener);
	directory_remove(grant->directory);
	free(grant->directory);
	free(grant->path);
}

/* Returns whether the request was as expected. */
static bool serve(int listener, const struct fake_answer *answer)
{
	_cleanup_close_ int connection = accept(listener, NULL, NULL), fd = -EBADF;
	char text[GRANT_REQUEST_BYTES_MAX];
	ssize_t bytes = answer->request ? read(connection, text, sizeof(text)) : 0;

	if (answer->request &&
	    ((size_t)bytes != strlen(answer->request) || memcmp(text, answer->request, (size_t)bytes) != 0))
		return false;
	if (answer->path)
		fd = open(answer->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (answer->text)
		return !pass_fd_send(connection, answer->text, strlen(answer->text), fd);
	return read(connection, text, 1) == 0;
}

void fake_grant_answer(struct fake_grant *grant, const struct fake_answer *answers, size_t count)
{
	grant->child = fork();
	ck_assert_int_ge(grant->child, 0);
	if (grant->child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < count; i++)
		if (!serve(grant->listener, &answers[i]))
			_exit((int)i + 1);
	_exit(0);
}

void fake_grant_finish(struct fake_grant *grant)
{
	int status;

	ck_assert_int_eq(waitpid(grant->child, &status, 0), grant->child);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "request %d was another",
		      WEXITSTATUS(status));
}

int fake_grant_is_asked(const struct fake_grant *grant)
{
	struct pollfd listener = { .fd = grant->listener, .events = POLLIN };

	return poll(&listener, 1, 0);
}
