/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h owns what every subcommand is given, and names them all. Each lives in a file of its own, and
 * command.c's table makes it one.
 */
#ifndef BOURDON_REPORT_H
#define BOURDON_REPORT_H

#include "report/database.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report {
	struct database *database; /* in one read transaction, so that all numbers agree */
	const char *run_dir;       /* of the loader */
	const char *debug_dir;     /* where symbolize looks */
	FILE *out;
	int64_t capture_id; /* exists; 0 for a subcommand that takes none */
	int64_t limit;      /* rows to show at most; negative: all */
	bool json;
	bool unwell; /* doctor: something failed */
};

/* A reason that took at least this share of what it counts makes a capture PARTIAL. */
#define PARTIAL_PERCENT 1.0

/* A query that fails has been logged, and is remembered in the database: nothing to return. */
void list_run(struct report *report);
void why_run(struct report *report);
void top_run(struct report *report);
void folded_run(struct report *report);
void doctor_run(struct report *report);
void status_run(struct report *report);
void symbolize_run(struct report *report);

#endif
