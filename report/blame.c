/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/blame.h"

#include "common/cleanup.h"
#include "report/query.h"
#include "report/shell_quote.h"

#include <string.h>

/* The daemon's words where a cgroup was found by what reclaim scanned (consumer/capture/cause_memory.c). */
#define WAS_SCANNED " was scanned most"

/* As cause_cpu_throttled(): what was throttled longest. */
static const char quota_sql[] =
	"SELECT t.scope, NULL AS name, NULL AS source, "
	"(SELECT ifnull(q.after, q.before) FROM statistic q WHERE q.capture_id = ?1 AND q.source = 'cpu.max' "
	"AND q.scope = t.scope AND q.name = 'quota_usec') AS \"limit\", "
	"(SELECT ifnull(q.after, q.before) FROM statistic q WHERE q.capture_id = ?1 AND q.source = 'cpu.max' "
	"AND q.scope = t.scope AND q.name = 'period_usec') AS period_us, "
	"(SELECT n.after - n.before FROM statistic n WHERE n.capture_id = ?1 AND n.source = 'cpu.stat' "
	"AND n.scope = t.scope AND n.name = 'nr_throttled') AS times, "
	"(SELECT n.after - n.before FROM statistic n WHERE n.capture_id = ?1 AND n.source = 'cpu.stat' "
	"AND n.scope = t.scope AND n.name = 'nr_periods') AS of_times "
	"FROM statistic t WHERE t.capture_id = ?1 AND t.source = 'cpu.stat' AND t.name = 'throttled_usec' "
	"AND t.after > t.before ORDER BY t.after - t.before DESC, t.scope LIMIT 1";

/* As limit_met(): memory.max before memory.high, a cgroup's own events before those of the cgroups below it. */
static const char limit_sql[] =
	"SELECT s.scope, s.name, NULL AS source, s.after - s.before AS times, "
	"(SELECT ifnull(l.after, l.before) FROM statistic l WHERE l.capture_id = ?1 AND l.source = 'memory.' || s.name "
	"AND l.scope = s.scope AND l.name = 'bytes') AS \"limit\", "
	"(SELECT 4096 * CAST(total(max(r.after - r.before, 0)) AS INTEGER) FROM statistic r WHERE r.capture_id = ?1 "
	"AND r.source = 'memory.stat' AND r.scope = s.scope AND r.name LIKE 'workingset_refault_%') AS bytes "
	"FROM statistic s JOIN capture c USING(capture_id) WHERE s.capture_id = ?1 AND s.after > s.before "
	"AND s.name IN ('max', 'high') AND (s.source = 'memory.events.local' OR s.source = 'memory.events' AND s.scope = c.cgroup) "
	"ORDER BY s.name = 'max' DESC, s.source = 'memory.events.local' DESC, s.after - s.before DESC, s.scope LIMIT 1";

/* A limit of cgroup v1 has no path here. */
static const char kill_sql[] =
	"SELECT iif(limit_cgroup LIKE '/%', limit_cgroup, NULL) AS scope, iif(limit_bytes IS NULL, NULL, 'max') AS name, "
	"NULL AS source, limit_bytes AS \"limit\" FROM killed JOIN capture c USING(capture_id) WHERE capture_id = ?1 AND "
	"role = 'target' AND how <> 'signal' ORDER BY abs(at - c.triggered_at), tgid LIMIT 1";

static const char scanned_sql[] =
	"SELECT cgroup AS scope, NULL AS name, NULL AS source, scanned_bytes AS bytes FROM cgroup_memory "
	"WHERE capture_id = ?1 AND cgroup <> '/' AND scanned_bytes > 0 ORDER BY scanned_bytes DESC LIMIT 1";

static const char disk_sql[] =
	"SELECT NULL AS scope, b.device AS name, NULL AS source, "
	"min(100, 1e8 * (b.after - b.before) / nullif(b.to_at - b.from_at, 0)) AS percent, "
	"(SELECT total(r.after - r.before) FROM statistic r WHERE r.capture_id = ?1 AND r.source = 'diskstats' "
	"AND r.device = b.device AND r.name IN ('read_ms', 'write_ms')) / nullif((SELECT total(r.after - r.before) FROM statistic r "
	"WHERE r.capture_id = ?1 AND r.source = 'diskstats' AND r.device = b.device AND r.name IN ('reads', 'writes')), 0) AS each_ms "
	"FROM statistic b WHERE b.capture_id = ?1 AND b.source = 'diskstats' AND b.name = 'busy_ms' "
	"ORDER BY b.after - b.before DESC, b.device LIMIT 1";

static const char interrupt_sql[] =
	"SELECT NULL AS scope, ifnull(name, 'number ' || number) AS name, kind AS source, percent, ifnull(number, -1) AS number "
	"FROM interrupt WHERE capture_id = ?1 AND (name IS NOT NULL OR number IS NOT NULL) ORDER BY ns DESC, count DESC LIMIT 1";

static const char steal_sql[] =
	"SELECT NULL AS scope, NULL AS name, NULL AS source, percent FROM machine_time WHERE capture_id = ?1 AND part = 'steal'";

static const char *sql_of(const struct answer *answer)
{
	switch (answer->verdict) {
	case CAUSE_IS_THROTTLED:
		return quota_sql;
	case CAUSE_IS_OWN_LIMIT:
		return strstr(answer->because, WAS_SCANNED) ? scanned_sql : limit_sql;
	case CAUSE_IS_KILL:
		return kill_sql;
	case CAUSE_IS_DEVICE:
	case CAUSE_IS_OWN_IO:
		return disk_sql;
	case CAUSE_IS_INTERRUPTS:
		return interrupt_sql;
	case CAUSE_IS_STEAL:
		return steal_sql;
	default:
		return NULL;
	}
}

/* Returns 0 or -ENOMEM. */
static int keep_text(struct profile *profile, const struct query *query, const char *column,
		     const char **ret_text)
{
	if (query_is_null(query, column))
		return 0;
	*ret_text = profile_keep(profile, query_text(query, column));
	return *ret_text ? 0 : -ENOMEM;
}

int blame_find(struct answer *answer, struct blame *ret_blame)
{
	struct database *database = answer->report->database;
	const char *sql = answer->because ? sql_of(answer) : NULL;
	struct blame blame = { .number = -1 };
	_cleanup_query_ struct query query = { 0 };

	*ret_blame = blame;
	if (!sql)
		return 0;
	query = query_begin(database, sql, answer->report->capture_id, 0);
	if (!query_next(&query))
		return database->failed ? -EIO : 0;
	blame.limit = query_number(&query, "limit");
	blame.period_us = query_number(&query, "period_us");
	blame.times = query_number(&query, "times");
	blame.of_times = query_number(&query, "of_times");
	blame.bytes = query_number(&query, "bytes");
	blame.percent = query_real(&query, "percent");
	blame.each_ms = query_real(&query, "each_ms");
	if (!query_is_null(&query, "number"))
		blame.number = query_number(&query, "number");
	if (keep_text(answer->profile, &query, "scope", &blame.scope) ||
	    keep_text(answer->profile, &query, "name", &blame.name) ||
	    keep_text(answer->profile, &query, "source", &blame.source))
		return -ENOMEM;
	*ret_blame = blame;
	return 0;
}

const char *blame_unnamed(const char *because)
{
	static const struct {
		const char *begin, *words;
	} unnamed[] = {
		{ "processes that root's policy denies",
		  "processes that root's policy denies: they have no names here" },
		{ "processes whose names are not known", "processes that ended before they had a name here" },
	};

	for (size_t i = 0; because && i < ARRAY_SIZE(unnamed); i++)
		if (!strncmp(because, unnamed[i].begin, strlen(unnamed[i].begin)))
			return unnamed[i].words;
	return "other processes";
}

const char *blame_unit_of(const char *cgroup)
{
	const char *slash = strrchr(cgroup, '/');

	return slash && shell_is_unit(slash + 1) ? slash + 1 : cgroup;
}
