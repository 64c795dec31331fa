/* SPDX-License-Identifier: GPL-2.0-only */
/* blame_rows.h has what rows of a capture's accounts and blame consist of: blame.h makes them. */
#ifndef BOURDON_CONSUMER_CAPTURE_BLAME_ROWS_H
#define BOURDON_CONSUMER_CAPTURE_BLAME_ROWS_H

#include "common/verdict/roles.h"
#include "consumer/capture/accounts.h"
#include "consumer/capture/usage_groups.h"

/* All threads of one program and unit, else cgroup. */
struct victim_row {
	const char *program; /* terminated */
	struct account_place place;
	uint32_t threads;
	uint64_t ns[ACCOUNTS];
};

struct blame_row {
	uint32_t victim; /* position in blame_rows.victims */
	uint8_t wait;    /* ACCOUNT_* */
	enum blame_role role;
	const char *program; /* NULL: none, or several that have no row of their own */
	struct account_place place;
	uint32_t tgid;      /* if it is one process; else 0 */
	uint64_t processes; /* 0: not known */
	uint64_t ns;
	const char *
		where; /* of a quota, the name of its cgroup, if its path is not known; of what is unknown, why; or NULL */
	uint8_t then; /* ACCOUNT_LOCK: what the party did meanwhile; ACCOUNTS: not known */
};

/* Parties of a victim that have no row of their own: those with less than a thousandth of its wait, and beyond this many. */
#define BLAME_PARTIES_MAX 64U
/* In all. Victims that waited less get only a row for each role. */
#define BLAME_ROWS_MAX 1024U

struct blame_rows {
	struct victim_row *victims;
	uint32_t victims_count;
	struct blame_row *rows; /* by victim and wait, the largest first */
	uint32_t count, room;
	struct usage_groups groups; /* the texts of some rows are theirs */
};

#endif
