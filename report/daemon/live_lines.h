/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_lines.h asks bourdond for what goes on now, and takes its lines interval by interval, as they come: samples (live_line.h) or
 * latencies (latency_line.h).
 */
#ifndef BOURDON_REPORT_DAEMON_LIVE_LINES_H
#define BOURDON_REPORT_DAEMON_LIVE_LINES_H

#include "common/base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

struct live_request {
	const char *line;     /* with its newline */
	const char *end_kind; /* of the last line of an interval; outlives the connection */
	const char *what;     /* is asked for, as in "for a capture" */
};

struct live_lines {
	const char *end_kind;
	int fd;                 /* readable when there may be more */
	char *text;             /* what has come of the interval under way */
	size_t bytes, room;     /* of it */
	size_t line;            /* where its last line, which is not complete, begins */
	char *refusal;          /* why it was refused; NULL: it was not */
	bool was_told, was_cut; /* that bourdond ends; the connection has ended */
};

#define LIVE_LINES_NONE                                                                                      \
	{                                                                                                    \
		.fd = -EBADF                                                                                 \
	}

/*
 * Connects to the daemon of the database at `database`, and asks it. Root then becomes the owner of the database. 0; or -errno, and
 * the reason was logged.
 */
int live_lines_open(const char *database, const struct live_request *request, struct live_lines *ret_lines);
void live_lines_close(struct live_lines *lines);

/*
 * Takes the text of the next interval, which a NUL ends. Returns 1, and the caller frees it; 0: it is not there yet; or -errno. What has
 * come already does not make the descriptor readable.
 */
int live_lines_take(struct live_lines *lines, char **ret_text);

/* Logs why live_lines_take() failed. */
void live_lines_explain(const struct live_lines *lines, int error);

#define _cleanup_live_lines_ _cleanup_(live_lines_close)

#endif
