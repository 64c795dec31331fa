/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/daemon/live_lines.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/protocol/latency_line.h"
#include "common/protocol/live_line.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/escape_name.h"
#include "report/daemon/daemon_status.h"
#include "report/model/owner.h"

#include <string.h>
#include <sys/socket.h>

#define PIECE_BYTES (64UL << 10)
/* More than an interval has: its last lines may exceed their limit, and it may be preceded by another one. */
#define TEXT_BYTES_MAX (2UL * LIVE_BYTES_MAX + 2UL * LATENCY_BYTES_MAX)

int live_lines_open(const char *database, const struct live_request *request, struct live_lines *ret_lines)
{
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int fd = daemon_connect(database);
	int result = fd < 0 ? fd : 0;

	/* whoever has asked is who connected: from then on root is not needed */
	if (!result && owner_become_of(database, &real) == -EPERM)
		return -EPERM;
	/* closed already, it has a line that says why */
	if (!result && send(fd, request->line, strlen(request->line), MSG_NOSIGNAL) < 0 && errno != EPIPE)
		result = -errno;
	if (result < 0) {
		daemon_explain_connection(database, result, request->what);
		return result;
	}
	*ret_lines = (struct live_lines){ .end_kind = request->end_kind, .fd = TAKE_FD(fd) };
	return 0;
}

void live_lines_close(struct live_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->text);
	free(lines->refusal);
	*lines = (struct live_lines)LIVE_LINES_NONE;
}

static int read_more(struct live_lines *lines)
{
	ssize_t got;

	if (lines->bytes > TEXT_BYTES_MAX)
		return -EPROTO;
	if (array_make_room(lines->text, lines->bytes, lines->room, PIECE_BYTES))
		return -ENOMEM;
	got = recv(lines->fd, lines->text + lines->bytes, lines->room - lines->bytes - 1, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0) {
		lines->was_cut = true;
		return -ENODATA;
	}
	lines->bytes += (size_t)got;
	return 0;
}

static bool is_of_kind(const char *line, const char *kind)
{
	size_t bytes = strlen(kind);

	return !strncmp(line, kind, bytes) && (line[bytes] == '\t' || !line[bytes]);
}

/* Keeps the reason, or why there is none. */
static int note_refusal(struct live_lines *lines, char *text)
{
	struct status_line line;

	if (status_line_parse(text, &line) < 0)
		return -EPROTO;
	free(lines->refusal);
	lines->refusal = strdup(status_line_get(&line, "why"));
	if (!lines->refusal)
		return -ENOMEM;
	escape_name_undo(lines->refusal);
	return -EACCES;
}

/* Takes the text down to `end`; what follows is of the next interval. */
static int take_interval(struct live_lines *lines, size_t end, char **ret_text)
{
	char *text = strndup(lines->text, end);

	if (!text)
		return -ENOMEM;
	lines->bytes -= end;
	lines->line = 0;
	memmove(lines->text, lines->text + end, lines->bytes);
	*ret_text = text;
	return 1;
}

/* Looks at each line that is complete by now. Returns 1 if an interval was, 0, or -errno. */
static int look_at_lines(struct live_lines *lines, char **ret_text)
{
	char *end;

	if (!lines->bytes)
		return 0;
	while ((end = memchr(lines->text + lines->line, '\n', lines->bytes - lines->line))) {
		char *line = lines->text + lines->line;

		lines->line = (size_t)(end - lines->text) + 1;
		*end = '\0';
		if (is_of_kind(line, "refused"))
			return note_refusal(lines, line);
		lines->was_told |= is_of_kind(line, LIVE_INTERRUPTED);
		*end = '\n';
		if (is_of_kind(line, lines->end_kind))
			return take_interval(lines, lines->line, ret_text);
	}
	return 0;
}

int live_lines_take(struct live_lines *lines, char **ret_text)
{
	int result = look_at_lines(lines, ret_text);

	if (result)
		return result;
	result = read_more(lines);
	return result < 0 ? result : look_at_lines(lines, ret_text);
}

void live_lines_explain(const struct live_lines *lines, int error)
{
	char why[512];

	if (lines->refusal)
		log_error("bourdond refused it: %s", escape_terminal(lines->refusal, why, sizeof(why)));
	else if (lines->was_told)
		log_error("bourdond is ending: try again when it is back");
	else if (lines->was_cut)
		log_error("the connection to bourdond has ended: try again");
	else if (error == -EPROTO)
		log_error("bourdond's answer is damaged: is it of another version?");
	else
		log_error("cannot read what bourdond says: %s", strerror(-error));
}
