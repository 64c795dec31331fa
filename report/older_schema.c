/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/older_schema.h"

#include "common/cleanup.h"
#include "common/schema.h"

#include <stdio.h>

/*
 * All names are those of the file (main.NAME), not of these views. The file's own views read its own tables.
 * Columns are listed: a hostile file's tables have any.
 */
/* What versions before 10 lack. */
#define VIEWS_SINCE_10                                                                                                               \
	"CREATE TEMP VIEW thread_state AS SELECT capture_id, process_id, tid, thread, 'target' AS role, state, syscall, NULL AS fd," \
	" NULL AS lock, stack_id, 0 AS second, 1 AS seconds, samples FROM main.thread_state;"                                        \
	"CREATE TEMP VIEW thread_look AS SELECT NULL AS capture_id, NULL AS second, NULL AS looks, NULL AS threads WHERE 0;"         \
	"CREATE TEMP VIEW stack_place AS SELECT NULL AS stack_id, NULL AS function, NULL AS below WHERE 0;"                          \
	"CREATE TEMP VIEW thread_states AS SELECT NULL AS capture_id, NULL AS role, NULL AS process_id, NULL AS tgid, NULL AS comm," \
	" NULL AS tid, NULL AS thread, NULL AS state, NULL AS syscall, NULL AS fd, NULL AS lock, NULL AS stack_id, NULL AS"          \
	" function, NULL AS below, NULL AS second, NULL AS seconds, NULL AS samples, NULL AS threads WHERE 0;"                       \
	"CREATE TEMP VIEW activity_key AS SELECT NULL AS key_id, NULL AS state, NULL AS comm, NULL AS kernel, NULL"                  \
	" AS syscall, NULL AS function, NULL AS uid, NULL AS cgroup, NULL AS unit, NULL AS container, NULL AS hash"                  \
	" WHERE 0;"                                                                                                                  \
	"CREATE TEMP VIEW activity_minute AS SELECT NULL AS minute_id, NULL AS run_id, NULL AS at, NULL AS"                          \
	" interval_ns, NULL AS steps, NULL AS looks, NULL AS missed, NULL AS threads, NULL AS bytes WHERE 0;"                        \
	"CREATE TEMP VIEW activity AS SELECT NULL AS minute_id, NULL AS key_id, NULL AS threads, NULL AS least,"                     \
	" NULL AS most, NULL AS times WHERE 0;"                                                                                      \
	"CREATE TEMP VIEW activity_minutes AS SELECT NULL AS minute_id, NULL AS at, NULL AS state, NULL AS comm,"                    \
	" NULL AS kernel, NULL AS syscall, NULL AS function, NULL AS uid, NULL AS unit, NULL AS container, NULL AS"                  \
	" cgroup, NULL AS average, NULL AS threads, NULL AS least, NULL AS most, NULL AS times, NULL AS looks, NULL"                 \
	" AS steps, NULL AS interval_ns WHERE 0;"                                                                                    \
	"CREATE TEMP VIEW activity_steps AS SELECT NULL AS minute_id, NULL AS at, NULL AS until_at, NULL AS step,"                   \
	" NULL AS until_step, NULL AS threads, NULL AS state, NULL AS comm, NULL AS kernel, NULL AS syscall, NULL"                   \
	" AS function, NULL AS uid, NULL AS unit, NULL AS container, NULL AS cgroup WHERE 0;"

/* What versions before 9 lack besides. */
#define VIEWS_SINCE_9                                                                                                              \
	"CREATE TEMP VIEW machine_bytes AS SELECT NULL AS capture_id, NULL AS part, NULL AS from_at, NULL AS to_at, NULL"          \
	" AS read_bytes, NULL AS write_bytes WHERE 0;"                                                                             \
	"CREATE TEMP VIEW other_sample AS SELECT NULL AS capture_id, NULL AS role, NULL AS process_id, NULL AS tid, NULL AS"       \
	" thread, NULL AS stack_id, NULL AS kind, NULL AS stall, NULL AS second, NULL AS samples, NULL AS weight_ns, NULL"         \
	" AS times WHERE 0;"                                                                                                       \
	"CREATE TEMP VIEW culprit_stack AS SELECT NULL AS capture_id, NULL AS role, NULL AS unit, NULL AS container, NULL AS"      \
	" cgroup, NULL AS comm, NULL AS stack, NULL AS samples, NULL AS weight_ns, NULL AS percent WHERE 0;"                       \
	"CREATE TEMP VIEW waker AS SELECT NULL AS capture_id, NULL AS process_id, NULL AS tid, NULL AS thread, NULL AS stack_id,"  \
	" NULL AS stall, NULL AS lock, NULL AS waker_role, NULL AS waker_process_id, NULL AS waker_tgid, NULL AS waker_tid, NULL"  \
	" AS waker_comm, NULL AS waker_stack_id, NULL AS releases, NULL AS intervals, NULL AS waited_ns, NULL AS percent WHERE 0;" \
	"CREATE TEMP VIEW lock_holder AS SELECT NULL AS capture_id, NULL AS lock, NULL AS waited_ns, NULL AS waiters, NULL AS"     \
	" holder_process_id, NULL AS holder_tgid, NULL AS holder_tid, NULL AS holder_comm, NULL AS holder_stack_id, NULL AS"       \
	" intervals, NULL AS held_ns, NULL AS held_percent WHERE 0;"                                                               \
	"CREATE TEMP VIEW interrupt AS SELECT NULL AS capture_id, NULL AS kind, NULL AS number, NULL AS name, NULL AS"             \
	" from_at, NULL AS to_at, NULL AS count, NULL AS ns, NULL AS percent WHERE 0;"                                             \
	"CREATE TEMP VIEW usage AS SELECT capture_id, process_id, role, from_at, to_at, cpu_ns, run_delay_ns, io_delay_ns,"        \
	" stalled_cpu_ns, stalled_memory_ns, stalled_io_ns, major_faults, minor_faults, read_bytes, write_bytes,"                  \
	" voluntary_switches, involuntary_switches, rss_bytes, NULL AS rss_before_bytes, NULL AS reclaims, NULL AS reclaim_ns"     \
	" FROM main.usage;"                                                                                                        \
	"CREATE TEMP VIEW cgroup_memory AS SELECT NULL AS capture_id, NULL AS cgroup, NULL AS unit, NULL AS container, NULL"       \
	" AS from_at, NULL AS to_at, NULL AS current_before_bytes, NULL AS current_bytes, NULL AS anon_before_bytes, NULL AS"      \
	" anon_bytes, NULL AS file_before_bytes, NULL AS file_bytes, NULL AS refaulted_bytes, NULL AS scanned_bytes, NULL AS"      \
	" reclaimed_bytes, NULL AS device_read_bytes, NULL AS device_written_bytes WHERE 0;"                                       \
	"CREATE TEMP VIEW killed AS SELECT NULL AS capture_id, NULL AS at, NULL AS how, NULL AS role, NULL AS comm, NULL AS"       \
	" tgid, NULL AS cgroup, NULL AS unit, NULL AS container, NULL AS rss_bytes, NULL AS by_comm, NULL AS by_tgid, NULL AS"     \
	" by_cgroup, NULL AS by_unit, NULL AS limit_cgroup, NULL AS limit_bytes, NULL AS processes WHERE 0;"                       \
	"CREATE TEMP VIEW memory_group AS SELECT NULL AS capture_id, NULL AS role, NULL AS unit, NULL AS container, NULL AS"       \
	" cgroup, NULL AS program, NULL AS processes, NULL AS tgid, NULL AS rss_before_bytes, NULL AS rss_bytes, NULL AS"          \
	" grown_bytes, NULL AS reclaims, NULL AS reclaim_ns, NULL AS cpu_ns WHERE 0;"

/* What versions before 9 lack of incidents. */
#define VIEWS_OF_INCIDENTS                                                                                                \
	"CREATE TEMP VIEW incident AS SELECT NULL AS incident_id, NULL AS run_id, NULL AS number, NULL AS captures,"      \
	" NULL AS began_at, NULL AS ended_at, NULL AS resource, NULL AS explained_by, NULL AS cause, NULL AS because"     \
	" WHERE 0;"                                                                                                       \
	"CREATE TEMP VIEW incident_capture AS SELECT NULL AS incident_id, NULL AS capture_id, NULL AS state, NULL AS"     \
	" rule, NULL AS resource, NULL AS kind, NULL AS cgroup, NULL AS onset_at, NULL AS triggered_at, NULL AS"          \
	" ended_at, NULL AS after_ns, NULL AS stalled_percent, NULL AS cause, NULL AS because, NULL AS explains WHERE 0;" \
	"CREATE TEMP VIEW incident_summary AS SELECT NULL AS incident_id, NULL AS run_id, NULL AS state, NULL AS began,"  \
	" NULL AS began_at, NULL AS ended_at, NULL AS duration_ns, NULL AS captures, NULL AS resource, NULL AS first_id," \
	" NULL AS first_rule, NULL AS first_cgroup, NULL AS explained_by, NULL AS cause, NULL AS because WHERE 0;"

/* The same of versions 7 and 8, which have all other columns. */
#define CAPTURE_OF_7                                                                                            \
	"CREATE TEMP VIEW capture AS SELECT capture_id, run_id, rule_id, rule, resource, kind, stall_us,"       \
	" window_us, trigger_mode, cgroup, triggered_at, began_at, ended_at, history_ns, state, observed_us,"   \
	" hz, offcpu_history_ns, expected_samples, received_samples, process_count, stack_count, sample_count," \
	" interval_count, cause, because, NULL AS incident_id, NULL AS onset_at, NULL AS asked_by_uid, NULL AS" \
	" asked_by, NULL AS asked_for, NULL AS note, recorded_as FROM main.capture;"

/* Versions 6 and 7 lack more of it. */
#define PROCESS_OF_8                                                                                                        \
	"CREATE TEMP VIEW process AS SELECT process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup, unit, container," \
	" NULL AS runtime, NULL AS runtime_evidence FROM main.process;"

/* What version 8 has, and in another form. */
#define ENDED_OF_8                                                                                                       \
	"CREATE TEMP VIEW ended AS SELECT capture_id, role, comm, parent, parent_tgid, cgroup, unit, container, denied," \
	" processes, cpu_ns, run_delay_ns, major_faults, read_bytes, write_bytes, NULL AS reclaims, NULL AS reclaim_ns"  \
	" FROM main.ended;"

/* What versions 6 and 7 lack besides. */
#define VIEWS_SINCE_8                                                                                                                                 \
	"CREATE TEMP VIEW process AS SELECT process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup, NULL AS unit,"                              \
	" NULL AS container, NULL AS runtime, NULL AS runtime_evidence FROM main.process;"                                                            \
	"CREATE TEMP VIEW ended AS SELECT NULL AS capture_id, NULL AS role, NULL AS comm, NULL AS parent, NULL AS"                                    \
	" parent_tgid, NULL AS cgroup, NULL AS unit, NULL AS container, NULL AS denied, NULL AS processes, NULL AS"                                   \
	" cpu_ns, NULL AS run_delay_ns, NULL AS major_faults, NULL AS read_bytes, NULL AS write_bytes, NULL AS reclaims, NULL AS reclaim_ns WHERE 0;" \
	"CREATE TEMP VIEW machine_time AS SELECT NULL AS capture_id, NULL AS part, NULL AS from_at, NULL AS to_at, NULL"                              \
	" AS ns, NULL AS percent WHERE 0;"                                                                                                            \
	"CREATE TEMP VIEW culprit_group AS SELECT u.capture_id, c.resource, u.role, NULL AS unit, NULL AS container,"                                 \
	" p.cgroup, p.comm AS program, 1 AS processes, 0 AS ended, p.tgid, NULL AS parent, NULL AS parent_tgid,"                                      \
	" CASE c.resource WHEN 'io' THEN u.read_bytes + u.write_bytes WHEN 'memory' THEN u.rss_bytes ELSE u.cpu_ns END"                               \
	" AS taken, iif(c.resource IN ('io', 'memory'), 'bytes', 'ns') AS taken_unit, u.cpu_ns, u.read_bytes,"                                        \
	" u.write_bytes, u.rss_bytes, NULL AS percent FROM main.usage u JOIN main.capture c USING(capture_id)"                                        \
	" JOIN main.process p USING(process_id);"

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
	" NULL AS stack_count, NULL AS sample_count, NULL AS interval_count, cause, because, NULL AS incident_id,"      \
	" NULL AS onset_at, NULL AS asked_by_uid, NULL AS asked_by, NULL AS asked_for, NULL AS note,"                   \
	" NULL AS recorded_as FROM main.capture;"                                                                       \
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
	{ 6, VIEWS_OF_6 VIEWS_SINCE_8 VIEWS_SINCE_9 VIEWS_SINCE_10 VIEWS_OF_INCIDENTS },
	{ 7, VIEWS_SINCE_8 VIEWS_SINCE_9 VIEWS_SINCE_10 VIEWS_OF_INCIDENTS CAPTURE_OF_7 },
	{ 8, PROCESS_OF_8 ENDED_OF_8 VIEWS_SINCE_9 VIEWS_SINCE_10 VIEWS_OF_INCIDENTS CAPTURE_OF_7 },
	{ 9, VIEWS_SINCE_10 },
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
