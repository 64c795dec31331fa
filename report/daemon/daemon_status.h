/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon_status.h owns asking the daemon over the control socket beside the database: for its status, or for another answer
 * of lines (common/protocol/status_line.h) after which the connection ends.
 *
 * Room: the daemon's answers on its control socket, which may come from whoever has its place. Called by live
 * and health; it touches that socket alone.
 */
#ifndef BOURDON_REPORT_DAEMON_DAEMON_STATUS_H
#define BOURDON_REPORT_DAEMON_DAEMON_STATUS_H

#include "common/protocol/status_line.h"

#include <stddef.h>

struct daemon_status {
	char *text; /* the lines point into it */
	struct status_line *lines;
	size_t count, room;
};

/*
 * Asks the daemon of the database at `database` for its status. 0 or -errno; -ENOENT and -ECONNREFUSED: no daemon is
 * running; -EBUSY: this user asks too often. The caller frees with daemon_status_free(), which also accepts a zeroed struct.
 */
int daemon_status_ask(const char *database, struct daemon_status *ret_status);
void daemon_status_free(struct daemon_status *status);

/*
 * Connects to the daemon of the database at `database`. Returns the socket, or -errno as daemon_status_ask() does.
 */
int daemon_connect(const char *database);

/* Sends the request, a whole line, on a connection, and reads the answer. 0 or -errno. The caller frees as above. */
int daemon_ask(int fd, const char *request, struct daemon_status *ret_answer);

/* The first line of this kind, or NULL. */
const struct status_line *daemon_status_find(const struct daemon_status *status, const char *kind);

/* The message for an error of daemon_status_ask(). */
const char *daemon_status_explain(int error);

/* Logs why daemon_connect(), or sending the request, failed. `what` is what was asked for, as in "for a capture". */
void daemon_explain_connection(const char *database, int error, const char *what);

#endif
