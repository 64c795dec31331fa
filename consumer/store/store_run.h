/* SPDX-License-Identifier: GPL-2.0-only */
/* store_run.h owns the rows of runs of the daemon and of their rules. The caller begins and ends the transaction. */
#ifndef BOURDON_CONSUMER_STORE_STORE_RUN_H
#define BOURDON_CONSUMER_STORE_STORE_RUN_H

#include "common/policy/policy.h"
#include "common/protocol/manifest.h"
#include "common/sql/sql.h"
#include "consumer/rules/rules.h"

struct stored_run {
	int64_t started_at;
	const char *machine; /* NULL: not known */
	const char *host;
	const struct manifest *manifest;
	const struct policy *policy;
};

/* Return 0 or -errno, as all functions of sql.h do. */
int store_run_write(struct sql *sql, const struct stored_run *run, sqlite3_int64 *ret_run_id);

/* Those with this id or a later one. */
int store_rules_write(struct sql *sql, int64_t run_id, const struct rule_set *rules, uint32_t first_id);

#endif
