/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about the whole machine: who took its CPU time, what disks did, and for whom, what interrupts took. */
#include "report/why/section.h"

#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

/* "others 41.2 %, short-lived 31.0 %, ...": the largest part first. */
static void print_machine(const struct layout *layout, struct query *query)
{
	char text[2 * FORMAT_BYTES] = "", part[FORMAT_BYTES], share[FORMAT_BYTES], span[FORMAT_BYTES];
	size_t used = 0;

	fprintf(layout->out, "all CPU time of the machine over %s, by who took it\n  ",
		column_duration(query, "span_ns", 1, span));
	do {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? ", " : "",
					 column_text(query, "part", 20, part), column_percent(query, share));
	} while (query_next(query) && used < sizeof(text));
	print_wrapped_on(layout, text, 2);
}

const struct section machine_section = {
	.name = "machine",
	.shows = "who took the machine's CPU time",
	.sql = "SELECT part, ns, percent, to_at - from_at AS span_ns FROM machine_time WHERE capture_id = ?1 AND "
	       "percent >= 0.1 ORDER BY ns DESC, part LIMIT 11",
	.print = print_machine,
};

static void print_bytes(const struct layout *layout, struct query *query)
{
	char text[2 * FORMAT_BYTES] = "", part[FORMAT_BYTES], read[FORMAT_BYTES], written[FORMAT_BYTES];
	size_t used = 0;

	fprintf(layout->out, "bytes read and written over %s, by whom, and by the disks\n  ",
		column_duration(query, "span_ns", 1, read));
	do {
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s %s and %s", used ? ", " : "",
			column_text(query, "part", 20, part),
			format_size(query_real(query, "read_bytes"), read, sizeof(read)),
			format_size(query_real(query, "write_bytes"), written, sizeof(written)));
	} while (query_next(query) && used < sizeof(text));
	print_wrapped_on(layout, text, 2);
}

const struct section bytes_section = {
	.name = "bytes",
	.shows = "who read and wrote",
	/* what is negative in the account went to a page cache, or to no disk: it is a part of its own */
	.sql = "SELECT part, read_bytes, write_bytes, span_ns FROM (SELECT part, to_at - from_at AS span_ns, "
	       "iif(part = 'unaccounted', max(read_bytes, 0), read_bytes) AS read_bytes, "
	       "iif(part = 'unaccounted', max(write_bytes, 0), write_bytes) AS write_bytes FROM machine_bytes WHERE "
	       "capture_id = ?1 UNION ALL SELECT 'not on disks', to_at - from_at, max(-read_bytes, 0), max(-write_bytes, 0) "
	       "FROM machine_bytes WHERE capture_id = ?1 AND part = 'unaccounted') WHERE read_bytes <> 0 OR write_bytes <> 0 "
	       "ORDER BY part = 'not on disks', part = 'unaccounted', part = 'disks', read_bytes + write_bytes DESC, part "
	       "LIMIT 7",
	.print = print_bytes,
};

static const struct column cgroup_bytes_columns[] = {
	{ "READ", "device_read_bytes", 10, cell_size },
	{ "WRITTEN", "device_written_bytes", 10, cell_size },
	{ "UNIT OR CGROUP", "place", -32, cell_text },
};

const struct section cgroup_bytes_section = {
	.name = "cgroup_bytes",
	.shows = "what disks did for cgroups",
	.sql = "SELECT cgroup, unit, container, device_read_bytes, device_written_bytes, ifnull(unit, cgroup) AS place, "
	       "to_at - from_at AS span_ns FROM cgroup_memory WHERE capture_id = ?1 AND cgroup <> '/' AND "
	       "'io' = (SELECT resource FROM capture WHERE capture_id = ?1) AND "
	       "device_read_bytes + device_written_bytes >= 1048576 "
	       "ORDER BY device_read_bytes + device_written_bytes DESC, cgroup LIMIT 8",
	.head = "what block devices did for cgroups",
	.more = ", with those below them; WRITTEN: pages that they dirtied",
	.columns = cgroup_bytes_columns,
	.columns_count = ARRAY_SIZE(cgroup_bytes_columns),
};

static const struct column interrupts_columns[] = {
	{ "INTERRUPT", "label", -24, cell_text }, { "KIND", "kind", -7, cell_text },
	{ "NUMBER", "number", 6, cell_number },   { "COUNT", "count", 9, cell_number },
	{ "TIME", "ns", 8, cell_duration_ns },    { "SHARE", "percent", 7, cell_percent },
};

const struct section interrupts_section = {
	.name = "interrupts",
	.shows = "what interrupts took",
	.sql = "SELECT kind, number, name, ifnull(name, iif(number IS NULL, 'all others', '-')) AS label, count, ns, "
	       "percent, to_at - from_at AS span_ns FROM interrupt WHERE capture_id = ?1 AND percent >= 0.1 AND "
	       "('irq' = (SELECT resource FROM capture WHERE capture_id = ?1) "
	       "OR 5 <= (SELECT sum(percent) FROM interrupt WHERE capture_id = ?1) "
	       "OR 5 <= (SELECT sum(percent) FROM machine_time WHERE capture_id = ?1 AND part IN ('irq', 'softirq', 'steal'))) "
	       "ORDER BY ns DESC, count DESC LIMIT 10",
	.head = "time in interrupts",
	.more = "; SHARE is of the machine's CPU time",
	.columns = interrupts_columns,
	.columns_count = ARRAY_SIZE(interrupts_columns),
};
