/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output_file.h owns the file that -o names. While it is written it stands beside its place as "FILE.unfinished-PID", and it
 * gets its own name, in place of a file or link that is there, when it is whole. What is no regular file, such as a pipe, is
 * written as it is; a disk is refused.
 *
 * Root opens nothing that another user could have put in the way. Where others may change the directory, or one above it, root
 * makes a new file, on a path without links, and gives it its name in place of a file; in a directory with the sticky bit, such
 * as /tmp, root opens nothing of another user's.
 */
#ifndef BOURDON_REPORT_CONTEXT_OUTPUT_FILE_H
#define BOURDON_REPORT_CONTEXT_OUTPUT_FILE_H

#include "common/base/cleanup.h"

#include <stdbool.h>
#include <stdio.h>

struct output_file {
	FILE *file;       /* the caller writes to it */
	const char *path; /* the caller's */
	const char *name; /* the last part of it */
	int directory;    /* that it is in; 0: none is open */
	bool is_foreign;  /* root writes, and others may change this directory or one above it */
	char *unfinished; /* its name there; NULL: it is written as it is */
};

/*
 * Makes the file, which nobody else may read, with the rights that this process has. Returns 0; or -errno, and the reason was
 * logged.
 */
int output_file_make(struct output_file *output, const char *path);

/*
 * Whether users other than root may change the directory or one above it, which is then named for `path`. Returns 0; or -errno,
 * and the reason was logged.
 */
int output_file_judge_directory(int directory, const char *path);

/* Gives it its name. Returns 0; or -errno, and the reason was logged. */
int output_file_finish(struct output_file *output);

/* Closes it, and removes one that is unfinished. Accepts one that was never made. */
void output_file_end(struct output_file *output);

#define _cleanup_output_file_ _cleanup_(output_file_end)

#endif
