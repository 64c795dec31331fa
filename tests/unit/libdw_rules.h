/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libdw_rules.h finds the rules of a file's .eh_frame a second time, by libdw alone: what unwind_table.h compiles has to
 * be the same. libdw answers questions about single addresses, and executes a function's instructions anew for each.
 */
#ifndef BOURDON_TESTS_LIBDW_RULES_H
#define BOURDON_TESTS_LIBDW_RULES_H

#include "common/symbolizer/unwind_rules.h"

#include <stdint.h>

/* The rule that holds from this file offset to the next range. */
struct libdw_range {
	uint64_t at;
	uint32_t rule;
};

struct libdw_rules {
	struct unwind_rules rules;  /* the first is UNWIND_NONE */
	struct libdw_range *ranges; /* ascending; neighbours differ */
	uint32_t count, room;
};

/* Returns 0, -ENODATA if there are no rules, or -ENOMEM. The caller frees the rules. */
int libdw_rules_read(int elf_fd, struct libdw_rules *ret_rules);
void libdw_rules_free(struct libdw_rules *rules);

#endif
