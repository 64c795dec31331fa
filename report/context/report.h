/* SPDX-License-Identifier: GPL-2.0-only */
/* report.h owns what every subcommand and what it calls get: the database, the capture, and where the output goes. */
#ifndef BOURDON_REPORT_CONTEXT_REPORT_H
#define BOURDON_REPORT_CONTEXT_REPORT_H

#include "report/context/output_file.h"
#include "report/model/database.h"
#include "report/text/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct subcommand;

struct report {
	struct database *database;      /* in one read transaction, so that all numbers agree */
	const struct subcommand *alias; /* by which the subcommand was called; NULL: by its own name */
	const char *run_dir;            /* of bourdon-load */
	const struct host *host;        /* for remedies; NULL: this machine, if the capture is of it */
	char **operands;                /* the words on the command line that are no options */
	int operands_count;
	FILE *out;
	struct layout layout;      /* of `out`: of what fits the width that is there */
	struct output_file output; /* that -o names, which is `out`; zero: none */
	int64_t capture_id; /* that was asked for, negative: the newest; once it is chosen, of a capture that exists */
	int64_t limit; /* rows to show at most; negative: all */
	bool json;
	bool unwell;   /* set by the subcommand: it failed, or a check did; the reason was written */
	bool is_child; /* this process reads for another one, which waits for it (report/context/output.h) */
};

/* A capture with a loss of at least this percentage is PARTIAL. */
#define PARTIAL_PERCENT 1.0

/*
 * Columns of a query: all events in the ledger of the capture with this id, and the largest percentage; NULL without a ledger.
 * capture_summary.losses has those of the unit `sample` alone.
 */
#define LOSSES_OF(capture_id)                                                                                           \
	"(SELECT sum(l.events) FROM loss l WHERE l.capture_id = " capture_id ") AS losses, "                            \
	"(SELECT iif(count(*), ifnull(max(q.percent), 0.0), NULL) FROM data_quality q WHERE q.capture_id = " capture_id \
	") AS lost_percent"

#endif
