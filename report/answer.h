/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer.h owns the first lines of why: what was short, who waited, for whom, where in the code, since when, whether it still is,
 * how certain that is, and what to do. All is from the database alone. The verdict is that of common/verdict/; the code, the time
 * and the remedy are found here and in the modules beside (code_place.h, goes_on.h, remedy.h).
 */
#ifndef BOURDON_REPORT_ANSWER_H
#define BOURDON_REPORT_ANSWER_H

#include "report/code_place.h"
#include "report/judged.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/rows.h"

/* So many lines are on a page of 24, beside the command and the prompt, that a person reads all of them. */
#define ANSWER_LINES_MOST 14U

struct remedy {
	const char *text;    /* what to change, or to look at */
	const char *command; /* for a shell; NULL: none */
	bool changes;        /* the command changes something; else it looks */
};

/* All texts live as long as the profile. */
struct answer {
	struct report *report;
	struct profile *profile; /* of the targets; also keeps the texts */
	struct profile others;   /* loaded only if the verdict names one of them */
	const char *rule, *source, *resource, *kind, *cgroup, *state, *hostname, *asked_by, *asked_for;
	const char *trigger_mode;
	int64_t triggered_at, ended_at, onset_at, observed_us, stall_us, window_us, incident_id;
	bool has_ended;
	bool is_older;    /* the stall began before the capture's history */
	bool has_verdict; /* the capture is no baseline, and not being recorded; else `judged` has facts alone */
	struct judged judged;
	const char *stored; /* the verdict that was stored, if it is another one */
	int64_t stored_version;
	struct code_place place;
	struct code_party place_of; /* program NULL: of all targets */
	const char *place_waits; /* the resource that was waited for there, "" for whatever; NULL: it ran */
	bool place_is_others;    /* of a program that is no target */
	const char *goes_on;     /* a word of goes_on.h */
	struct remedy remedy;
	struct answer_line {
		const char *label, *text;
		enum layout_style style;
		bool is_whole; /* never cut: a command */
		bool is_spare; /* left out where there is no room */
	} lines[2 * ANSWER_LINES_MOST];
	uint32_t lines_count;
};

/*
 * Answers about report->capture_id. Returns 0; -ENOMEM; or -EIO after a query that failed. Free it in any case, before the
 * profile.
 */
int answer_find(struct report *report, struct profile *profile, struct answer *answer);
void answer_free(struct answer *answer);
#define _cleanup_answer_ _cleanup_(answer_free)

/* Prints at most ANSWER_LINES_MOST lines, and returns how many. */
uint32_t answer_print(const struct layout *layout, const struct answer *answer);

/* As one row, for JSON. Returns 0 or -ENOMEM; the caller frees the rows. */
int answer_rows(struct answer *answer, struct rows *ret_rows);

/* ---- for the modules beside ---- */

/* A text that is kept with the answer; NULL without memory. */
const char *answer_say(struct answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same with a name in it: ANSWER_NAME in the text stands for it. It is shortened in the middle so that the rest fits the
 * page's line. In JSON it is whole.
 */
#define ANSWER_NAME "\001"
const char *answer_say_name(struct answer *answer, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* How many columns a line of the answer has for its text; 0: as many as it needs. */
size_t answer_columns(const struct answer *answer);

/* The unit that a cgroup's path ends with, else the path. */
const char *answer_unit_of(const char *cgroup);

#endif
