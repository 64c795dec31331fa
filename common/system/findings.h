/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * findings.h owns a list of checks: what was checked, what was found, and the remedy. bourdon-load --check
 * and bourdon doctor each fill one and print it as a table or as JSON.
 */
#ifndef BOURDON_COMMON_SYSTEM_FINDINGS_H
#define BOURDON_COMMON_SYSTEM_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define FINDINGS_MAX 48

enum grade {
	GRADE_OK,
	GRADE_UNKNOWN, /* this user may not read it, or the machine does not report it */
	GRADE_WARNING, /* works, but with a limitation */
	GRADE_FAILED,
	GRADES,
};

extern const char *const grade_names[GRADES];

struct finding {
	const char *name;
	enum grade grade;
	char found[320];
	char remedy[320]; /* empty if there is nothing to do */
};

struct findings {
	struct finding items[FINDINGS_MAX];
	size_t count;
};

/*
 * Add a finding. `name` is kept, not copied. A full list drops further findings. findings_ok() adds a good
 * result; findings_add() any other grade with its remedy ("" if there is none).
 */
void findings_ok(struct findings *findings, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void findings_add(struct findings *findings, enum grade grade, const char *name, const char *remedy,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Returns the worst grade, GRADE_OK for an empty list. */
enum grade findings_worst(const struct findings *findings);

/*
 * Prints one line a finding, for people, with the remedy on the next line. Escapes text from other processes.
 */
void findings_print(const struct findings *findings, FILE *out);

/* {"verdict": "...", "findings": [{"name": ..., "verdict": ..., "found": ..., "remedy": ...|null}]} */
void findings_print_json(const struct findings *findings, FILE *out);

#endif
