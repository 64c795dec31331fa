/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about programs: who used most of the resource, and who was killed. */
#include "report/why/section.h"

#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

#include <string.h>

static void print_groups(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "PROGRAM", "program", -15, cell_text },      { "COUNT", "processes", 5, cell_number },
		{ "ENDED", "ended", 5, cell_number },          { "CPU TIME", "cpu_ns", 8, cell_duration_ns },
		{ "READ", "read_bytes", 8, cell_size },        { "WRITTEN", "write_bytes", 8, cell_size },
		{ "MEMORY", "rss_bytes", 8, cell_size },       { "SHARE", "percent", 7, cell_percent },
		{ "UNIT OR CGROUP", "place", -20, cell_text },
	};

	section_print_head(
		layout,
		"who used most %s, by program; SHARE is of what all used, and ENDED are\nprocesses that began and ended meanwhile",
		section_has_fired(query) ? "of the resource that fired" : "CPU time");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
}

const struct section groups_section = {
	.name = "groups",
	.shows = "who used most of the resource",
	.sql = "SELECT role, program, processes, ended, tgid, parent, parent_tgid, cpu_ns, read_bytes, write_bytes, "
	       "rss_bytes, percent, unit, container, cgroup, ifnull(unit, cgroup) AS place FROM culprit_group "
	       "WHERE capture_id = ?1 AND taken > 0 LIMIT 10",
	.print = print_groups,
};

/* "mysqld[77] in mysql.service"; `into` has 2 * FORMAT_BYTES bytes. */
static char *process_text(const struct query *query, const char *comm, const char *tgid, const char *place,
			  char *into)
{
	char name[FORMAT_BYTES], where[FORMAT_BYTES];

	if (query_is_null(query, comm))
		return strcpy(into, "a process that root's policy denies");
	snprintf(into, 2 * FORMAT_BYTES, "%s[%lld]%s%s", column_text(query, comm, 32, name),
		 (long long)query_number(query, tgid), query_is_null(query, place) ? "" : " in ",
		 query_is_null(query, place) ? "" : column_text(query, place, 60, where));
	return into;
}

/* "the kernel, because /a had used up its 64 MiB; perl[7] asked for memory" */
static char *killer_text(const struct query *query, char *into)
{
	char name[2 * FORMAT_BYTES], limit[FORMAT_BYTES], size[FORMAT_BYTES];

	process_text(query, "by_comm", "by_tgid", "by_place", name);
	if (strcmp(query_text(query, "how"), "oom"))
		return strcpy(into, name);
	if (query_is_null(query, "limit_bytes"))
		snprintf(into, 4 * FORMAT_BYTES,
			 "the kernel, because the host's memory was used up; %s asked for memory", name);
	else
		snprintf(into, 4 * FORMAT_BYTES,
			 "the kernel, because %s had used up its %s; %s asked for memory",
			 query_is_null(query, "limit_cgroup") ? "its cgroup"
							      : column_text(query, "limit_cgroup", 60, limit),
			 format_size((double)query_number(query, "limit_bytes"), size, sizeof(size)), name);
	return into;
}

/* A sentence for each: a table has no room for the names. */
static void print_killed(const struct layout *layout, struct query *query)
{
	char victim[2 * FORMAT_BYTES], killer[4 * FORMAT_BYTES], size[FORMAT_BYTES], text[8 * FORMAT_BYTES];

	fputs("killed meanwhile; 0 s is the trigger\n", layout->out);
	do {
		fprintf(layout->out, "%8.2f s  ", query_real(query, "after_ns") / 1e9);
		if (!strcmp(query_text(query, "role"), "rest")) {
			fprintf(layout->out, "%lld more, the last of them at this time\n",
				(long long)query_number(query, "processes"));
			continue;
		}
		process_text(query, "comm", "tgid", "place", victim);
		snprintf(text, sizeof(text), "%s%s%s, by %s", victim,
			 query_is_null(query, "rss_bytes") ? "" : ", ",
			 query_is_null(query, "rss_bytes")
				 ? ""
				 : format_size((double)query_number(query, "rss_bytes"), size, sizeof(size)),
			 killer_text(query, killer));
		print_wrapped_on(layout, text, 12);
	} while (query_next(query));
}

const struct section killed_section = {
	.name = "killed",
	.shows = "who was killed",
	.sql = "SELECT k.at, k.at - c.triggered_at AS after_ns, k.how, k.role, k.comm, k.tgid, k.cgroup, k.unit, k.container, "
	       "k.rss_bytes, k.by_comm, k.by_tgid, k.by_cgroup, k.by_unit, k.limit_cgroup, k.limit_bytes, k.processes, "
	       "ifnull(k.unit, k.cgroup) AS place, ifnull(k.by_unit, k.by_cgroup) AS by_place "
	       "FROM killed k JOIN capture c USING(capture_id) WHERE k.capture_id = ?1 ORDER BY k.how, k.role = 'rest', k.at LIMIT 20",
	.print = print_killed,
};
