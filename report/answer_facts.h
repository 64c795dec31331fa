/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer_facts.h owns what an answer is made of: what the database says of the capture, who took part, what the verdict blames,
 * and the sentences about it. Modules that find a part of it are blame.h, certainty.h and remedy.h; answer.h puts it together.
 */
#ifndef BOURDON_REPORT_ANSWER_FACTS_H
#define BOURDON_REPORT_ANSWER_FACTS_H

#include "report/code_place.h"
#include "report/parties.h"
#include "report/report.h"

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
	CAUSE_IS_KILL,
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

/* A target that was killed for lack of memory: what the database says of the kill that is nearest to the trigger. */
struct killed {
	const char *comm, *how, *place, *cgroup; /* comm NULL: there is none */
	const char *limit_cgroup;                /* a name, not a path, of version 1; NULL: not known */
	int64_t tgid, rss_bytes, limit_bytes;
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
	bool is_kill;             /* a kill fired, and `resource` is what it was for lack of */
	enum cause_word verdict;
	/* of all that took part */
	struct parties parties;
	const struct party *victim, *culprit; /* NULL: none, or not one of them */
	struct killed killed;
	struct blame blame;
	struct code_place place;
	const struct party *place_of; /* NULL: of all targets */
	/* in words; kill: NULL where no target was killed */
	const char *headline, *kill, *shortage, *suffered, *caused, *code, *since, *still, *certain,
		*certainty;
	struct remedy remedy;
};

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
