/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/live_source.h"

#include "common/protocol/live_line.h"
#include "report/live/live_text.h"

int live_source_open(const char *database, struct live_lines *ret_lines)
{
	static const struct live_request request = { LIVE_REQUEST "\n", LIVE_SECOND, "what is on CPU" };

	return live_lines_open(database, &request, ret_lines);
}

static int take_from_daemon(void *user, struct thread_lines *ret_lines)
{
	char *text;
	int result = live_lines_take(user, &text);

	if (result <= 0)
		return result;
	result = live_text_read(text, ret_lines);
	return result < 0 ? result : 1;
}

static void explain_failure(void *user, int error)
{
	live_lines_explain(user, error);
}

struct look_source live_source_looks(struct live_lines *lines)
{
	return (struct look_source){
		.fd = lines->fd, .take = take_from_daemon, .explain = explain_failure, .user = lines
	};
}
