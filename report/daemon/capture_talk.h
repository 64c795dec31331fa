/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_talk.h owns talking with the daemon about captures on demand. Whoever has asked is who connected: from then on root is
 * not needed, and root becomes the user of the database, as whom it reads the answers.
 */
#ifndef BOURDON_REPORT_DAEMON_CAPTURE_TALK_H
#define BOURDON_REPORT_DAEMON_CAPTURE_TALK_H

#include "common/protocol/capture_request.h"
#include "report/context/report.h"

/*
 * Asks the daemon of the database for a capture, shows how far it is, and waits until it is written. Ctrl-C ends it early and
 * keeps what was recorded. Returns 0; or -errno, and the reason was logged.
 */
int capture_talk(const char *database, const struct capture_request *request, int64_t *ret_capture_id);

/* Lists the captures on demand that are under way; or ends the one of this ID, if it is not 0. */
void capture_under_way(struct report *report, int64_t end_id);

#endif
