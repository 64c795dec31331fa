/* SPDX-License-Identifier: GPL-2.0-only */
/* folded.h owns stacks as one line each: the outermost function first, a semicolon between two functions. */
#ifndef BOURDON_REPORT_EXPORT_FOLDED_H
#define BOURDON_REPORT_EXPORT_FOLDED_H

#include "report/model/profile.h"

#include <stdio.h>

/* Names as they stand in a line: without a semicolon, kernel functions marked. They are texts of the profile. */
struct folded_names {
	const char **functions; /* of each frame; NULL: in no stack */
	const char **comms;     /* of each process; "" if it is not known */
	const char **path;      /* of the stack that is written, leaf first */
	uint32_t path_room;
};

/* Returns 0 or -ENOMEM. */
int folded_names_make(struct profile *profile, struct folded_names *ret_names);
void folded_names_free(struct folded_names *names);

#define _cleanup_folded_names_ _cleanup_(folded_names_free)

/*
 * Writes the functions of a stack, a semicolon between two, the first by `write_first`, each other by `write_part`, which escape
 * them. Returns 0 or -ENOMEM.
 */
int folded_names_write(struct folded_names *names, const struct profile *profile,
		       const struct profile_stack *stack, void (*write_first)(FILE *out, const char *text),
		       void (*write_part)(FILE *out, const char *text), FILE *out);

/* Writes a line for each comm and stack: its samples on CPU, or its microseconds off CPU. Returns 0 or -errno. */
int folded_write(struct profile *profile, bool off_cpu, FILE *out);

#endif
