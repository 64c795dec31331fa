/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * why_fixture.h owns databases of one capture for each kind of verdict, and what `bourdon why` must tell of it: a reader who
 * knows nothing has to find the victim, the culprit and the remedy there.
 */
#ifndef BOURDON_UNIT_WHY_FIXTURE_H
#define BOURDON_UNIT_WHY_FIXTURE_H

#include <stddef.h>

struct why_case {
	const char *name;
	/* of the capture: what follows capture_id in its VALUES is made of these; NULL is NULL */
	const char *resource, *kind, *cgroup, *state;
	const char *verdict; /* that its rows have; NULL: none yet */
	const char *sql;     /* what else it has */
	/* what the text must have, on the line of that label */
	const char *victim, *culprit, *remedy;
	const char *command; /* the whole last line, without its label */
};

extern const struct why_case why_cases[];
extern const size_t why_cases_count;

/* Writes the database of capture 7. */
void why_case_put(const char *path, const struct why_case *one);

/* Executes more SQL in it. */
void why_sql(const char *path, const char *sql);

#endif
