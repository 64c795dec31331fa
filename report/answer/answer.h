/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer.h owns what an answer of why is made of: what the database says of the capture, its verdict, the code, the remedy, and the
 * lines about it. answer_find.h finds it, answer_lines.h writes and prints the lines, answer_json.h the data.
 *
 * Room: what a person reads of a capture: the answer, remedies, `list`, `top`. Subcommands alone, and
 * why, diff and picture for their parts of it; it reads the model, and of this machine what a remedy needs.
 */
#ifndef BOURDON_REPORT_ANSWER_ANSWER_H
#define BOURDON_REPORT_ANSWER_ANSWER_H

#include "report/answer/code_place.h"
#include "report/context/report.h"
#include "report/model/judged.h"
#include "report/text/layout.h"

/* Of all lines; fewer are printed. */
#define ANSWER_LINES_ROOM 28U

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
	const char *rule, *resource, *kind, *cgroup, *state, *hostname, *asked_by, *asked_for;
	const char *latency; /* that fired, what was seen, and the limit; NULL: none */
	int64_t triggered_at, ended_at, onset_at, observed_us, stall_us, window_us;
	bool has_ended;
	bool is_older;    /* the stall began before the capture's history */
	bool has_verdict; /* the capture is no baseline, and not being recorded; else `judged` has facts alone */
	struct judged judged;
	const char *stored; /* the verdict that was stored, if it is another one */
	int64_t stored_version;
	struct code_place place;
	const char *place_waits; /* the resource that was waited for there, "" for whatever; NULL: it ran */
	bool place_is_others;    /* of a program that is no target */
	const char *goes_on;     /* a word of goes_on.h */
	struct remedy remedy;
	struct answer_line {
		const char *label, *text;
		enum layout_style style;
		bool is_whole; /* never cut: a command */
		bool is_spare; /* left out where there is no room */
	} lines[ANSWER_LINES_ROOM];
	uint32_t lines_count;
};

void answer_free(struct answer *answer);
#define _cleanup_answer_ _cleanup_(answer_free)

/* A text that is kept with the answer; NULL without memory. */
const char *answer_say(struct answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same with a name in it: ANSWER_NAME in the text stands for it. It is shortened in the middle so that the rest fits the
 * page's line. In JSON it is whole.
 */
#define ANSWER_NAME "\001"
#define answer_say_name(answer, name, ...) answer_put_name(answer, name, answer_say(answer, __VA_ARGS__))
const char *answer_put_name(struct answer *answer, const char *name, const char *text);

/* The same with the name as one word of a shell (shell_quote.h), as long as it is. */
#define answer_say_word(answer, name, ...) answer_put_word(answer, name, answer_say(answer, __VA_ARGS__))
const char *answer_put_word(struct answer *answer, const char *name, const char *text);

/* The line, kept with the answer, in the columns that it has. NULL without memory. */
struct line;
const char *answer_say_line(struct answer *answer, const struct line *line);

/* How many columns a line of the answer has for its text; 0: as many as it needs. */
size_t answer_columns(const struct answer *answer);

/* The unit that a cgroup's path ends with, else the path. */
const char *answer_unit_of(const char *cgroup);

#endif
