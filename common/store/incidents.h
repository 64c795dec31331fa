/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * incidents.h owns the rows of incidents: which captures belong together, and the one verdict on them. A row is made with
 * its first capture and goes with its last one. Whatever changes a capture of an incident settles its row anew within the
 * same transaction, from the rows of its captures alone.
 */
#ifndef BOURDON_COMMON_STORE_INCIDENTS_H
#define BOURDON_COMMON_STORE_INCIDENTS_H

#include "common/sql/sql.h"

#include <stdint.h>

/* All functions return 0 or -errno, as those of sql.h do. */

/*
 * Finds the row of the incident with that number within the run, or adds one that began at this Unix time, in ns; then add the
 * capture, and settle. `resource` is that of its pressure; NULL: it is of none.
 */
int incidents_find(struct sql *sql, int64_t run_id, int64_t number, int64_t began_at, const char *resource,
		   int64_t *ret_incident_id);

/* Settles the incident of a capture that has begun or ended. */
int incidents_settle(struct sql *sql, int64_t capture_id);

/* Settles the incidents for which a condition of SQL holds; each has a capture. */
int incidents_settle_where(struct sql *sql, const char *condition);

/* After captures were removed: removes the incidents that have none any more, and settles those that have fewer. */
extern const char incidents_shrink_sql[];

#endif
