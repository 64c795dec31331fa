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

/* Of these files: a function that allocates says nothing of who wanted the memory. */
#define IS_ALLOCATOR(path)                                                                                   \
	"(" path " GLOB '*/libc.so*' OR " path " GLOB '*/libc-*.so' OR " path " GLOB '*/ld-linux*' OR " path \
	" GLOB '*/ld-musl*' OR " path " GLOB '*/libstdc++.so*' OR " path " GLOB '*/libc++.so*' OR " path     \
	" GLOB '*/libjemalloc*' OR " path " GLOB '*/libtcmalloc*' OR " path " GLOB '*/libmimalloc*')"
#define FRAMES_OF_STACK                                                                                                \
	"stack_frame s JOIN frame f USING(frame_id) JOIN module m USING(module_id) WHERE s.stack_id = g.stack_id AND " \
	"m.kind NOT IN ('kernel', 'module')"

static const struct column growth_stacks_columns[] = {
	{ "GREW BY", "bytes", 8, cell_size },     { "SHARE", "percent", 7, cell_percent },
	{ "PROGRAM", "program", -15, cell_text }, { "COUNT", "processes", 5, cell_number },
	{ "IN", "place", -56, cell_text },
};

const struct section growth_stacks_section = {
	.name = "growth_stacks",
	.shows = "which functions made memory grow",
	.sql = "SELECT program, unit, container, cgroup, count(DISTINCT process_id) AS processes, iif(count(DISTINCT process_id) = 1, "
	       "tgid, NULL) AS tgid, function, CAST(total(samples) AS INTEGER) AS samples, CAST(total(bytes) AS INTEGER) AS bytes, "
	       "round(100.0 * total(bytes) / nullif((SELECT total(bytes) FROM growth_stack WHERE capture_id = ?1), 0), 1) AS percent, "
	       "stack_id, max(bytes) AS stack_bytes, place FROM (SELECT p.comm AS program, p.unit, p.container, p.cgroup, p.tgid, g.process_id, g.samples, g.bytes, "
	       "g.stack_id, (SELECT f.function FROM " FRAMES_OF_STACK
	       " AND s.position >= ifnull(g.at, 0) ORDER BY s.position LIMIT 1) AS "
	       "function, (SELECT group_concat(function, ' < ') FROM (SELECT f.function FROM " FRAMES_OF_STACK
	       " AND s.position >= ifnull(g.at, 0) ORDER BY s.position LIMIT 12)) AS place FROM (SELECT *, "
	       "(SELECT min(s.position) FROM " FRAMES_OF_STACK " AND NOT " IS_ALLOCATOR(
		       "m.path") ") AS at FROM (SELECT process_id, "
				 "stack_id, samples, bytes FROM growth_stack WHERE capture_id = ?1 ORDER BY bytes DESC, stack_id LIMIT 100) g) g JOIN process p "
				 "USING(process_id) ORDER BY g.bytes DESC) GROUP BY program, unit, container, cgroup, function ORDER BY bytes DESC, function "
				 "LIMIT 5",
	.head = "functions that made memory of targets grow beyond its highest so far",
	.columns = growth_stacks_columns,
	.columns_count = ARRAY_SIZE(growth_stacks_columns),
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
