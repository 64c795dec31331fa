/* SPDX-License-Identifier: GPL-2.0-only */
/* live_source.h asks bourdond for what is on CPU, second by second (live_lines.h), and reads the lines of each. */
#ifndef BOURDON_REPORT_LIVE_LIVE_SOURCE_H
#define BOURDON_REPORT_LIVE_LIVE_SOURCE_H

#include "report/daemon/live_lines.h"
#include "report/live/look_source.h"

/* As live_lines_open(). */
int live_source_open(const char *database, struct live_lines *ret_lines);

/* `lines` outlives it. */
struct look_source live_source_looks(struct live_lines *lines);

#endif
