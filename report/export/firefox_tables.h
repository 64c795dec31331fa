/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * firefox_tables.h owns the tables that each thread of a Gecko profile has: its strings, frames and stacks, to which samples and
 * markers refer by position. export_firefox.c writes these first, and then the tables.
 */
#ifndef BOURDON_REPORT_EXPORT_FIREFOX_TABLES_H
#define BOURDON_REPORT_EXPORT_FIREFOX_TABLES_H

#include "report/export/export.h"

enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_STALL,
	FIREFOX_WAIT
};

struct firefox_tables {
	struct profile *profile;
	struct export_functions functions;
	const char **libraries; /* of each module, as they stand in a function's string */
	uint32_t lane;          /* of the thread at hand: what is not of it has another one */
	struct firefox_string {
		const char *text, *library; /* library NULL: a text alone, not a function */
	} * strings;
	struct stack_row {
		uint32_t prefix, frame; /* PROFILE_NONE: none */
	} * stacks;
	uint32_t *frames; /* of the profile */
	uint32_t strings_count, strings_room, stacks_count, stacks_room, frames_count, frames_room;
	struct place {
		uint32_t lane, position;
	} * of_function, *of_frame, *of_node, *of_stall; /* in these tables; a node's is its last frame */
	uint32_t *climbed;
};

/* All of these return 0 or -ENOMEM. */

int firefox_tables_make(struct profile *profile, struct firefox_tables *ret_tables);
void firefox_tables_free(struct firefox_tables *tables);

/* Adds a function with its library; or a text alone, without a library. */
int firefox_tables_string(struct firefox_tables *tables, const char *text, const char *library,
			  uint32_t *ret_string);

/* The name of the marker of a wait. */
int firefox_tables_wait_name(struct firefox_tables *tables, uint32_t stall, uint32_t *ret_string);

/* Stores PROFILE_NONE for a stack without frames. */
int firefox_tables_stack(struct firefox_tables *tables, const struct profile_sample *sample,
			 uint32_t *ret_stack);

/* Writes what samples and markers refer to, behind them, and begins anew. */
void firefox_tables_write(struct firefox_tables *tables, FILE *out);

#endif
