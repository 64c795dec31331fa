/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads_output.h prints groups as text, JSON or CSV: of threads, or of samples of threads, once; and the part of them that those
 * of activity have as well (activity_output.h). `limit`: rows at most; negative: all.
 */
#ifndef BOURDON_REPORT_LIVE_THREADS_OUTPUT_H
#define BOURDON_REPORT_LIVE_THREADS_OUTPUT_H

#include "report/live/thread_groups.h"

#include <stdint.h>
#include <stdio.h>

/* `at_ns`: wall clock of the first look. `look`: the last one, which says of samples what was left out. */
void threads_print_text(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look);
void threads_print_json(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look, int64_t at_ns);

/* "1.9 of 2 CPUs in use", and what is missing from that. `look` may be NULL: then that is not known. */
void threads_describe_samples(const struct thread_groups *groups, const struct thread_lines *look, char *into,
			      size_t into_bytes);

/* ---- of any origin ---- */

#define SPARK_NO_LOOK "·" /* a character of the sparkline in whose time no look was taken */

/* In characters. */
struct threads_layout {
	int widths[THREAD_GROUPING]; /* of the view's columns; 0: of the last one, which then is not filled */
	uint32_t spark;              /* of the sparkline; 0: there is none */
	uint32_t cells;              /* of each character of it */
};

/* The table alone, or why it is empty. */
void threads_print_groups(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			  int64_t limit, const struct threads_layout *layout);

/* The member "groups", as the last one of an object. */
void threads_print_json_groups(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			       int64_t limit);

/* RFC 4180. `time`: the fields that each row begins with. */
void threads_print_csv_header(FILE *out, const struct thread_view *view);
void threads_print_csv(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
		       int64_t limit, const char *time);

/* Makes the view's columns as wide as `room` characters allow, with a blank behind each: what is left has the last one. */
void threads_fit_columns(const struct thread_view *view, int room, int widths[THREAD_GROUPING]);

#endif
