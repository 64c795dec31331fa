/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/older_schema.h"

#include "common/cleanup.h"
#include "common/schema.h"

#include <stdio.h>

/*
 * All names are those of the file (main.NAME), not of these views. The file's own views read its own tables.
 * Columns are listed: a hostile file's tables have any.
 */
#define VIEWS_OF_6                                                                                                      \
	"CREATE TEMP VIEW database AS SELECT NULL AS database_id, NULL AS id, NULL AS machine WHERE 0;"                 \
	"CREATE TEMP VIEW run AS SELECT run_id, started_at, ended_at, version, abi, kernel, hostname, cpus,"            \
	" hz, policy, NULL AS object_sha256, NULL AS attachments, NULL AS ring_bytes, NULL AS database_id,"             \
	" NULL AS recorded_as FROM main.run;"                                                                           \
	"CREATE TEMP VIEW rule AS SELECT rule_id, run_id, rule, source, comm, cgroup, NULL AS unit, watch, pattern_id," \
	" history_ns, capture_ns, cooldown_ns, NULL AS triggers, NULL AS recorded_as FROM main.rule;"                   \
	"CREATE TEMP VIEW capture AS SELECT capture_id, run_id, rule_id, rule, resource, kind, stall_us,"               \
	" window_us, trigger_mode, cgroup, triggered_at, began_at, ended_at, history_ns, state, observed_us,"           \
	" hz, offcpu_history_ns, expected_samples, received_samples, NULL AS process_count,"                            \
	" NULL AS stack_count, NULL AS sample_count, NULL AS interval_count, cause, because, NULL AS recorded_as"       \
	" FROM main.capture;"                                                                                           \
	"CREATE TEMP VIEW stack AS SELECT stack_id, depth, truncated, unwinder, ended, NULL AS hash,"                   \
	" fingerprint FROM main.stack;"                                                                                 \
	"CREATE TEMP VIEW sample AS SELECT capture_id, process_id, tid, thread, stack_id, kind, stall,"                 \
	" second, samples, weight_ns, NULL AS times FROM main.sample;"                                                  \
	"CREATE TEMP VIEW sample_time AS SELECT capture_id, process_id, tid, thread, stack_id, kind, stall,"            \
	" NULL AS at, NULL AS until_at, NULL AS cpu FROM main.sample WHERE 0;"

/* The oldest first. A new schema adds its predecessor, and to the others what they lack now. */
static const struct older_schema {
	int version;
	const char *views;
} older_schemas[] = {
	{ 6, VIEWS_OF_6 },
};

const char *older_schema_views(int version)
{
	for (size_t i = 0; i < ARRAY_SIZE(older_schemas); i++)
		if (older_schemas[i].version == version)
			return older_schemas[i].views;
	return NULL;
}

void older_schema_list(char *into, size_t into_bytes)
{
	size_t used = (size_t)snprintf(into, into_bytes, "versions ");

	for (size_t i = 0; i < ARRAY_SIZE(older_schemas) && used < into_bytes; i++)
		used += (size_t)snprintf(into + used, into_bytes - used, "%s%d", i ? ", " : "",
					 older_schemas[i].version);
	if (used < into_bytes)
		snprintf(into + used, into_bytes - used, " and %d", SCHEMA_VERSION);
}
