/* SPDX-License-Identifier: GPL-2.0-only */
/* db_check_stacks.h owns the check of the tree of stacks: 'db check' calls it. */
#ifndef BOURDON_REPORT_FILES_DB_CHECK_STACKS_H
#define BOURDON_REPORT_FILES_DB_CHECK_STACKS_H

#include "report/model/database.h"

#include <stdint.h>

/* Notes one problem: a line without its end. */
typedef void (*note_problem)(void *user, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct stacks_checked {
	int64_t nodes, stacks;
};

/*
 * Goes through the tree from its roots: each node's frames exist, each stack has the depth and the hash of its frames, and
 * each node has a way up to a root. Memory grows with the depth of the tree only. Returns 0; or -errno, and the reason was
 * logged.
 */
int db_check_stacks(struct database *database, note_problem note, void *user,
		    struct stacks_checked *ret_checked);

#endif
