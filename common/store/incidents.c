/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/incidents.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* When the stall of a capture began. If that is not known: at least as long before the trigger as the stall had lasted. */
#define ONSET "ifnull(c.onset_at, c.triggered_at - 1000 * c.observed_us)"

/* Of captures `f`, the one whose stall began first. */
#define FIRST "ORDER BY ifnull(f.onset_at, f.triggered_at - 1000 * f.observed_us), f.capture_id LIMIT 1"

#define OF_INCIDENT " FROM capture c WHERE c.incident_id = incident.incident_id"

/* A kill comes before all else, its own capture first. A verdict that blames comes before one that does not. */
#define RANK                                                                                                 \
	"CASE c.verdict WHEN 'kill' THEN c.trigger_mode <> 'kill' WHEN 'undetermined' THEN 3 "               \
	"WHEN 'negligible' THEN 4 ELSE 2 END"

/* The one verdict is that of a kill; else that of the capture with the largest blamed wait. */
#define SETTLE                                                                                               \
	"UPDATE incident SET "                                                                               \
	"(captures, began_at, ended_at) = (SELECT count(*), min(" ONSET "), "                                \
	"iif(sum(c.state = 'recording'), NULL, max(ifnull(c.ended_at, c.triggered_at)))" OF_INCIDENT "), "   \
	"resource = (SELECT f.resource FROM capture f WHERE f.incident_id = incident.incident_id " FIRST     \
	"), "                                                                                                \
	"(explained_by, verdict, blamed_percent) = (SELECT c.capture_id, c.verdict, "                        \
	"c.blamed_percent" OF_INCIDENT " AND c.verdict IS NOT NULL ORDER BY " RANK                           \
	", c.waited_ns * c.blamed_percent DESC, " ONSET ", c.capture_id LIMIT 1) WHERE "

int incidents_find(struct sql *sql, int64_t run_id, int64_t number, int64_t began_at, const char *resource,
		   int64_t *ret_incident_id)
{
	sqlite3_stmt *add = NULL;
	sqlite3_int64 incident_id = 0;
	int result = sql_run_once(sql, &incident_id,
				  "SELECT incident_id FROM incident WHERE run_id = ? AND number = ?", "ii",
				  run_id, number);

	if (!result && !incident_id)
		result = sql_insert(sql, &add, "incident", NULL, &incident_id,
				    SQL_COLUMNS(SQL_NUMBER(run_id, run_id), SQL_NUMBER(number, number),
						SQL_NUMBER(captures, 0), SQL_NUMBER(began_at, began_at),
						SQL_TEXT(resource, resource)));
	sqlite3_finalize(add);
	if (!result)
		*ret_incident_id = incident_id;
	return result;
}

int incidents_settle_where(struct sql *sql, const char *condition)
{
	char *text = NULL;
	int result = asprintf(&text, SETTLE "%s", condition) < 0 ? -ENOMEM : 0;

	if (result < 0)
		return result;
	result = sql_execute(sql, text);
	free(text);
	return result;
}

int incidents_settle(struct sql *sql, int64_t capture_id)
{
	char condition[128];

	snprintf(condition, sizeof(condition),
		 "incident_id = (SELECT incident_id FROM capture WHERE capture_id = %" PRId64 ")",
		 capture_id);
	return incidents_settle_where(sql, condition);
}

const char incidents_shrink_sql[] =
	"DELETE FROM incident WHERE NOT EXISTS (SELECT 1 FROM capture c WHERE c.incident_id = incident.incident_id);" SETTLE
	"captures <> (SELECT count(*)" OF_INCIDENT ")";
