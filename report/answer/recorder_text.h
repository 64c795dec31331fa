/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder_text.h prints what recording cost during a capture, and how it kept pace.
 */
#ifndef BOURDON_REPORT_ANSWER_RECORDER_TEXT_H
#define BOURDON_REPORT_ANSWER_RECORDER_TEXT_H

#include "report/model/query.h"
#include "report/text/layout.h"

/* What to do where the kernel does not count the time of programs. */
#define PROGRAM_TIME_REMEDY                                                                                  \
	"'sysctl kernel.bpf_stats_enabled=1', as root, has the kernel count it, and read a clock twice for each run"

/* ?1 is the capture. */
extern const char recorder_sql[];

/* Prints a section of `why`: the rows of recorder_sql. */
void recorder_print(const struct layout *layout, struct query *query);

#endif
