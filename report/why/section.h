/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * section.h owns the form of a section of `why`: its name, its rows, and how they look as text. Each section is in the file of its
 * subject, section_SUBJECT.c; why.c has their order, runs them, and prints the rows of each as text or JSON.
 *
 * Room: `why`, whose sections are rows of the model beside what report/answer/ makes of them. Subcommands
 * alone, and picture for the page; it reads the model and the database.
 */
#ifndef BOURDON_REPORT_WHY_SECTION_H
#define BOURDON_REPORT_WHY_SECTION_H

#include "report/answer/answer.h"
#include "report/context/report.h"
#include "report/model/latencies.h"
#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/model/rows.h"
#include "report/text/table.h"

#include <stdbool.h>
#include <stddef.h>

/* One run of `why`. */
struct why {
	struct report *report;
	struct profile profile; /* of targets */
	struct profile others;  /* of all others, once their section is shown */
	struct answer answer;
	struct latencies latencies; /* once their section is shown */
	const char *sections;       /* these alone, by their names; NULL: all */
	bool is_answered;           /* answer is set */
	bool has_printed;           /* a section, behind which the next one stands */
};

struct section {
	const char *name;  /* of the member in JSON, and for --section */
	const char *shows; /* in a few words */
	bool joins;        /* no empty line is before it */
	const char *sql;   /* ?1 is the capture; NULL: computed from the profile, or from the answer */
	/* Return 0, -ENOMEM, or -EIO after a query that failed. The caller frees the rows. */
	int (*compute)(struct why *why, struct rows *ret_rows);
	int (*of_answer)(struct answer *answer, struct rows *ret_rows);
	bool is_object; /* a JSON object: one row; else an array */
	/* The query stands on its first row. */
	void (*print)(const struct layout *layout, struct query *query);
	/* Without print(): a table under its head, or under "HEAD over SPAN MORE". */
	const char *head, *more;
	const struct column *columns;
	size_t columns_count;
	const char *absent;    /* the text for a query without rows; NULL: none */
	const char *absent_of; /* for captures of this resource alone; NULL: all */
	/* Prints all that there is, as text or JSON. Such a section is shown only by its name, and without others; NULL: as above. */
	void (*print_alone)(struct report *report);
};

extern const struct section asked_section, bytes_section, capture_section, cgroup_bytes_section,
	cgroups_section, functions_section, groups_section, growth_section, growth_stacks_section,
	interrupts_section, killed_section, latency_section, locks_section, losses_section, machine_section,
	not_whole_section, others_section, pressure_section, processes_section, reclaim_section,
	seconds_section, stacks_section, stalls_section, stored_section, unnamed_section, waiting_section,
	wakers_section;

/* ---- what several sections need ---- */

/* What stands above a section, made for REPORT_COLUMNS. */
void section_print_head(const struct layout *layout, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints the head and the table of a section that has columns. */
void section_print_table(const struct section *section, const struct layout *layout, struct query *query);

/* Whether a rule fired: then its resource is what the sections are about. */
bool section_has_fired(const struct query *query);

#endif
