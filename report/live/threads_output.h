/* SPDX-License-Identifier: GPL-2.0-only */
/* threads_output.h prints groups of threads, or of samples of threads, once: as text, JSON or CSV. */
#ifndef BOURDON_REPORT_LIVE_THREADS_OUTPUT_H
#define BOURDON_REPORT_LIVE_THREADS_OUTPUT_H

#include "report/live/thread_history.h"

#include <stdint.h>
#include <stdio.h>

/*
 * `limit` rows at most; negative: all. `at_ns`: wall clock of the first look. `look`: the last one, which says of samples what
 * was left out.
 */
void threads_print_text(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look);
void threads_print_json(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look, int64_t at_ns);

/* RFC 4180, with a column for the time. */
void threads_print_csv_header(FILE *out, const struct thread_view *view);
void threads_print_csv(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
		       int64_t limit, int64_t at_ns);

/* "1.9 of 2 CPUs in use", and what is missing from that. `look` may be NULL: then that is not known. */
void threads_describe_samples(const struct thread_groups *groups, const struct thread_lines *look, char *into,
			      size_t into_bytes);

/*
 * Writes a value of that column as JSON: a number, a text, or null where there is none. A thread may have the name "-": NULL
 * alone is none there.
 */
void threads_print_json_value(FILE *out, uint32_t column, const char *value);

/* How wide a column is on a terminal, in characters; names of functions and cgroups have what is left (0). */
int threads_column_width(uint32_t column);

/* Makes the view's columns as wide as `room` characters allow, with a blank behind each: what is left has the last one. */
void threads_fit_columns(const struct thread_view *view, int room, int widths[THREAD_GROUPING]);

#endif
