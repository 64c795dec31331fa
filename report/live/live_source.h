/* SPDX-License-Identifier: GPL-2.0-only */
/* live_source.h asks bourdond for what is on CPU, second by second, and reads its lines as they come. */
#ifndef BOURDON_REPORT_LIVE_LIVE_SOURCE_H
#define BOURDON_REPORT_LIVE_LIVE_SOURCE_H

#include "report/live/look_source.h"

#include <errno.h>
#include <stddef.h>

struct live_source {
	const char *database; /* whose bourdond it is; for messages */
	int fd;
	char *text;             /* what has come of the second under way */
	size_t bytes, room;     /* of it */
	size_t line;            /* where its last line, which is not complete, begins */
	char *refusal;          /* why it was refused; NULL: it was not */
	bool was_told, was_cut; /* that bourdond ends; the connection has ended */
};

#define LIVE_SOURCE_NONE                                                                                     \
	{                                                                                                    \
		.fd = -EBADF                                                                                 \
	}

/*
 * Connects to the daemon of the database at `database`, which outlives the source, and asks it. Root then becomes the owner of
 * the database. 0; or -errno, and the reason was logged.
 */
int live_source_open(const char *database, struct live_source *ret_source);
void live_source_close(struct live_source *source);

struct look_source live_source_looks(struct live_source *source);

#define _cleanup_live_source_ _cleanup_(live_source_close)

#endif
