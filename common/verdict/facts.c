/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/abi/latency.h"
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/verdict/verdict.h"

#include <errno.h>
#include <string.h>

/*
 * A hostile database has any number of rows, and any numbers. bourdond writes at most 1,024 victims, as many parties, and for
 * each victim and wait a row for each role.
 */
#define ROWS_MAX "8192"
/* 6 days of one thread, or 512 TiB: the sum of as many rows as there may be is an int64_t. */
#define NUMBER_MAX (INT64_C(1) << 49)

#define PAGE_BYTES 4096U
#define MILLISECOND_NS 1000000U

/* One that is not between 0 and NUMBER_MAX becomes the nearer of these. */
static uint64_t size_at(sqlite3_stmt *row, int column)
{
	int64_t value = sqlite3_column_int64(row, column);

	return value < 0 ? 0 : (uint64_t)(value > NUMBER_MAX ? NUMBER_MAX : value);
}

static int64_t number_at(sqlite3_stmt *row, int column, int64_t if_null)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL ? if_null : (int64_t)size_at(row, column);
}

static double percent_at(sqlite3_stmt *row, int column)
{
	double value = sqlite3_column_double(row, column);

	return value > 0 ? value < 100 ? value : 100 : 0; /* also without a number */
}

/* ---- texts ---- */

struct verdict_text {
	struct verdict_text *next;
	char text[];
};

/* The text of a column, which the facts keep. NULL stays NULL. Returns 0 or -ENOMEM. */
static int keep_text(struct verdict_facts *facts, sqlite3_stmt *row, int column, const char **ret_text)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	size_t bytes = (size_t)sqlite3_column_bytes(row, column);
	struct verdict_text *kept;

	if (!text) {
		*ret_text = NULL;
		return sqlite3_column_type(row, column) == SQLITE_NULL ? 0 : -ENOMEM;
	}
	kept = malloc(sizeof(*kept) + bytes + 1);
	if (!kept)
		return -ENOMEM;
	memcpy(kept->text, text, bytes + 1);
	kept->next = facts->texts;
	facts->texts = kept;
	*ret_text = kept->text;
	return 0;
}

/* The texts of columns from `column` on, in this order. */
#define keep_texts(facts, row, column, ...)                                                                  \
	keep_all(facts, row, column, (const char **[]){ __VA_ARGS__, NULL })

static int keep_all(struct verdict_facts *facts, sqlite3_stmt *row, int column, const char ***texts)
{
	int result = 0;

	for (; *texts && !result; texts++)
		result = keep_text(facts, row, column++, *texts);
	return result;
}

/* The position of this word; `count`: none. */
static size_t find_word(sqlite3_stmt *row, int column, const char *const *words, size_t count)
{
	const char *word = (const char *)sqlite3_column_text(row, column);
	size_t at = 0;

	while (at < count && !(word && !strcmp(words[at], word)))
		at++;
	return at;
}

#define append(list, element)                                                                                \
	({                                                                                                   \
		int appended_ = array_make_room(list, list##_count, list##_room, 1U);                        \
		if (!appended_)                                                                              \
			(list)[list##_count++] = (element);                                                  \
		appended_;                                                                                   \
	})

/* ---- what the rows say ---- */

/* A latency of no one resource is of all waits. */
static enum psi_resource resource_of_latency(size_t metric)
{
	switch (metric) {
	case METRIC_RUNQUEUE:
	case METRIC_FORK:
		return PSI_CPU;
	case METRIC_BLOCK:
	case METRIC_BLOCK_QUEUE:
	case METRIC_BLOCK_SERVICE:
	case METRIC_MEMORY:
		return PSI_IO;
	default:
		return PSI_RESOURCES;
	}
}

static int add_capture(struct verdict_facts *facts, sqlite3_stmt *row)
{
	static const char *const modes[] = {
		[FIRED_KILL] = "kill",
		[FIRED_NOTHING] = "manual",
		[FIRED_BASELINE] = "baseline",
		[FIRED_LATENCY] = "latency",
	};
	static const char *const metrics[METRICS] = { METRIC_NAMES };

	facts->fired = (enum verdict_trigger)find_word(row, 0, modes, ARRAY_SIZE(modes));
	facts->resource = (enum psi_resource)find_word(row, 1, psi_resource_names, PSI_RESOURCES);
	if (facts->fired == FIRED_LATENCY)
		facts->resource = resource_of_latency(find_word(row, 7, metrics, METRICS));
	facts->is_interrupted = sqlite3_column_int(row, 3);
	facts->span_ns = size_at(row, 4);
	facts->cpus = (uint32_t)(size_at(row, 5) & UINT16_MAX);
	facts->stalled_percent = percent_at(row, 6);
	return keep_texts(facts, row, 2, &facts->cgroup);
}

static int add_account(struct verdict_facts *facts, sqlite3_stmt *row)
{
	size_t account = find_word(row, 1, account_names, ACCOUNTS);
	const char *name = (const char *)sqlite3_column_text(row, 0);
	struct verdict_victim *victim = facts->victims_count ? &facts->victims[facts->victims_count - 1]
							     : NULL;
	int result = 0;

	if (!name || account == ACCOUNTS)
		return 0; /* a newer bourdond's */
	if (!victim || strcmp(victim->text, name) != 0) {
		if (array_make_room(facts->victims, facts->victims_count, facts->victims_room, 1U))
			return -ENOMEM;
		victim = &facts->victims[facts->victims_count];
		*victim = (struct verdict_victim){ .threads = size_at(row, 2) };
		result = keep_text(facts, row, 0, &victim->text);
		facts->victims_count += !result;
	}
	if (!result)
		victim->ns[account] = size_at(row, 3);
	return result;
}

static int compare_victim(const void *key, const void *element)
{
	return strcmp(key, ((const struct verdict_victim *)element)->text);
}

/* The rows are in the order of bytes. */
static struct verdict_victim *find_victim(struct verdict_facts *facts, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text && facts->victims_count ? bsearch(text, facts->victims, facts->victims_count,
						      sizeof(*facts->victims), compare_victim)
					    : NULL;
}

static int add_victim_program(struct verdict_facts *facts, sqlite3_stmt *row)
{
	struct verdict_victim *victim = find_victim(facts, row, 0);

	if (!victim || victim->who.program)
		return 0;
	return keep_texts(facts, row, 1, &victim->who.program, &victim->who.unit, &victim->who.cgroup);
}

static int add_party(struct verdict_facts *facts, sqlite3_stmt *row)
{
	const struct verdict_victim *victim = find_victim(facts, row, 0);
	size_t wait = find_word(row, 1, account_names, ACCOUNTS),
	       role = find_word(row, 2, blame_role_names, BLAME_ROLES);
	struct verdict_party party = { .wait = (uint8_t)wait,
				       .role = (enum blame_role)role,
				       .who = { .tgid = number_at(row, 8, 0),
						.processes = sqlite3_column_int64(row, 9) },
				       .ns = (uint64_t)sqlite3_column_int64(row, 10) };
	int result;

	if (!victim || wait == ACCOUNTS || role == BLAME_ROLES)
		return 0; /* a newer bourdond's */
	party.victim = (uint32_t)(victim - facts->victims);
	result = keep_texts(facts, row, 3, &party.who.program, &party.who.unit, &party.who.cgroup,
			    &party.where, &party.then_account);
	return result ? result : append(facts->parties, party);
}

static int add_limit(struct verdict_facts *facts, sqlite3_stmt *row)
{
	struct verdict_limit limit = { .value = number_at(row, 2, -1),
				       .period_us = number_at(row, 3, 0),
				       .met = size_at(row, 4),
				       .of_periods = size_at(row, 5),
				       .refaulted_bytes = size_at(row, 6) * PAGE_BYTES,
				       .is_concluded = sqlite3_column_int(row, 7) };
	int result = keep_texts(facts, row, 0, &limit.cgroup, &limit.name);

	return result || !limit.cgroup ? result : append(facts->limits, limit);
}

static int add_kill(struct verdict_facts *facts, sqlite3_stmt *row)
{
	struct verdict_kill kill = { .who = { .tgid = number_at(row, 5, 0), .processes = 1 },
				     .rss_bytes = size_at(row, 6),
				     .limit_bytes = number_at(row, 7, -1) };
	int result = keep_texts(facts, row, 0, &kill.how, &kill.who.program, &kill.who.unit, &kill.who.cgroup,
				&kill.limit_cgroup);

	return result ? result : append(facts->kills, kill);
}

static int add_growth(struct verdict_facts *facts, sqlite3_stmt *row)
{
	struct verdict_growth grown = { .is_target = sqlite3_column_int(row, 3),
					.who = { .tgid = number_at(row, 4, 0),
						 .processes = number_at(row, 5, 0) },
					.grown_bytes = size_at(row, 6),
					.rss_bytes = size_at(row, 7) };
	int result = keep_texts(facts, row, 0, &grown.who.program, &grown.who.unit, &grown.who.cgroup);

	return result ? result : append(facts->grown, grown);
}

static int add_disk(struct verdict_facts *facts, sqlite3_stmt *row)
{
	facts->disk.requests = size_at(row, 1);
	facts->disk.bytes = size_at(row, 2);
	facts->disk.busy_ns = size_at(row, 3) * MILLISECOND_NS;
	facts->disk.wait_ns = size_at(row, 4) * MILLISECOND_NS;
	facts->disk.span_ns = size_at(row, 5);
	return keep_texts(facts, row, 0, &facts->disk.name);
}

static int add_usage(struct verdict_facts *facts, sqlite3_stmt *row)
{
	double wanted_ns = sqlite3_column_double(row, 1);
	uint64_t span_ns = size_at(row, 0);

	facts->wanted = span_ns && wanted_ns > 0 ? wanted_ns / (double)span_ns : 0;
	facts->targets_bytes = size_at(row, 2);
	facts->programs = (uint32_t)(size_at(row, 3) & UINT16_MAX);
	facts->units = (uint32_t)(size_at(row, 4) & UINT16_MAX);
	return 0;
}

static int add_machine(struct verdict_facts *facts, sqlite3_stmt *row)
{
	facts->machine_ns = size_at(row, 0);
	facts->irq_ns = size_at(row, 1);
	facts->softirq_ns = size_at(row, 2);
	facts->steal_ns = size_at(row, 3);
	return keep_texts(facts, row, 4, &facts->interrupt);
}

static int add_memory(struct verdict_facts *facts, sqlite3_stmt *row)
{
	facts->reclaim_stalls = size_at(row, 0);
	facts->scanned_bytes = size_at(row, 1) * PAGE_BYTES;
	facts->refaulted_bytes = size_at(row, 2) * PAGE_BYTES;
	if (!sqlite3_column_int(row, 3))
		facts->unseen |= UNSEEN_LIMITS;
	return 0;
}

static int add_loss(struct verdict_facts *facts, sqlite3_stmt *row)
{
	facts->lost_percent = percent_at(row, 1);
	return facts->lost_percent > 0 ? keep_texts(facts, row, 0, &facts->lost_reason) : 0;
}

/* ---- queries ---- */

#define OF_CAPTURE " WHERE capture_id = ?1 "
/* The growth of statistics that existed at both times. total() does not overflow. */
#define GROWN(names) "CAST(total(max(0, after - before)) FILTER (WHERE name " names ") AS INTEGER)"
/* What was measured of interrupts is finer than the kernel's own sums, which may be in ticks. */
#define INTERRUPTS(kind)                                                                                     \
	"CAST(ifnull((SELECT total(ns) FROM interrupt" OF_CAPTURE "AND kind = '" kind "' HAVING count(*)), " \
	"total(m.ns) FILTER (WHERE part = '" kind "')) AS INTEGER)"

/* clang-format off */
static const char capture_sql[] =
	"SELECT trigger_mode, resource, cgroup, state = 'interrupted', ended_at - triggered_at "
	"+ ifnull((SELECT history_ns FROM rule r WHERE r.rule_id = c.rule_id), history_ns), "
	"(SELECT cpus FROM run r WHERE r.run_id = c.run_id), "
	"100.0 * max(ifnull(1.0 * observed_us / nullif(window_us, 0), 0), ifnull((SELECT 1000.0 "
	"* (max(iif(c.kind = 'full', p.full_us, p.some_us)) - min(iif(c.kind = 'full', p.full_us, p.some_us))) "
	"/ nullif(max(p.at) - min(p.at), 0) FROM pressure p WHERE p.capture_id = c.capture_id "
	"AND p.resource = c.resource AND p.scope = ifnull(c.cgroup, 'system')), 0)), latency_metric FROM capture c" OF_CAPTURE;

static const char account_sql[] =
	"SELECT victim, account, threads, ns FROM account" OF_CAPTURE "ORDER BY victim LIMIT " ROWS_MAX;

/* A victim's text is not taken apart: a name may look like a name and a place. */
static const char victim_sql[] =
	"SELECT victim, program, unit, cgroup FROM blame" OF_CAPTURE "AND role = 'own' "
	"UNION SELECT p.comm || ifnull(' in ' || ifnull(p.unit, p.cgroup), ''), p.comm, p.unit, p.cgroup "
	"FROM usage u JOIN process p USING(process_id)" OF_CAPTURE "AND u.role = 'target' "
	"UNION SELECT comm || ifnull(' in ' || ifnull(unit, cgroup), ''), comm, unit, cgroup FROM ended" OF_CAPTURE
	"AND role = 'target' ORDER BY 1, 2, 3, 4 LIMIT " ROWS_MAX;

/*
 * The rows of one program and place are one party, with the texts of the largest; what has no program is told apart by its texts.
 * Kernel threads of a kind are one: without the number of a CPU; each name has a row, while rows of others have the number of all.
 * The kernel knows who records where a thread waited for a CPU. What is charged by bytes and growth is charged to names: those of
 * the same program in the same place are the recorder, too.
 */
static const char party_sql[] =
	"WITH given AS (SELECT *, ifnull(unit, ifnull(cgroup, '')) AS place, min(ns, 1 << 49) AS part, "
	"max(0, min(ifnull(processes, 0), 1 << 49)) AS many FROM blame" OF_CAPTURE
	"AND ns > 0 ORDER BY victim, wait, role, ns DESC LIMIT " ROWS_MAX "), "
	"party AS (SELECT victim, wait, iif(role = 'other' AND (program, place) IN (SELECT program, place FROM given "
	"WHERE role = 'recorder'), 'recorder', role) AS role, "
	"iif(role = 'kernel' AND instr(program, '/'), substr(program, 1, instr(program, '/') - 1), program) AS program, "
	"unit, cgroup, place, where_text, then_account, tgid, many, part FROM given) "
	"SELECT victim, wait, role, program, unit, cgroup, where_text, then_account, "
	"iif(count(DISTINCT ifnull(tgid, 0)) = 1, tgid, NULL), iif(role = 'kernel', CAST(total(many) AS INTEGER), many), "
	"CAST(total(part) AS INTEGER) AS ns, max(part) FROM party "
	"GROUP BY victim, wait, role, program, place, iif(program IS NULL, cgroup, NULL), iif(program IS NULL, where_text, NULL) "
	"ORDER BY victim, wait, ns DESC, role, program, unit, cgroup, where_text";

static const char quota_sql[] =
	"SELECT scope, 'cpu.max', max(ifnull(after, before)) FILTER (WHERE name = 'quota_usec') AS quota, "
	"max(ifnull(after, before)) FILTER (WHERE name = 'period_usec'), "
	GROWN("= 'nr_throttled'") ", " GROWN("= 'nr_periods'") ", 0, 0 FROM statistic" OF_CAPTURE
	"AND source IN ('cpu.max', 'cpu.stat') AND scope <> 'system' GROUP BY scope HAVING quota IS NOT NULL "
	"ORDER BY scope LIMIT 64";

/* memory.events of the cgroup that fired has those of the cgroups below; of a cgroup above it, those of strangers. */
static const char limit_sql[] =
	"SELECT e.scope, 'memory.' || e.name, (SELECT max(ifnull(v.after, v.before)) FROM statistic v "
	"WHERE v.capture_id = ?1 AND v.scope = e.scope AND v.source = 'memory.' || e.name AND v.name = 'bytes'), 0, "
	"max(e.after - e.before) AS met, 0, (SELECT " GROWN("GLOB 'workingset_refault_*'") " FROM statistic r "
	"WHERE r.capture_id = ?1 AND r.scope = e.scope AND r.source = 'memory.stat'), 0 "
	"FROM statistic e JOIN capture c USING(capture_id)" OF_CAPTURE
	"AND e.name IN ('max', 'high') AND e.after > e.before AND (e.source = 'memory.events.local' "
	"OR e.source = 'memory.events' AND e.scope = c.cgroup) GROUP BY e.scope, e.name ORDER BY met DESC, 1, 2 LIMIT 64";

/* A rule for the host has no memory.events: reclaim scanned the cgroup that met its limit, or is below one that did. */
static const char scanned_sql[] =
	"SELECT cgroup, NULL, NULL, 0, 0, 0, refaulted_bytes / 4096, 1 FROM cgroup_memory" OF_CAPTURE
	"AND cgroup <> '/' AND scanned_bytes > 0 ORDER BY scanned_bytes DESC, cgroup LIMIT 16";

static const char kill_sql[] =
	"SELECT k.how, k.comm, k.unit, k.cgroup, k.limit_cgroup, k.tgid, k.rss_bytes, k.limit_bytes "
	"FROM killed k JOIN capture c USING(capture_id)" OF_CAPTURE "AND k.role = 'target' AND k.how <> 'signal' "
	"AND k.comm IS NOT NULL ORDER BY abs(1.0 * k.at - c.triggered_at), k.tgid LIMIT 64";

static const char growth_sql[] =
	"SELECT program, unit, cgroup, role = 'target', tgid, processes, grown_bytes, rss_bytes FROM memory_group" OF_CAPTURE
	"AND role <> 'kernel' AND grown_bytes > 0 ORDER BY grown_bytes DESC, program, unit, cgroup LIMIT 64";

static const char disk_sql[] =
	"SELECT device, " GROWN("IN ('reads', 'writes')") ", " GROWN("IN ('read_bytes', 'write_bytes')") ", "
	GROWN("= 'busy_ms'") " AS busy, " GROWN("IN ('read_ms', 'write_ms')") ", max(to_at) - min(from_at) "
	"FROM statistic" OF_CAPTURE "AND source = 'diskstats' GROUP BY device ORDER BY busy DESC, device LIMIT 1";

/* A program counts as one of a crowd from a thousandth of all CPU time on, which is what makes a row of blame. */
static const char usage_sql[] =
	"WITH used AS (SELECT p.comm, ifnull(p.unit, p.cgroup) AS place, u.role, u.from_at, u.to_at, u.cpu_ns, u.run_delay_ns, "
	"ifnull(u.read_bytes, 0) + ifnull(u.write_bytes, 0) AS bytes "
	"FROM usage u LEFT JOIN process p USING(process_id)" OF_CAPTURE
	"UNION ALL SELECT comm, ifnull(unit, cgroup), role, NULL, NULL, cpu_ns, run_delay_ns, read_bytes + write_bytes "
	"FROM ended" OF_CAPTURE "), programs AS (SELECT place FROM used WHERE comm IS NOT NULL AND role <> 'kernel' "
	"GROUP BY comm, place HAVING total(cpu_ns) > (SELECT total(cpu_ns) FROM used) / 1000) "
	"SELECT max(to_at) - min(from_at), total(cpu_ns) + total(run_delay_ns), "
	"CAST(total(bytes) FILTER (WHERE role = 'target') AS INTEGER), (SELECT count(*) FROM programs), "
	"(SELECT count(DISTINCT place) FROM programs) FROM used";

static const char machine_sql[] =
	"SELECT CAST(total(m.ns) AS INTEGER), " INTERRUPTS("irq") ", " INTERRUPTS("softirq") ", "
	"CAST(total(m.ns) FILTER (WHERE part = 'steal') AS INTEGER), b.name FROM machine_time m LEFT JOIN "
	"(SELECT ifnull(name, 'interrupt ' || number) AS name FROM interrupt" OF_CAPTURE
	"AND (name IS NOT NULL OR number IS NOT NULL) ORDER BY ns DESC, 1 LIMIT 1) b WHERE m.capture_id = ?1";

static const char memory_sql[] =
	"SELECT " GROWN("GLOB 'allocstall_*'") ", " GROWN("IN ('pgscan_direct', 'pgscan_kswapd')") ", "
	"ifnull((SELECT " GROWN("GLOB 'workingset_refault_*'") " FROM statistic r JOIN capture c USING(capture_id)" OF_CAPTURE
	"AND r.scope = c.cgroup AND r.source = 'memory.stat' HAVING count(*)), " GROWN("GLOB 'workingset_refault_*'") "), "
	"EXISTS (SELECT 1 FROM statistic" OF_CAPTURE "AND source = 'memory.current') "
	"OR EXISTS (SELECT 1 FROM cgroup_memory" OF_CAPTURE ") FROM statistic" OF_CAPTURE
	"AND scope = 'system' AND source = 'vmstat'";

/* Losses of stacks and intervals change no account. */
static const char loss_sql[] =
	"SELECT reason, percent FROM data_quality" OF_CAPTURE "AND unit IN ('sample', 'cpu') "
	"ORDER BY percent DESC, events DESC, reason LIMIT 1";
/* clang-format on */

/* Accounts are before what belongs to victims. */
static const struct part {
	const char *sql;
	int (*add)(struct verdict_facts *facts, sqlite3_stmt *row);
} parts[] = {
	{ capture_sql, add_capture }, { account_sql, add_account }, { victim_sql, add_victim_program },
	{ party_sql, add_party },     { quota_sql, add_limit },     { limit_sql, add_limit },
	{ scanned_sql, add_limit },   { kill_sql, add_kill },       { growth_sql, add_growth },
	{ disk_sql, add_disk },       { usage_sql, add_usage },     { machine_sql, add_machine },
	{ memory_sql, add_memory },   { loss_sql, add_loss },
};

/* Returns the number of rows, -ENOMEM or -EIO. */
static int load_part(sqlite3 *sqlite, int64_t capture_id, const struct part *part,
		     struct verdict_facts *facts)
{
	sqlite3_stmt *row = NULL;
	int status = sqlite3_prepare_v2(sqlite, part->sql, -1, &row, NULL), result = 0, count = 0;

	if (status == SQLITE_OK)
		status = sqlite3_bind_int64(row, 1, capture_id);
	while (status == SQLITE_OK && !result && (status = sqlite3_step(row)) == SQLITE_ROW) {
		result = part->add(facts, row);
		status = SQLITE_OK;
		count++;
	}
	if (!result && status != SQLITE_DONE)
		result = status == SQLITE_NOMEM ? -ENOMEM : -EIO;
	sqlite3_finalize(row);
	return result < 0 ? result : count;
}

int verdict_facts_load(sqlite3 *sqlite, int64_t capture_id, struct verdict_facts *ret_facts)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { .resource = PSI_RESOURCES,
								     .lost_percent = -1 };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int rows = load_part(sqlite, capture_id, &parts[i], &facts);

		if (rows < 0)
			return rows;
		if (!i && !rows)
			return -ENOENT;
	}
	facts.unseen |= (facts.victims_count ? 0U : UNSEEN_ACCOUNTS) | (facts.disk.name ? 0U : UNSEEN_DISKS) |
			(facts.machine_ns ? 0U : UNSEEN_INTERRUPTS);
	*ret_facts = facts;
	facts = (struct verdict_facts){ 0 };
	return 0;
}

void verdict_facts_free(struct verdict_facts *facts)
{
	while (facts->texts) {
		struct verdict_text *next = facts->texts->next;

		free(facts->texts);
		facts->texts = next;
	}
	free(facts->victims);
	free(facts->parties);
	free(facts->limits);
	free(facts->kills);
	free(facts->grown);
	*facts = (struct verdict_facts){ 0 };
}
