/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h owns what every subcommand gets, and declares the subcommands. Each is a file of its own, and
 * command.c has the table of them.
 */
#ifndef BOURDON_REPORT_H
#define BOURDON_REPORT_H

#include "common/capture_request.h"
#include "report/activity_options.h"
#include "report/capture_options.h"
#include "report/database.h"
#include "report/diff_options.h"
#include "report/export_options.h"
#include "report/flame_options.h"
#include "report/layout.h"
#include "report/list_options.h"
#include "report/threads_options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Which lists of functions `top` prints. */
enum top_by { TOP_BY_BOTH, TOP_BY_SELF, TOP_BY_TOTAL };

struct report {
	struct database *database; /* in one read transaction, so that all numbers agree */
	const char *run_dir;       /* of bourdon-load */
	const char *debug_dir;     /* where symbolize looks for files */
	const struct host *host;   /* for remedies; NULL: this machine, if the capture is of it */
	char **operands;           /* what follows the subcommand on the command line */
	int operands_count;
	FILE *out;
	struct layout layout; /* of `out`: of what fits the width that is there */
	bool full;            /* why: every section */
	const char *sections; /* why: these alone, by their names; or NULL */
	int64_t capture_id;   /* of a capture that exists; 0 for a subcommand without one */
	int64_t incident_id;  /* `why --incident`: of an incident that exists; else 0 */
	int64_t limit;        /* rows to show at most; negative: all */
	bool json;
	bool off_cpu;                            /* folded: intervals off CPU */
	const struct capture_request *ask;       /* of capture */
	const char *format;                      /* of capture: in which its result is printed, or NULL */
	const struct threads_options *threads;   /* of threads, and of top --live */
	const struct activity_options *activity; /* of activity */
	const struct export_options *export;     /* of export */
	const char *output;                      /* -o: the file to write, or NULL */
	int64_t against_id;                      /* of report: another capture that exists, or 0 */
	const struct flame_options *flame;       /* of flame */
	const struct diff_options *diff;         /* of diff */
	const struct list_options *list;         /* of list */
	enum top_by top_by;                      /* of top */
	bool unwell; /* set by the subcommand: it failed, or a check did; the reason was written */
	/* of capture: what is asked instead of one */
	const struct capture_under_way *under_way;
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

/* These return nothing: a failed query was logged and has set database->failed. */
void list_run(struct report *report);
void why_run(struct report *report);
void top_run(struct report *report);
void folded_run(struct report *report);
void export_run(struct report *report);
void flame_run(struct report *report);
void page_run(struct report *report);
void diff_run(struct report *report);
void show_run(struct report *report);
void capture_run(struct report *report);
void capture_under_way_run(struct report *report);
void doctor_run(struct report *report);
void status_run(struct report *report);
void symbolize_run(struct report *report);
void threads_run(struct report *report);
void activity_run(struct report *report);
void db_check_run(struct report *report);
void db_compact_run(struct report *report);
void db_copy_run(struct report *report);
void db_merge_run(struct report *report);

/*
 * Checks a list of sections for `why`. Returns true; or false, and a name that is none was logged with all that there are.
 */
bool why_has_sections(const char *names);

/* Writes the names of the sections of `why`, a line each, with what they show. */
void why_list_sections(FILE *out);

#endif
