/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h owns bourdon's command line: which subcommands there are, what each takes, and which capture
 * is meant.
 */
#ifndef BOURDON_REPORT_COMMAND_H
#define BOURDON_REPORT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct subcommand;

struct request {
	const struct subcommand *subcommand;
	const char *path; /* of the database; points into the arguments, or is static */
	const char *run_dir, *debug_dir;
	int64_t capture_id; /* negative: the newest complete one */
	int64_t limit;      /* rows; negative: all */
	bool json;
};

/* Reads argv. Returns OPTIONS_RUN and fills *ret_request, else the exit status; a mistake is logged. */
int command_parse(int count, char **arguments, struct request *ret_request);

/* Does what was asked, to `out`. Returns the exit status; what failed has been logged. */
int command_run(const struct request *request, FILE *out);

#endif
