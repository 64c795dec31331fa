/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about memory: whose grew, who reclaimed it, and that of cgroups. */
#include "report/why/section.h"

/* The resource that fired was memory, a kill did, or somebody was in direct reclaim for a hundredth of the span. */
#define MEMORY_WAS_SHORT                                                                                                                         \
	"('memory' = (SELECT iif(trigger_mode = 'kill', 'memory', resource) FROM capture WHERE capture_id = ?1) OR EXISTS (SELECT 1 FROM usage " \
	"WHERE capture_id = ?1 AND reclaim_ns * 100 >= to_at - from_at)) "

static const struct column growth_columns[] = {
	{ "PROGRAM", "program", -15, cell_text },       { "COUNT", "processes", 5, cell_number },
	{ "BEFORE", "rss_before_bytes", 8, cell_size }, { "AFTER", "rss_bytes", 8, cell_size },
	{ "GROWTH", "grown_bytes", 8, cell_size },      { "UNIT OR CGROUP", "place", -36, cell_text },
};

const struct section growth_section = {
	.name = "growth",
	.shows = "whose memory grew",
	.sql = "SELECT role, program, processes, tgid, rss_before_bytes, rss_bytes, grown_bytes, unit, container, cgroup, "
	       "ifnull(unit, cgroup) AS place, (SELECT max(to_at - from_at) FROM usage WHERE capture_id = ?1) AS span_ns "
	       "FROM memory_group WHERE capture_id = ?1 AND grown_bytes >= 1048576 AND " MEMORY_WAS_SHORT
	       "ORDER BY grown_bytes DESC LIMIT 5",
	.head = "who grew by 1 MiB or more",
	.more = ", by program: memory of processes, shared pages in each",
	.columns = growth_columns,
	.columns_count = ARRAY_SIZE(growth_columns),
};

static const struct column reclaim_columns[] = {
	{ "PROGRAM", "program", -15, cell_text },      { "COUNT", "processes", 5, cell_number },
	{ "RECLAIMS", "reclaims", 8, cell_number },    { "TIME", "reclaim_ns", 8, cell_duration_ns },
	{ "CPU TIME", "cpu_ns", 8, cell_duration_ns }, { "UNIT OR CGROUP", "place", -36, cell_text },
};

const struct section reclaim_section = {
	.name = "reclaim",
	.shows = "who reclaimed memory",
	.sql = "SELECT role, program, processes, tgid, reclaims, reclaim_ns, cpu_ns, unit, container, cgroup, "
	       "ifnull(unit, cgroup) AS place FROM memory_group WHERE capture_id = ?1 AND (reclaim_ns > 0 OR "
	       "role = 'kernel' AND program = 'kswapd' AND cpu_ns > 0) AND " MEMORY_WAS_SHORT
	       "ORDER BY reclaim_ns DESC, cpu_ns DESC LIMIT 5",
	.head = "who reclaimed memory: TIME in direct reclaim, on CPU and off; of kswapd, CPU TIME in the background",
	.columns = reclaim_columns,
	.columns_count = ARRAY_SIZE(reclaim_columns),
};

static const struct column cgroups_columns[] = {
	{ "PROCESSES'", "anon_bytes", 10, cell_size },    { "BEFORE", "anon_before_bytes", 8, cell_size },
	{ "PAGE CACHE", "file_bytes", 10, cell_size },    { "BEFORE", "file_before_bytes", 8, cell_size },
	{ "REFAULTED", "refaulted_bytes", 9, cell_size }, { "RECLAIMED", "reclaimed_bytes", 9, cell_size },
	{ "UNIT OR CGROUP", "place", -32, cell_text },
};

const struct section cgroups_section = {
	.name = "cgroups",
	.shows = "memory of cgroups",
	.sql = "SELECT cgroup, unit, container, current_before_bytes, current_bytes, anon_before_bytes, anon_bytes, "
	       "file_before_bytes, file_bytes, refaulted_bytes, scanned_bytes, reclaimed_bytes, ifnull(unit, cgroup) AS place, "
	       "to_at - from_at AS span_ns FROM cgroup_memory WHERE capture_id = ?1 AND " MEMORY_WAS_SHORT
	       "ORDER BY cgroup = '/' DESC, max(abs(ifnull(anon_bytes - anon_before_bytes, 0)), "
	       "abs(ifnull(file_bytes - file_before_bytes, 0)), ifnull(refaulted_bytes, 0), ifnull(reclaimed_bytes, 0)) DESC, "
	       "current_bytes DESC LIMIT 8",
	.head = "memory of cgroups",
	.more = ", / is the host; REFAULTED was read again after it had been evicted",
	.columns = cgroups_columns,
	.columns_count = ARRAY_SIZE(cgroups_columns),
	.absent = "memory of cgroups: not examined, because cgroup2 does not have the memory controller",
	.absent_of = "memory",
};
