/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/daemon/daemon_status.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/start_command.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "common/text/escape.h"

#include <libgen.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define STATUS_BYTES_MAX (16 << 20)
#define LINES_MAX 65536
#define ANSWER_SECONDS 5
#define PIECE_BYTES 65536UL

/* Reads to the end, but no longer than the timeout: the daemon may be stopped. */
static int read_answer(int fd, char **ret_text)
{
	uint64_t deadline_ns = clock_monotonic_ns() + ANSWER_SECONDS * CLOCK_SECOND_NS;
	_cleanup_free_ char *text = NULL;
	size_t used = 0, room = 0;
	ssize_t got;

	do {
		int result = pass_fd_wait(fd, deadline_ns);

		if (result < 0)
			return result;
		if (used > STATUS_BYTES_MAX)
			return -EFBIG;
		if (array_make_room(text, used, room, PIECE_BYTES))
			return -ENOMEM;
		got = read(fd, text + used, room - used - 1);
		if (got < 0 && errno == ECONNRESET && used)
			got = 0; /* it has answered, and not read what was asked */
		if (got < 0)
			return -errno;
		used += (size_t)got;
	} while (got);
	text[used] = '\0';
	*ret_text = TAKE_PTR(text);
	return 0;
}

int daemon_connect(const char *database)
{
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_free_ char *copy = strdup(database);
	_cleanup_close_ int fd = -EBADF;

	if (!copy)
		return -ENOMEM;
	if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/" CONTROL_SOCKET_FILE,
			     dirname(copy)) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* the timeout of connect(2), which returns EAGAIN when the listen queue stays full */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	return TAKE_FD(fd);
}

/* Splits the text into lines, in place. */
static int parse(struct daemon_status *status)
{
	char *text = status->text, *line;

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		if (status->count == LINES_MAX)
			return -E2BIG;
		if (array_make_room(status->lines, status->count, status->room, 1UL))
			return -ENOMEM;
		if (status_line_parse(line, &status->lines[status->count]))
			return -EBADMSG;
		status->count++;
	}
	return status->count ? 0 : -EBADMSG;
}

int daemon_ask(int fd, const char *request, struct daemon_status *ret_answer)
{
	struct daemon_status answer = { 0 };
	int result = 0;

	/* the daemon may have closed the connection already, after a line that says why */
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 && errno != EPIPE)
		result = -errno;
	if (!result)
		result = read_answer(fd, &answer.text);
	if (!result)
		result = parse(&answer);
	if (result < 0)
		daemon_status_free(&answer);
	else
		*ret_answer = answer;
	return result;
}

int daemon_status_ask(const char *database, struct daemon_status *ret_status)
{
	_cleanup_close_ int fd = daemon_connect(database);
	int result = fd < 0 ? fd : daemon_ask(fd, "status\n", ret_status);

	if (!result && daemon_status_find(ret_status, "refused")) {
		daemon_status_free(ret_status);
		result = -EBUSY;
	}
	return result;
}

void daemon_status_free(struct daemon_status *status)
{
	free(status->lines);
	free(status->text);
	*status = (struct daemon_status){ 0 };
}

const struct status_line *daemon_status_find(const struct daemon_status *status, const char *kind)
{
	for (size_t i = 0; i < status->count; i++)
		if (!strcmp(status->lines[i].kind, kind))
			return &status->lines[i];
	return NULL;
}

const char *daemon_status_explain(int error)
{
	switch (error) {
	case -EACCES:
		return "become a member of its group";
	case -ETIMEDOUT:
	case -EAGAIN:
		return "it does not answer: it is stopped, or has too many requests";
	case -EBUSY:
		return CONTROL_TOO_OFTEN;
	case -ECONNRESET:
		return "it is ending; try again";
	default:
		return strerror(-error);
	}
}

void daemon_explain_connection(const char *database, int error, const char *what)
{
	char path[1024];

	escape_terminal(database, path, sizeof(path));
	if (error == -ENOENT || error == -ECONNREFUSED)
		log_error("no bourdond is running for '%s': start it with '%s'", path, start_command());
	else
		log_error("cannot ask the bourdond of '%s' %s: %s", path, what, daemon_status_explain(error));
}
