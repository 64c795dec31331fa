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
				       .ns = (uint64_t)sqlite3_column_int64(row, 10),
				       .then_queued_ns = (uint64_t)sqlite3_column_int64(row, 11) };
	int result;

	if (!victim || wait == ACCOUNTS || role == BLAME_ROLES)
		return 0; /* a newer bourdond's */
	party.victim = (uint32_t)(victim - facts->victims);
	result = keep_texts(facts, row, 3, &party.who.program, &party.who.unit, &party.who.cgroup,
			    &party.where, &party.then_account);
	return result ? result : append(facts->parties, party);
}

/* The rows come with the largest of each victim first. */
static int add_lock(struct verdict_facts *facts, sqlite3_stmt *row)
{
	struct verdict_victim *victim = find_victim(facts, row, 0);

	if (!victim || victim->lock.waits)
		return 0;
	victim->lock = (struct verdict_lock){ .waits = size_at(row, 2),
					      .ns = size_at(row, 3),
					      .all_ns = size_at(row, 4) };
	return keep_texts(facts, row, 1, &victim->lock.where);
}

static int add_herd(struct verdict_facts *facts, sqlite3_stmt *row)
{
	struct verdict_victim *victim = find_victim(facts, row, 0);
	struct verdict_who *waker;

	if (!victim || victim->herd.wakes)
		return 0;
	victim->herd = (struct verdict_herd){ .waker = { .tgid = number_at(row, 5, 0), .processes = 1 },
					      .threads = size_at(row, 6),
					      .wakes = size_at(row, 7),
					      .moments = size_at(row, 8) };
	waker = &victim->herd.waker;
	return keep_texts(facts, row, 1, &victim->herd.where, &waker->program, &waker->unit, &waker->cgroup);
}

static int add_pool(struct verdict_facts *facts, sqlite3_stmt *row)
{
	struct verdict_victim *victim = find_victim(facts, row, 0);

	if (!victim || victim->pool.threads)
		return 0;
	victim->pool = (struct verdict_pool){ .threads = size_at(row, 3),
					      .waiting = size_at(row, 4),
					      .looks = size_at(row, 5),
					      .on_cpu = size_at(row, 6),
					      .disk = size_at(row, 7),
					      .lock = size_at(row, 8),
					      .elsewhere = size_at(row, 9),
					      .answered_ns = size_at(row, 10),
					      .all_ns = size_at(row, 11) };
	return keep_texts(facts, row, 1, &victim->pool.name, &victim->pool.where);
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
	"CAST(total(part) AS INTEGER) AS ns, CAST(total(part) FILTER (WHERE then_account = 'queued') AS INTEGER), max(part) FROM party "
	"GROUP BY victim, wait, role, program, place, iif(program IS NULL, cgroup, NULL), iif(program IS NULL, where_text, NULL) "
	"ORDER BY victim, wait, ns DESC, role, program, unit, cgroup, where_text";

/* The text of a victim that this process is of. */
#define VICTIM_OF(p) p ".comm || ifnull(' in ' || ifnull(" p ".unit, " p ".cgroup), '')"
/* Of a stack the function of the program that is first in this order; neither the kernel's nor a library's. */
#define OWN_FUNCTION(stack, order)                                                                            \
	"(SELECT f.function FROM stack_frame s JOIN frame f USING(frame_id) JOIN module m USING(module_id) " \
	"WHERE s.stack_id = " stack " AND m.kind IN ('file', 'jit') AND instr(m.path, '.so') = 0 "          \
	"AND f.function_offset IS NOT NULL ORDER BY s.position " order " LIMIT 1)"
#define OF_FUTEX "r.capture_id = ?1 AND r.span = 'during' AND l.metric = 'lock' AND l.label GLOB 'futex *'"
/* A label is `futex KEY FUNCTION PLACE`, or without a function. */
static const char lock_sql[] =
	"SELECT victim, nullif(substr(label, 24, max(0, length(label) - 24 - length(place))), ''), waits, ns, sum(ns) OVER (PARTITION BY victim) "
	"FROM (SELECT v.victim, v.place, l.label, CAST(total(r.count) AS INTEGER) AS waits, CAST(total(r.sum) AS INTEGER) AS ns "
	"FROM histogram_row r JOIN histogram_label l USING(label_id) JOIN (SELECT DISTINCT victim, ifnull(unit, cgroup) AS place "
	"FROM blame" OF_CAPTURE "AND role = 'own' AND wait = 'lock') v ON substr(l.label, -length(place) - 1) = ' ' || place "
	"WHERE " OF_FUTEX " GROUP BY v.victim, l.label_id ORDER BY ns DESC LIMIT " ROWS_MAX ") ORDER BY victim, ns DESC";

/*
 * Who waits in one place and is woken by one thread; of the waits that have a stack, in how many moments of an eighth of the mean wait.
 */
static const char herd_sql[] =
	"WITH herd AS MATERIALIZED (SELECT " VICTIM_OF("p") " AS victim, w.stack_id, w.waker_thread_id, count(DISTINCT w.thread_id) AS threads, "
	"max(1, total(w.waited_ns) / total(w.intervals) / 8e6) AS moment_ms "
	"FROM wake_row w JOIN thread t USING(thread_id) JOIN process p USING(process_id) WHERE w.capture_id = ?1 AND w.stall = 'none' "
	"AND w.waker_thread_id <> w.thread_id GROUP BY 1, 2, 3 HAVING threads > 2 ORDER BY total(w.intervals) DESC LIMIT 8) "
	"SELECT victim, " OWN_FUNCTION("h.stack_id", "ASC") ", p.comm, p.unit, p.cgroup, p.tgid, threads, count(*) AS wakes, "
	"count(DISTINCT CAST(x.until_at / 1000000 / moment_ms AS INTEGER)) "
	"FROM herd h JOIN thread t ON t.thread_id = h.waker_thread_id JOIN process p USING(process_id) "
	"JOIN sample_time x ON x.capture_id = ?1 AND x.stack_id = h.stack_id AND x.kind = 'off-cpu' AND x.stall = 'none' AND x.cpu IS NOT NULL "
	"GROUP BY h.victim, h.stack_id, h.waker_thread_id ORDER BY victim, wakes DESC";

/*
 * `is_given`: another thread ended the wait, not by giving up a lock. `member`: of which pool each thread is, by its process, its
 * name without a number, and its first function. A pool waits for work where threads of others wake its own. Who waits for results
 * has a futex of its own; those at one, or at a condition variable's two, wait for work. A look that finds a thread at nothing else
 * may find it waiting for work, too: it is away only if its pool does so at futexes, and it is at none.
 */
static const char pool_sql[] =
	"WITH lock AS (SELECT DISTINCT substr(l.label, 7, 16) AS lock FROM histogram_row r JOIN histogram_label l USING(label_id) "
	"WHERE " OF_FUTEX "), "
	"wake AS MATERIALIZED (SELECT w.*, t.process_id, w.stall = 'none' AND w.role = 'target' AND w.waker_thread_id <> w.thread_id "
	"AND ifnull(w.lock NOT IN (SELECT lock FROM lock), 1) AS is_given FROM wake_row w JOIN thread t USING(thread_id) "
	"WHERE w.capture_id = ?1 LIMIT " ROWS_MAX "), "
	"seen AS (SELECT thread_id, max(stack_id) AS stack_id FROM (SELECT thread_id, stack_id FROM wake UNION ALL "
	"SELECT waker_thread_id, waker_stack_id FROM wake WHERE is_given) GROUP BY thread_id), "
	"began AS MATERIALIZED (SELECT stack_id, " OWN_FUNCTION("stack_id", "DESC") " AS begin FROM (SELECT DISTINCT stack_id FROM seen)), "
	"member AS MATERIALIZED (SELECT max(t.thread_id) AS thread_id, t.process_id, t.tid, t.thread, rtrim(t.thread, '0123456789') AS name, "
	"ifnull(begin, '') AS begin FROM seen JOIN thread t USING(thread_id) LEFT JOIN began USING(stack_id) GROUP BY t.process_id, t.tid), "
	"given AS MATERIALIZED (SELECT w.thread_id, w.stack_id, w.lock, w.waited_ns, m.process_id, m.name AS to_name, m.begin AS to_begin, "
	"k.name, k.begin FROM wake w JOIN member m USING(thread_id) JOIN member k ON k.thread_id = w.waker_thread_id "
	"AND k.process_id = m.process_id WHERE is_given AND (m.name <> k.name OR m.begin <> k.begin)), "
	"pool AS MATERIALIZED (SELECT g.process_id, g.name, g.begin, total(g.waited_ns) AS answered_ns, count(DISTINCT g.thread_id) AS waiting, "
	"(SELECT total(w.waited_ns) FROM wake w WHERE w.is_given AND w.process_id = g.process_id) AS all_ns, "
	"(SELECT min(i.lock IS NOT NULL) FROM given i WHERE i.process_id = g.process_id AND i.to_name = g.name AND i.to_begin = g.begin) "
	"AS waits_at_futexes FROM given g GROUP BY 1, 2, 3 HAVING count(g.lock) < count(*) "
	"OR count(DISTINCT g.lock) >= max(3, waiting) ORDER BY answered_ns DESC LIMIT 16), "
	"look AS (SELECT m.process_id, m.name, m.begin, m.thread, m.tid, s.samples, s.state IN ('running', 'queued') AS on_cpu, "
	"s.state = 'D' AS disk, s.state = 'S' AND s.lock IN (SELECT lock FROM lock) AS waits_for_lock, s.state = 'S' AND s.lock IS NULL AS away "
	"FROM member m JOIN thread_state s ON s.capture_id = ?1 AND s.process_id = m.process_id AND s.tid = m.tid AND s.samples > 0) "
	"SELECT " VICTIM_OF("p") " AS victim, iif(min(l.thread) = max(l.thread), l.thread, o.name || '*'), (SELECT "
	OWN_FUNCTION("b.stack_id", "ASC") " FROM (SELECT r.stack_id FROM member m CROSS JOIN sample_row r USING(thread_id) "
	"WHERE r.capture_id = ?1 AND m.process_id = o.process_id AND m.name = o.name AND m.begin = o.begin AND r.stack_id NOT IN "
	"(SELECT i.stack_id FROM given i WHERE i.process_id = o.process_id AND i.to_name = o.name AND i.to_begin = o.begin) "
	"GROUP BY r.stack_id ORDER BY total(ifnull(r.weight_ns, r.samples * 1000000000 / (SELECT max(hz, 1) FROM capture" OF_CAPTURE "))) DESC "
	"LIMIT 1) b), count(DISTINCT l.tid), o.waiting, CAST(total(l.samples) AS INTEGER), "
	"CAST(total(l.samples) FILTER (WHERE on_cpu) AS INTEGER), CAST(total(l.samples) FILTER (WHERE disk) AS INTEGER), "
	"CAST(total(l.samples) FILTER (WHERE waits_for_lock) AS INTEGER), "
	"CAST(total(l.samples) FILTER (WHERE away AND o.waits_at_futexes) AS INTEGER), CAST(o.answered_ns AS INTEGER), "
	"CAST(o.all_ns AS INTEGER) FROM pool o JOIN process p USING(process_id) JOIN look l USING(process_id, name, begin) "
	"GROUP BY o.process_id, o.name, o.begin ORDER BY victim, o.answered_ns DESC";

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
	{ party_sql, add_party },     { lock_sql, add_lock },       { herd_sql, add_herd },
	{ pool_sql, add_pool },       { quota_sql, add_limit },     { limit_sql, add_limit },
	{ scanned_sql, add_limit },   { kill_sql, add_kill },       { growth_sql, add_growth },
	{ disk_sql, add_disk },       { usage_sql, add_usage },     { machine_sql, add_machine },
	{ memory_sql, add_memory },   { loss_sql, add_loss },
};

/* Stacks and times are JSON, which may be damaged: then they tell nothing. */
static bool reads_json(const struct part *part)
{
	return part->add == add_herd || part->add == add_pool;
}

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

		if (rows < 0 && !(rows == -EIO && reads_json(&parts[i])))
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
