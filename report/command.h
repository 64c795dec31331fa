/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h owns bourdon's command line: the subcommands, their options, and the choice of the capture.
 */
#ifndef BOURDON_REPORT_COMMAND_H
#define BOURDON_REPORT_COMMAND_H

#include "common/capture_request.h"
#include "report/activity_options.h"
#include "report/capture_options.h"
#include "report/diff_options.h"
#include "report/export_options.h"
#include "report/flame_options.h"
#include "report/list_options.h"
#include "report/report.h"
#include "report/threads_options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct subcommand;

struct request {
	const struct subcommand *subcommand;
	const char *path; /* of the database; static, or part of the arguments */
	const char *run_dir, *debug_dir;
	char **operands; /* the words after the subcommand; part of the arguments */
	int operands_count;
	int64_t capture_id; /* negative: the newest complete capture */
	bool of_incident;   /* that ID is of an incident */
	int64_t limit;      /* rows; negative: all */
	bool json;
	bool full;            /* why: every section */
	const char *sections; /* why: these alone, or NULL */
	bool no_color;
	bool off_cpu;                     /* folded: intervals off CPU */
	struct capture_request ask;       /* of capture */
	const char *format;               /* of capture, or NULL */
	struct threads_options threads;   /* of threads, and of top --live */
	struct activity_options activity; /* of activity */
	struct export_options export;     /* of export */
	const char *output;               /* -o, or NULL */
	int64_t against_id;               /* of report: compare with this capture; negative: none */
	struct flame_options flame;       /* of flame */
	struct diff_options diff;         /* of diff */
	struct list_options list;         /* of list */
	enum top_by top_by;               /* of top */
	/* of capture: what is asked instead of one */
	struct capture_under_way under_way;
};

/* Reads argv. Returns OPTIONS_RUN and fills *ret_request; else the exit status. A mistake is logged. */
int command_parse(int count, char **arguments, struct request *ret_request);

/* Runs the subcommand and writes its report to `out`. Returns the exit status. Errors have been logged. */
int command_run(const struct request *request, FILE *out);

#endif
