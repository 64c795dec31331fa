/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_accounts.h owns the rows of account and blame: where the time of a capture's threads went, and who they waited for.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_ACCOUNTS_H
#define BOURDON_CONSUMER_STORE_STORE_ACCOUNTS_H

#include "common/sql/sql.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

/* Each is made when its first row is written. */
struct accounts_statements {
	sqlite3_stmt *add_account, *add_blame;
};

/*
 * The innermost function of a program, not of the kernel or a library's, that has a name, in a stack of the capture; else of a
 * library; NULL: none has.
 */
const char *store_own_function(const struct capture *capture, const struct resolved *resolved,
			       uint32_t stack);

/* Returns 0 or -errno, as all functions of sql.h do. */
int store_accounts_write(struct sql *sql, struct accounts_statements *statements, int64_t capture_id,
			 const struct capture *capture, const struct resolved *resolved);

#endif
