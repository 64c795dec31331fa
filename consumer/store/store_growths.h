/* SPDX-License-Identifier: GPL-2.0-only */
/* store_growths.h owns the rows of growth_row: where a capture's processes grew their memory. */
#ifndef BOURDON_CONSUMER_STORE_STORE_GROWTHS_H
#define BOURDON_CONSUMER_STORE_STORE_GROWTHS_H

#include "common/sql/sql.h"
#include "consumer/capture/growths.h"
#include "consumer/store/store_threads.h"

/* Returns 0 or -errno, as all functions of sql.h do. The statement is made when the first row is written. */
int store_growths_write(struct sql *sql, sqlite3_stmt **add_growth, const struct growths *growths,
			const struct capture_ids *ids);

#endif
