/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output.h owns where a report goes that is a file for another program, and no text: into the file that -o names, or to standard
 * output, unless that is a terminal.
 */
#ifndef BOURDON_REPORT_OUTPUT_H
#define BOURDON_REPORT_OUTPUT_H

#include "report/report.h"

/* Whether it has a place to go. If not, what to do was logged. */
bool output_has_place(const struct report *report);

/* Writes it as a whole. Returns 0; or -errno, and the reason was logged. command_run() checks standard output. */
int output_write(struct report *report, const char *bytes, size_t length);

#endif
