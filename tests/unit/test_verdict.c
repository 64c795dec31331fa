/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/cleanup.h"
#include "common/format.h"
#include "common/schema.h"
#include "common/verdict/verdict.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* ---- rows in a database ---- */

static sqlite3 *db;

static void execute(const char *sql)
{
	char *error = NULL;

	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", error, sql);
}

/* A format of sqlite3_mprintf(). */
static void execute_format(const char *format, ...)
{
	va_list arguments;
	char *sql;

	va_start(arguments, format);
	sql = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	execute(sql);
	sqlite3_free(sql);
}

static void open_database(void)
{
	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	execute(schema_sql);
	execute("INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) "
		"VALUES(1, 0, '1', 1, '6', 'h', 2, 99)");
}

static void close_database(void)
{
	sqlite3_close(db);
}

static void begin(void)
{
	execute("BEGIN");
}

static void undo(void)
{
	execute("ROLLBACK");
}

/* Of the capture's one victim `web in web.service`, in the cgroup /web.service; times are tenths of seconds. */
struct facts_row {
	const char *account; /* or the wait of a row of blame */
	int tenths;
	const char *role; /* NULL: a row of account */
	const char *program, *where;
};

/* docs/WHY.md has this table in words. */
static const struct kind_case {
	const char *of;
	const char *mode, *resource;
	double stalled_percent;
	struct facts_row rows[12];
	const char *more; /* statements that add the other rows */
	const char *kind;
	int percent;
	const char *blamed; /* programs, with a blank between two */
	const char *not_examined;
} cases[] = {
	{ "little waiting",
	  "kernel",
	  "cpu",
	  3,
	  { { "ran", 300 }, { "queued", 5 }, { "queued", 5, "other", "hog" } },
	  NULL,
	  "negligible",
	  0,
	  "",
	  "" },
	{ "little waiting under great pressure, which the victim feels in bursts",
	  "kernel",
	  "cpu",
	  40,
	  { { "ran", 300 }, { "queued", 5 }, { "queued", 5, "other", "hog" } },
	  NULL,
	  "neighbour",
	  100,
	  "hog",
	  "" },
	{ "no waiting under great pressure of others",
	  "kernel",
	  "cpu",
	  40,
	  { { "ran", 300 } },
	  NULL,
	  "negligible",
	  0,
	  "",
	  "" },
	{ "a kill, while little was waited for",
	  "kernel",
	  "memory",
	  1,
	  { { "ran", 300 } },
	  "INSERT INTO killed VALUES(1, 5, 'oom', 'target', 'web', 7, '/web.service', 'web.service', NULL, 99000000, NULL, NULL, "
	  "NULL, NULL, '/web.service', 100000000, 1)",
	  "kill",
	  0,
	  "",
	  "" },
	{ "a kill goes before a quota",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 30 }, { "throttled", 90 }, { "throttled", 90, "quota", NULL, "/web.service" } },
	  "INSERT INTO killed VALUES(1, 5, 'oomd', 'target', 'web', 7, '/web.service', 'web.service', NULL, 99000000, NULL, NULL, "
	  "NULL, NULL, NULL, NULL, 1)",
	  "kill",
	  0,
	  "",
	  "" },
	{ "a kill of nobody whom the rule covers, and one by a signal",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 30 }, { "queued", 90 }, { "queued", 90, "other", "hog" } },
	  "INSERT INTO killed VALUES(1, 5, 'oom', 'other', 'x', 7, '/x', NULL, NULL, 99, NULL, NULL, NULL, NULL, '/x', 1, 1), "
	  "(1, 5, 'signal', 'target', 'web', 8, '/web.service', 'web.service', NULL, 99, NULL, NULL, NULL, NULL, NULL, NULL, 1)",
	  "neighbour",
	  100,
	  "hog",
	  "" },
	{ "a kill fired, and has no row", "kill", NULL, 0, { { "ran", 30 } }, NULL, "kill", 0, "", "" },
	{ "a quota of a fifth, although a neighbour has more",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 30 },
	    { "queued", 80 },
	    { "throttled", 20 },
	    { "queued", 80, "other", "hog" },
	    { "throttled", 20, "quota", NULL, "/web.service" } },
	  "INSERT INTO statistic VALUES(1, 0, 9, '/web.service', 'cpu.max', NULL, 'quota_usec', 50000, 50000), "
	  "(1, 0, 9, '/web.service', 'cpu.max', NULL, 'period_usec', 100000, 100000), "
	  "(1, 0, 9, '/web.service', 'cpu.stat', NULL, 'nr_throttled', 5, 35), "
	  "(1, 0, 9, '/web.service', 'cpu.stat', NULL, 'nr_periods', 10, 50)",
	  "quota",
	  20,
	  "",
	  "" },
	{ "a quota of less",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 30 },
	    { "queued", 81 },
	    { "throttled", 19 },
	    { "queued", 81, "other", "hog" },
	    { "throttled", 19, "quota", NULL, "/web.service" } },
	  NULL,
	  "neighbour",
	  100,
	  "hog",
	  "" },
	{ "a memory limit",
	  "kernel",
	  "memory",
	  60,
	  { { "ran", 30 }, { "memory", 90 }, { "memory", 90, "limit" } },
	  "INSERT INTO statistic VALUES(1, 0, 9, '/web.service', 'memory.events.local', NULL, 'max', 5, 3000), "
	  "(1, 0, 9, '/web.service', 'memory.max', NULL, 'bytes', 67108864, 67108864)",
	  "limit",
	  100,
	  "",
	  "" },
	{ "a disk that reads again what a memory limit evicted",
	  "kernel",
	  "io",
	  60,
	  { { "ran", 30 },
	    { "io", 80 },
	    { "memory", 4 },
	    { "io", 80, "own", "web" },
	    { "memory", 4, "limit" } },
	  "INSERT INTO statistic VALUES(1, 0, 9, 'system', 'vmstat', NULL, 'workingset_refault_file', 0, 20000); "
	  "INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup, unit) "
	  "VALUES(1, 1, 7, 1, 'web', '/web.service', 'web.service'); INSERT INTO usage(capture_id, process_id, role, from_at, to_at, "
	  "read_bytes, write_bytes) VALUES(1, 1, 'target', 0, 9, 100000000, 0)",
	  "limit",
	  100,
	  "",
	  "memory limits" },
	{ "own threads have the largest part",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 100 },
	    { "queued", 49, "own", "web" },
	    { "queued", 30, "other", "hog" },
	    { "queued", 21, "recorder", "bourdond" } },
	  NULL,
	  "own threads",
	  49,
	  "web",
	  "" },
	{ "a lock, waited for longer than for a CPU",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 50 },
	    { "lock", 163 },
	    { "queued", 50, "other", "hog" },
	    { "lock", 160, "own", "web", "work" },
	    { "lock", 3, "unknown", NULL, "not ended" } },
	  NULL,
	  "lock",
	  98,
	  "web",
	  "" },
	{ "a lock, waited for less",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 50 },
	    { "lock", 49 },
	    { "queued", 50, "other", "hog" },
	    { "lock", 49, "own", "web", "work" } },
	  NULL,
	  "neighbour",
	  100,
	  "hog",
	  "" },
	{ "one neighbour: a fifth, and half as much again as the next",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 100 },
	    { "queued", 21, "other", "hog" },
	    { "queued", 14, "other", "b" },
	    { "queued", 15, "own", "web" },
	    { "queued", 50, "other", NULL } },
	  NULL,
	  "neighbour",
	  21,
	  "hog",
	  "" },
	{ "bourdon itself is a neighbour as any other",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 100 },
	    { "queued", 60, "recorder", "bourdond" },
	    { "queued", 40, "own", "web" } },
	  NULL,
	  "neighbour",
	  60,
	  "bourdond",
	  "" },
	{ "two neighbours of a size",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 100 },
	    { "queued", 40, "other", "a" },
	    { "queued", 35, "other", "b" },
	    { "queued", 25, "own", "web" } },
	  NULL,
	  "neighbours",
	  75,
	  "a b",
	  "" },
	{ "a crowd: nobody has a tenth",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 100 },
	    { "queued", 4, "other", "a" },
	    { "queued", 3, "other", "b" },
	    { "queued", 5, "own", "web" },
	    { "queued", 88, "other", NULL } },
	  NULL,
	  "crowd",
	  95,
	  "a b",
	  "" },
	{ "a device of which the victim has most of the requests, all slow",
	  "kernel",
	  "io",
	  60,
	  { { "ran", 10 }, { "io", 90 }, { "io", 90, "own", "web" } },
	  "INSERT INTO statistic VALUES(1, 0, 10000000000, 'system', 'diskstats', 'vda', 'reads', 0, 300), "
	  "(1, 0, 10000000000, 'system', 'diskstats', 'vda', 'read_bytes', 0, 1228800), "
	  "(1, 0, 10000000000, 'system', 'diskstats', 'vda', 'busy_ms', 0, 9500), "
	  "(1, 0, 10000000000, 'system', 'diskstats', 'vda', 'read_ms', 0, 9000)",
	  "device",
	  100,
	  "",
	  "io.max" },
	{ "own I/O",
	  "kernel",
	  "io",
	  60,
	  { { "ran", 10 }, { "io", 90 }, { "io", 80, "own", "web" }, { "io", 10, "other", "b" } },
	  "INSERT INTO statistic VALUES(1, 0, 10000000000, 'system', 'diskstats', 'vda', 'reads', 0, 30000), "
	  "(1, 0, 10000000000, 'system', 'diskstats', 'vda', 'read_bytes', 0, 1228800000), "
	  "(1, 0, 10000000000, 'system', 'diskstats', 'vda', 'busy_ms', 0, 9500)",
	  "own I/O",
	  89,
	  "web",
	  "" },
	{ "the host is short of memory, and the victim grew",
	  "kernel",
	  "memory",
	  60,
	  { { "ran", 10 }, { "memory", 90 }, { "memory", 90, "own", "web" } },
	  "INSERT INTO statistic VALUES(1, 0, 9, 'system', 'vmstat', NULL, 'allocstall_normal', 0, 20), "
	  "(1, 0, 9, 'system', 'vmstat', NULL, 'pgscan_direct', 0, 20000); "
	  "INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup, unit) "
	  "VALUES(1, 1, 7, 1, 'web', '/web.service', 'web.service'); INSERT INTO usage(capture_id, process_id, role, from_at, to_at, "
	  "rss_bytes, rss_before_bytes) VALUES(1, 1, 'target', 0, 9, 200000000, 0)",
	  "memory shortage",
	  100,
	  "web",
	  "" },
	{ "the host is short of memory, and a neighbour grew",
	  "kernel",
	  "memory",
	  60,
	  { { "ran", 10 },
	    { "memory", 90 },
	    { "memory", 80, "other", "hog" },
	    { "memory", 10, "own", "web" } },
	  "INSERT INTO statistic VALUES(1, 0, 9, 'system', 'vmstat', NULL, 'pgscan_kswapd', 0, 20000); "
	  "INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup, unit) "
	  "VALUES(1, 1, 7, 1, 'hog', '/other', 'other.service'); INSERT INTO usage(capture_id, process_id, role, from_at, to_at, "
	  "rss_bytes, rss_before_bytes) VALUES(1, 1, 'other', 0, 9, 200000000, 0)",
	  "neighbour",
	  89,
	  "hog",
	  "" },
	{ "interrupts have the largest part, and ksoftirqd is one of them",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 },
	    { "queued", 100 },
	    { "queued", 30, "irq" },
	    { "queued", 20, "kernel", "ksoftirqd/0" },
	    { "queued", 10, "kernel", "ksoftirqd/1" },
	    { "queued", 40, "other", "b" } },
	  NULL,
	  "interrupts",
	  60,
	  "",
	  "" },
	{ "pressure of interrupts",
	  "kernel",
	  "irq",
	  30,
	  { { "ran", 300 }, { "queued", 10 }, { "queued", 2, "irq" }, { "queued", 8, "other", "b" } },
	  "INSERT INTO machine_time VALUES(1, 'irq', 0, 9, 500, 5), (1, 'softirq', 0, 9, 1500, 15), (1, 'steal', 0, 9, 0, 0), "
	  "(1, 'targets', 0, 9, 8000, 80)",
	  "interrupts",
	  20,
	  "",
	  "" },
	{ "the hypervisor took the time",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 100 }, { "queued", 100 }, { "queued", 70, "steal" }, { "queued", 30, "other", "b" } },
	  NULL,
	  "steal",
	  70,
	  "",
	  "" },
	{ "on demand, the largest wait but sleep: for a local thread",
	  "manual",
	  NULL,
	  0,
	  { { "ran", 10 },
	    { "sleep", 900 },
	    { "peer", 55 },
	    { "queued", 20 },
	    { "queued", 20, "other", "hog" },
	    { "peer", 50, "own", "web" },
	    { "peer", 5, "unknown", NULL, "not ended" } },
	  NULL,
	  "peer",
	  91,
	  "web",
	  "" },
	{ "on demand: for another host",
	  "manual",
	  NULL,
	  0,
	  { { "ran", 10 }, { "sleep", 900 }, { "network", 60 }, { "network", 60, "unknown" } },
	  NULL,
	  "network",
	  100,
	  "",
	  "" },
	{ "on demand: one lock",
	  "manual",
	  NULL,
	  0,
	  { { "ran", 40 }, { "lock", 163 }, { "lock", 163, "own", "web", "work" } },
	  NULL,
	  "lock",
	  100,
	  "web",
	  "" },
	{ "on demand: nothing is waited for",
	  "manual",
	  NULL,
	  0,
	  { { "ran", 1 }, { "sleep", 900 }, { "queued", 1 }, { "queued", 1, "other", "hog" } },
	  NULL,
	  "negligible",
	  0,
	  "",
	  "" },
	{ "sleep, peers and the network decide no pressure",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 10 },
	    { "sleep", 900 },
	    { "peer", 300 },
	    { "network", 300 },
	    { "queued", 30 },
	    { "peer", 300, "other", "db" },
	    { "network", 300, "unknown" },
	    { "queued", 30, "other", "hog" } },
	  NULL,
	  "neighbour",
	  100,
	  "hog",
	  "" },
	{ "denied processes have no name",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 10 },
	    { "queued", 90 },
	    { "queued", 85, "unknown", NULL, "denied" },
	    { "queued", 5, "own", "web" } },
	  NULL,
	  "undetermined",
	  0,
	  "",
	  "processes that root's policy denies" },
	{ "CPUs were idle",
	  "kernel",
	  "cpu",
	  60,
	  { { "ran", 10 }, { "queued", 90 }, { "queued", 85, "nobody" }, { "queued", 5, "own", "web" } },
	  NULL,
	  "undetermined",
	  0,
	  "",
	  "" },
	{ "without accounts", "kernel", "cpu", 60, { { 0 } }, NULL, "undetermined", 0, "", "accounts" },
	{ "a baseline", "baseline", NULL, 0, { { 0 } }, NULL, "undetermined", 0, "", "accounts" },
};

static void add_row(const struct facts_row *row)
{
	int64_t ns = 100000000 * (int64_t)row->tenths;
	bool is_own = row->role && !strcmp(row->role, "own");

	if (!row->role)
		execute_format("INSERT INTO account VALUES(1, 'web in web.service', %Q, 4, %lld)",
			       row->account, (long long)ns);
	else
		execute_format(
			"INSERT INTO blame VALUES(1, 'web in web.service', %Q, %Q, %Q, %Q, %Q, NULL, NULL, %lld, %Q, NULL)",
			row->account, row->role, row->program,
			is_own         ? "web.service"
			: row->program ? "other.service"
				       : NULL,
			is_own         ? "/web.service"
			: row->program ? "/other"
				       : NULL,
			(long long)ns, row->where);
}

static void add_case(const struct kind_case *is)
{
	execute_format(
		"INSERT INTO capture(capture_id, run_id, resource, kind, trigger_mode, triggered_at, began_at, ended_at, "
		"history_ns, state, window_us, observed_us, hz) VALUES(1, 1, %Q, 'some', %Q, 10000000000, 0, 20000000000, "
		"10000000000, 'complete', 1000000, %d, 99)",
		is->resource, is->mode, (int)(is->stalled_percent * 10000));
	for (size_t i = 0; i < ARRAY_SIZE(is->rows) && is->rows[i].account; i++)
		add_row(&is->rows[i]);
	if (is->more)
		execute(is->more);
}

static struct verdict_facts load(void)
{
	struct verdict_facts facts;

	ck_assert_int_eq(verdict_facts_load(db, 1, &facts), 0);
	return facts;
}

static void write_blamed(const struct verdict *verdict, char into[256])
{
	size_t used = 0;

	*into = '\0';
	for (uint32_t i = 0; i < verdict->blamed_count; i++) {
		const struct verdict_party *party = verdict->blamed[i].party;

		ck_assert_uint_gt(party->ns, 0);
		if (party->program && party->role != ROLE_KERNEL)
			used += (size_t)snprintf(into + used, 256 - used, "%s%s", used ? " " : "",
						 party->program);
	}
}

START_TEST(kinds_have_an_order)
{
	const struct kind_case *is = &cases[_i];
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };
	struct verdict verdict;
	char blamed[256];

	add_case(is);
	facts = load();
	verdict = verdict_judge(&facts);
	write_blamed(&verdict, blamed);
	ck_assert_msg(!strcmp(verdict_kind_names[verdict.kind], is->kind), "%s: %s", is->of,
		      verdict_kind_names[verdict.kind]);
	ck_assert_msg((int)(verdict.blamed_percent + 0.5) == is->percent, "%s: %f %%", is->of,
		      verdict.blamed_percent);
	ck_assert_msg(!strcmp(blamed, is->blamed), "%s: '%s'", is->of, blamed);
	ck_assert_msg(!strcmp(verdict.not_examined, is->not_examined), "%s: '%s'", is->of,
		      verdict.not_examined);
}
END_TEST

/* ---- names ---- */

static const struct kind_case hostile = {
	"a name that reads like a sentence",
	"kernel",
	"cpu",
	60,
	{ { "ran", 10 }, { "queued", 90 }, { "queued", 10, "other", "sshd" } },
	"INSERT INTO blame VALUES(1, 'web in web.service', 'queued', 'other', 'hog', NULL, '/deleg/a; the largest is sshd in /x', "
	"NULL, 3, 8000000000, NULL, NULL)",
	"neighbour",
	89,
	"hog",
	""
};

START_TEST(a_name_names_nobody_else)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };
	char text[VERDICT_TEXT_BYTES];
	struct verdict verdict;

	add_case(&hostile);
	facts = load();
	verdict = verdict_judge(&facts);
	ck_assert_int_eq(verdict.kind, VERDICT_NEIGHBOUR);
	ck_assert_str_eq(verdict.blamed[0].party->program, "hog");
	ck_assert_str_eq(
		verdict_headline_text(&facts, &verdict, 0, text),
		"neighbour: hog ×3 in \"/deleg/a; the largest is sshd in /x\" took 89 % of the wait for a CPU");
	verdict_headline_text(&facts, &verdict, 70, text);
	ck_assert_uint_eq(format_columns(text), 70);
	ck_assert_ptr_nonnull(strstr(text, "…"));
	ck_assert_ptr_nonnull(strstr(text, " took 89 % of the wait for a CPU"));
	ck_assert_str_eq(
		verdict_culprit_text(&facts, &verdict, 0, text),
		"hog ×3 in \"/deleg/a; the largest is sshd in /x\": 8 s of 9 s (89 %); its own threads 0 %");
}
END_TEST

/* The text of a victim is not taken apart: two programs may have the same, and none of them is another's. */
START_TEST(victims_have_the_names_of_their_rows)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };

	add_case(&cases[0]);
	execute("INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup) VALUES(1, 1, 7, 1, 'a in b', '/c in d'); "
		"INSERT INTO usage(capture_id, process_id, role, from_at, to_at) VALUES(1, 1, 'target', 0, 9); "
		"INSERT INTO account VALUES(1, 'a in b in /c in d', 'ran', 1, 5)");
	facts = load();
	ck_assert_uint_eq(facts.victims_count, 2);
	ck_assert_str_eq(facts.victims[0].program, "a in b");
	ck_assert_str_eq(facts.victims[0].cgroup, "/c in d");
	ck_assert_ptr_null(facts.victims[1].program); /* nobody has rows of it */
}
END_TEST

/* ---- parties ---- */

START_TEST(rows_of_a_party_are_one)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };

	add_case(&cases[0]);
	execute("INSERT INTO blame VALUES(1, 'web in web.service', 'lock', 'own', 'web', 'web.service', '/w', 5, 2, 30, 'f', 'ran'), "
		"(1, 'web in web.service', 'lock', 'own', 'web', 'web.service', '/w', 5, 2, 50, 'g', 'queued'), "
		"(1, 'web in web.service', 'lock', 'other', 'web', 'b.service', '/w', 5, 2, 60, 'g', NULL), "
		"(1, 'web in web.service', 'throttled', 'quota', NULL, 'web.service', '/w', NULL, NULL, 7, '/w', NULL), "
		"(1, 'web in web.service', 'throttled', 'quota', NULL, 'web.service', '/w/x', NULL, NULL, 8, '/w/x', NULL)");
	facts = load();
	ck_assert_uint_eq(facts.parties_count, 5);
	ck_assert_uint_eq(facts.parties[0].wait, ACCOUNT_THROTTLED);
	ck_assert_str_eq(facts.parties[0].cgroup, "/w/x");
	ck_assert_uint_eq(facts.parties[3].ns, 80);
	ck_assert_str_eq(facts.parties[3].where, "g");
	ck_assert_int_eq(facts.parties[3].processes, 2);
	ck_assert_uint_eq(facts.parties[4].ns, 60);
}
END_TEST

/* ---- any facts ---- */

static uint64_t any_ns(unsigned int *seed)
{
	/* of any size, zero among them */
	return (((uint64_t)rand_r(seed) << 20) ^ (uint64_t)rand_r(seed)) >> (rand_r(seed) % 52);
}

static const char *any_name(unsigned int *seed)
{
	static const char *const names[] = { NULL,
					     "web",
					     "",
					     "hog",
					     "/a; the largest is sshd in /x",
					     "\"",
					     "…",
					     "v1",
					     "/very/long/path/of/a/cgroup/that/does/not/fit.service",
					     "denied",
					     "ksoftirqd",
					     "cpu.max",
					     "not ended" };

	return names[(size_t)rand_r(seed) % ARRAY_SIZE(names)];
}

#define MANY 12U

struct any {
	struct verdict_facts facts;
	struct verdict_victim victims[MANY];
	struct verdict_party parties[MANY];
	struct verdict_limit limits[MANY];
	struct verdict_kill kills[MANY];
	struct verdict_growth grown[MANY];
};

static void make_any(struct any *any, unsigned int *seed)
{
	struct verdict_facts *facts = &any->facts;

	*facts = (struct verdict_facts){
		.fired = (enum verdict_trigger)(rand_r(seed) % 4),
		.resource = (enum psi_resource)(rand_r(seed) % (PSI_RESOURCES + 1)),
		.stalled_percent = rand_r(seed) % 101,
		.span_ns = any_ns(seed),
		.victims = any->victims,
		.victims_count = (uint32_t)rand_r(seed) % MANY,
		.parties = any->parties,
		.limits = any->limits,
		.limits_count = (uint32_t)rand_r(seed) % MANY,
		.kills = any->kills,
		.kills_count = rand_r(seed) % 4 ? 0 : (uint32_t)rand_r(seed) % MANY,
		.grown = any->grown,
		.grown_count = (uint32_t)rand_r(seed) % MANY,
		.disk = { any_name(seed), any_ns(seed), any_ns(seed), any_ns(seed), any_ns(seed),
			  any_ns(seed) },
		.machine_ns = any_ns(seed),
		.irq_ns = any_ns(seed),
		.steal_ns = any_ns(seed),
		.targets_bytes = any_ns(seed),
		.refaulted_bytes = any_ns(seed),
		.scanned_bytes = rand_r(seed) % 2 ? any_ns(seed) : 0,
		.lost_percent = rand_r(seed) % 100 - 1,
		.lost_reason = any_name(seed),
		.unseen = (unsigned int)rand_r(seed) % 128,
	};
	facts->parties_count = facts->victims_count ? (uint32_t)rand_r(seed) % MANY : 0;
	for (uint32_t i = 0; i < MANY; i++) {
		any->victims[i] =
			(struct verdict_victim){ "web in x", any_name(seed), any_name(seed), any_name(seed),
						 1,          { 0 } };
		for (size_t j = 0; j < ACCOUNTS; j++)
			any->victims[i].ns[j] = any_ns(seed);
		any->parties[i] = (struct verdict_party){
			.victim = facts->victims_count ? i * facts->victims_count / MANY : 0,
			.wait = (uint8_t)((unsigned int)rand_r(seed) % ACCOUNTS),
			.role = (enum blame_role)(rand_r(seed) % BLAME_ROLES),
			.program = any_name(seed),
			.unit = any_name(seed),
			.cgroup = any_name(seed),
			.tgid = rand_r(seed) % 3,
			.processes = rand_r(seed) % 9,
			.ns = any_ns(seed) + 1,
			.where = any_name(seed),
		};
		any->limits[i] = (struct verdict_limit){ .cgroup = "/a",
							 .name = any_name(seed),
							 .value = rand_r(seed) % 100 - 1,
							 .period_us = rand_r(seed) % 2,
							 .met = any_ns(seed),
							 .of_periods = any_ns(seed),
							 .is_concluded = rand_r(seed) % 2 };
		any->kills[i] = (struct verdict_kill){ .how = "oom",
						       .comm = "web",
						       .cgroup = any_name(seed),
						       .limit_cgroup = any_name(seed),
						       .limit_bytes = rand_r(seed) % 9 - 1 };
		any->grown[i] = (struct verdict_growth){ .program = "hog",
							 .cgroup = any_name(seed),
							 .grown_bytes = any_ns(seed) };
	}
}

typedef char *words(const struct verdict_facts *facts, const struct verdict *verdict, size_t width,
		    char *into);

START_TEST(any_facts_have_a_verdict)
{
	static words *const lines[] = { verdict_headline_text, verdict_culprit_text, verdict_victim_text,
					verdict_certainty_text, verdict_kill_text };
	unsigned int seed = (unsigned int)getpid() * 2654435761U, start = seed;

	for (int i = 0; i < 3000; i++) {
		char text[VERDICT_TEXT_BYTES];
		struct verdict verdict, again;
		struct any any;

		make_any(&any, &seed);
		verdict = verdict_judge(&any.facts);
		again = verdict_judge(&any.facts);
		ck_assert_msg(verdict.kind < VERDICT_KINDS && verdict.wait <= ACCOUNTS, "seed %u", start);
		ck_assert_msg(verdict.blamed_percent >= 0 && verdict.blamed_percent <= 100 &&
				      verdict.own_percent >= 0 && verdict.own_percent <= 100 &&
				      verdict.blamed_ns <= verdict.waited_ns,
			      "seed %u: %f %%", start, verdict.blamed_percent);
		ck_assert_msg(verdict.kind == again.kind && verdict.victim == again.victim &&
				      verdict.wait == again.wait && verdict.blamed_ns == again.blamed_ns &&
				      verdict.blamed_count == again.blamed_count &&
				      verdict.unseen == again.unseen,
			      "seed %u: it depends on more than the facts", start);
		for (uint32_t j = 0; j < verdict.blamed_count; j++)
			ck_assert_msg(verdict.blamed[j].party->ns && verdict.blamed[j].percent <= 100 &&
					      &any.victims[verdict.blamed[j].party->victim] == verdict.victim,
				      "seed %u", start);
		for (size_t j = 0; j < ARRAY_SIZE(lines); j++) {
			lines[j](&any.facts, &verdict, (size_t)(rand_r(&seed) % 300), text);
			ck_assert_msg(format_columns(text) <= 250 && !strchr(text, '\n'), "seed %u: %s",
				      start, text);
		}
	}
}
END_TEST

START_TEST(kinds_have_words)
{
	for (enum verdict_kind kind = 0; kind < VERDICT_KINDS; kind++)
		ck_assert_int_eq(verdict_kind_find(verdict_kind_names[kind]), kind);
	ck_assert_int_eq(verdict_kind_find("own thread"), VERDICT_KINDS);
	ck_assert_int_eq(verdict_kind_find(NULL), VERDICT_KINDS);
}
END_TEST

START_TEST(a_capture_that_is_not_there)
{
	struct verdict_facts facts;

	ck_assert_int_eq(verdict_facts_load(db, 99, &facts), -ENOENT);
	execute("DROP VIEW memory_group");
	add_case(&cases[0]);
	ck_assert_int_eq(verdict_facts_load(db, 1, &facts), -EIO);
}
END_TEST

SUITE(verdict)
{
	Suite *suite = suite_create("verdict");
	TCase *rows = tcase_create("rows"), *any = tcase_create("any");

	/* the schema once: making it takes longer than all tests */
	tcase_add_unchecked_fixture(rows, open_database, close_database);
	tcase_add_checked_fixture(rows, begin, undo);
	tcase_set_timeout(rows, 60);
	tcase_add_loop_test(rows, kinds_have_an_order, 0, ARRAY_SIZE(cases));
	tcase_add_test(rows, a_name_names_nobody_else);
	tcase_add_test(rows, victims_have_the_names_of_their_rows);
	tcase_add_test(rows, rows_of_a_party_are_one);
	tcase_add_test(rows, a_capture_that_is_not_there);
	suite_add_tcase(suite, rows);
	tcase_set_timeout(any, 60);
	tcase_add_test(any, any_facts_have_a_verdict);
	tcase_add_test(any, kinds_have_words);
	suite_add_tcase(suite, any);
	return suite;
}
