/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/live_source.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/protocol/live_line.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/escape_name.h"
#include "report/daemon/daemon_status.h"
#include "report/live/live_text.h"
#include "report/model/owner.h"

#include <string.h>
#include <sys/socket.h>

#define PIECE_BYTES (64UL << 10)
/* More than a second has: its last lines may exceed LIVE_BYTES_MAX, and it may be preceded by another one. */
#define TEXT_BYTES_MAX (4UL * LIVE_BYTES_MAX)

int live_source_open(const char *database, struct live_source *ret_source)
{
	static const char request[] = LIVE_REQUEST "\n";
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int fd = daemon_connect(database);
	int result = fd < 0 ? fd : 0;

	/* whoever has asked is who connected: from then on root is not needed */
	if (!result && owner_become_of(database, &real) == -EPERM)
		return -EPERM;
	/* closed already, it has a line that says why */
	if (!result && send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 && errno != EPIPE)
		result = -errno;
	if (result < 0) {
		daemon_explain_connection(database, result, "what is on CPU");
		return result;
	}
	*ret_source = (struct live_source){ .database = database, .fd = TAKE_FD(fd) };
	return 0;
}

void live_source_close(struct live_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->text);
	free(source->refusal);
	*source = (struct live_source)LIVE_SOURCE_NONE;
}

static int read_more(struct live_source *source)
{
	ssize_t got;

	if (source->bytes > TEXT_BYTES_MAX)
		return -EPROTO;
	if (array_make_room(source->text, source->bytes, source->room, PIECE_BYTES))
		return -ENOMEM;
	got = recv(source->fd, source->text + source->bytes, source->room - source->bytes - 1, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0) {
		source->was_cut = true;
		return -ENODATA;
	}
	source->bytes += (size_t)got;
	return 0;
}

static bool is_of_kind(const char *line, const char *kind)
{
	size_t bytes = strlen(kind);

	return !strncmp(line, kind, bytes) && (line[bytes] == '\t' || !line[bytes]);
}

/* Keeps the reason, or why there is none. */
static int note_refusal(struct live_source *source, char *text)
{
	struct status_line line;

	if (status_line_parse(text, &line) < 0)
		return -EPROTO;
	free(source->refusal);
	source->refusal = strdup(status_line_get(&line, "why"));
	if (!source->refusal)
		return -ENOMEM;
	escape_name_undo(source->refusal);
	return -EACCES;
}

/* Takes the text down to `end`; what follows is of the next second. */
static int take_second(struct live_source *source, size_t end, struct thread_lines *ret_lines)
{
	char *text = strndup(source->text, end);
	int result;

	if (!text)
		return -ENOMEM;
	source->bytes -= end;
	source->line = 0;
	memmove(source->text, source->text + end, source->bytes);
	result = live_text_read(text, ret_lines);
	return result < 0 ? result : 1;
}

/* Looks at each line that is complete by now. Returns 1 if a second was, 0, or -errno. */
static int look_at_lines(struct live_source *source, struct thread_lines *ret_lines)
{
	char *end;

	if (!source->bytes)
		return 0;
	while ((end = memchr(source->text + source->line, '\n', source->bytes - source->line))) {
		char *line = source->text + source->line;

		source->line = (size_t)(end - source->text) + 1;
		*end = '\0';
		if (is_of_kind(line, "refused"))
			return note_refusal(source, line);
		source->was_told |= is_of_kind(line, LIVE_INTERRUPTED);
		*end = '\n';
		if (is_of_kind(line, LIVE_SECOND))
			return take_second(source, source->line, ret_lines);
	}
	return 0;
}

static int take_from_daemon(void *user, struct thread_lines *ret_lines)
{
	struct live_source *source = user;
	int result = look_at_lines(source, ret_lines);

	if (result)
		return result;
	result = read_more(source);
	return result < 0 ? result : look_at_lines(source, ret_lines);
}

static void explain_failure(void *user, int error)
{
	const struct live_source *source = user;
	char why[512];

	if (source->refusal)
		log_error("bourdond refused it: %s", escape_terminal(source->refusal, why, sizeof(why)));
	else if (source->was_told)
		log_error("bourdond is ending: try again when it is back");
	else if (source->was_cut)
		log_error("the connection to bourdond has ended: try again");
	else if (error == -EPROTO)
		log_error("bourdond's answer is damaged: is it of another version?");
	else
		log_error("cannot read what bourdond says: %s", strerror(-error));
}

struct look_source live_source_looks(struct live_source *source)
{
	return (struct look_source){
		.fd = source->fd, .take = take_from_daemon, .explain = explain_failure, .user = source
	};
}
