/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_text.h reads the lines of one second that bourdond answers to the request "live" (common/protocol/live_line.h). Names in them
 * are chosen by others; what is no line of it is counted.
 */
#ifndef BOURDON_REPORT_LIVE_LIVE_TEXT_H
#define BOURDON_REPORT_LIVE_LIVE_TEXT_H

#include "report/live/threads_text.h"

/*
 * Reads a text that a NUL ends, down to its line "second", and takes it over, also if it fails. -EPROTO: that line is missing
 * or damaged. 0 or -ENOMEM.
 */
int live_text_read(char *text, struct thread_lines *ret_lines);

#endif
