/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer.h owns the first ten lines of why: what was short, who suffered, who caused it, where in the code, since when,
 * whether it still is, how certain that is, and what to do. All is from the database alone. The verdict is bourdond's.
 */
#ifndef BOURDON_REPORT_ANSWER_H
#define BOURDON_REPORT_ANSWER_H

#include "report/code_place.h"
#include "report/layout.h"
#include "report/parties.h"
#include "report/report.h"
#include "report/rows.h"

/* What bourdond says in capture.cause. */
enum cause_word {
	CAUSE_IS_NONE, /* nothing fired, or the capture is not complete */
	CAUSE_IS_THROTTLED,
	CAUSE_IS_COMPETING,
	CAUSE_IS_OWN_THREADS,
	CAUSE_IS_OWN_LIMIT,
	CAUSE_IS_SHORTAGE,
	CAUSE_IS_DEVICE,
	CAUSE_IS_OWN_IO,
	CAUSE_IS_INTERRUPTS,
	CAUSE_IS_STEAL,
	CAUSE_IS_NEGLIGIBLE,
	CAUSE_IS_UNDETERMINED,
	CAUSE_IS_OTHER, /* a word that this version does not know */
};

/* Each text of verdicts, in their order; NULL where there is none. */
extern const char *const verdict_words[CAUSE_IS_OTHER + 1];

/* What the verdict blames where that is no process: the numbers behind it. NULL and 0: not known. */
struct blame {
	const char *scope;  /* the cgroup whose limit it was */
	const char *name;   /* max or high of its memory; of a disk; of an interrupt */
	const char *source; /* irq or softirq */
	int64_t limit;      /* bytes; or us of CPU time a period */
	int64_t period_us;
	int64_t times, of_times;
	int64_t bytes; /* refaulted, or scanned */
	double percent, each_ms;
	int64_t number; /* of an interrupt; -1: none */
};

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
	/* of the capture */
	const char *rule, *source, *resource, *kind, *cgroup, *state, *cause, *because, *hostname;
	const char *asked_by, *asked_for;
	int64_t triggered_at, ended_at, onset_at, observed_us, stall_us, window_us, incident_id, cpus,
		span_ns;
	bool has_ended, is_older; /* is_older: the stall is older than the history */
	enum cause_word verdict;
	/* of all that took part */
	struct parties parties;
	const struct party *victim, *culprit; /* NULL: none, or not one of them */
	struct blame blame;
	struct code_place place;
	const struct party *place_of; /* NULL: of all targets */
	/* in words */
	const char *headline, *shortage, *suffered, *caused, *code, *since, *still, *certain, *certainty;
	struct remedy remedy;
};

/*
 * Answers about report->capture_id. Returns 0; -ENOMEM; or -EIO after a query that failed. Free it in any case, before the
 * profile.
 */
int answer_find(struct report *report, struct profile *profile, struct answer *answer);
void answer_free(struct answer *answer);
#define _cleanup_answer_ _cleanup_(answer_free)

void answer_print(const struct layout *layout, const struct answer *answer);

/* As one row, for JSON. Returns 0 or -ENOMEM; the caller frees the rows. */
int answer_rows(const struct answer *answer, struct rows *ret_rows);

/* A text that is kept with the answer; NULL without memory. */
const char *answer_say(struct answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same with a name in it: ANSWER_NAME in the text stands for it. It is cut so that the rest fits the page's line; of a path
 * the end is left. In JSON it is whole.
 */
#define ANSWER_NAME "\001"
const char *answer_say_name(struct answer *answer, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
