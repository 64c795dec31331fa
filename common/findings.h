/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * findings.h owns a list of what was looked at, what was found, and what to do about it: bourdon-load --check
 * and bourdon doctor fill one each, and show it as a table or as JSON.
 */
#ifndef BOURDON_FINDINGS_H
#define BOURDON_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define FINDINGS_MAX 48

enum verdict {
	VERDICT_OK,
	VERDICT_UNKNOWN, /* this caller may not look, or the machine does not say */
	VERDICT_WARNING, /* it works, and less well than it could */
	VERDICT_FAILED,
	VERDICTS,
};

extern const char *const verdict_names[VERDICTS];

struct finding {
	const char *name;
	enum verdict verdict;
	char found[320];
	char remedy[320]; /* empty where there is nothing to do */
};

struct findings {
	struct finding items[FINDINGS_MAX];
	size_t count;
};

/*
 * Adds one; `name` is kept, not copied, and a list that is full drops what comes. The first says that all is
 * well; the second, what is not and its remedy ("" where there is none).
 */
void findings_ok(struct findings *findings, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void findings_add(struct findings *findings, enum verdict verdict, const char *name, const char *remedy,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The worst verdict of all: VERDICT_OK of none. */
enum verdict findings_worst(const struct findings *findings);

/* For a person: a line each, and the remedy below it. Text from elsewhere is escaped. */
void findings_print(const struct findings *findings, FILE *out);

/* {"verdict": "...", "findings": [{"name": ..., "verdict": ..., "found": ..., "remedy": ...|null}]} */
void findings_print_json(const struct findings *findings, FILE *out);

#endif
