/* SPDX-License-Identifier: GPL-2.0-only */
/* output.h owns where a report goes that is a file: into the file that -o names, or to standard output. */
#ifndef BOURDON_REPORT_CONTEXT_OUTPUT_H
#define BOURDON_REPORT_CONTEXT_OUTPUT_H

#include "report/context/report.h"

/*
 * Makes the file that -o names, unless `path` is NULL or "-"; report->out becomes the file. Then opens the database and the capture,
 * as subcommand_open_capture() does. Who reads the database stops being root (report/model/owner.h), and then may not be allowed to
 * write where root wants the file; and who is ended by a signal leaves an unfinished one. So this process makes the file, reads
 * nothing, and gives the file its name, or removes it, at the end; a child goes on. Returns OPTIONS_RUN in the process that goes on;
 * else the exit status.
 */
int output_open_capture(struct report *report, const char *path);

/* Whether what is no text has a place to go: standard output may be a terminal. If not, what to do was logged. */
bool output_has_place(const struct report *report);

#endif
