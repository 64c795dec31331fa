/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/text/format.h"
#include "common/verdict/line.h"
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

/* ---- the table of kinds: docs/WHY.md has it in words ---- */

#define STATISTIC "INSERT INTO statistic VALUES(1, 0, 10000000000, "
#define PROCESS(name, place, role)                                                                                      \
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup, unit) VALUES(1, 1, 7, 1, '" name       \
	"', '/" place "', '" place                                                                                      \
	"'); INSERT INTO usage(capture_id, process_id, role, from_at, to_at, read_bytes, rss_before_bytes, rss_bytes) " \
	"VALUES(1, 1, '" role "', 0, 10000000000, 100000000, 0, 200000000); "
#define KILLED(how, role, place, limit)                                                                      \
	"INSERT INTO killed VALUES(1, 5, '" how "', '" role "', 'web', 7, '/" place "', '" place             \
	"', NULL, 99000000, NULL, NULL, "                                                                    \
	"NULL, NULL, " limit ", 1); "
#define DISK(reads, bytes, busy_ms, read_ms)                                                                 \
	STATISTIC "'system', 'diskstats', 'vda', 'reads', 0, " #reads "); " STATISTIC                        \
		  "'system', 'diskstats', 'vda', 'read_bytes', 0, " #bytes "); " STATISTIC                   \
		  "'system', 'diskstats', 'vda', 'busy_ms', 0, " #busy_ms "); " STATISTIC                    \
		  "'system', 'diskstats', 'vda', 'read_ms', 0, " #read_ms "); "
#define QUOTA                                                                                                \
	STATISTIC "'/web.service', 'cpu.max', NULL, 'quota_usec', 50000, 50000); " STATISTIC                 \
		  "'/web.service', 'cpu.max', NULL, 'period_usec', 100000, 100000); "
#define HOST_SHORT STATISTIC "'system', 'vmstat', NULL, 'pgscan_direct', 0, 20000); "
#define REFAULTS STATISTIC "'system', 'vmstat', NULL, 'workingset_refault_file', 0, 20000); "
#define MEMORY_MAX                                                                                           \
	STATISTIC "'/web.service', 'memory.events.local', NULL, 'max', 5, 3000); " STATISTIC                 \
		  "'/web.service', 'memory.max', NULL, 'bytes', 67108864, 67108864); "
#define MACHINE                                                                                                               \
	"INSERT INTO machine_time VALUES(1, 'irq', 0, 9, 500, 5), (1, 'softirq', 0, 9, 1500, 15), (1, 'steal', 0, 9, 0, 0), " \
	"(1, 'targets', 0, 9, 8000, 80)"

/* The place of a lock in a histogram: so many waits, and their time in ms. */
#define LOCK_WAITS(waits, ms)                                                                                \
	"INSERT INTO histogram_label VALUES(1, 'lock', 'futex 0123456789abcdef hold web.service'); "         \
	"INSERT INTO histogram_row VALUES(1, 1, 'during', 9, " #waits ", " #ms "000000); "
#define THEN(account) "UPDATE blame SET then_account = '" account "' WHERE wait = 'lock'; "
/* Eight threads, 1 to 8, of the process 2, which wait in wait_for(), and the thread 9, which works in work(). */
#define THREADS                                                                                              \
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup, unit) "                     \
	"VALUES(2, 1, 8, 1, 'web', '/web.service', 'web.service'); "                                         \
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12) "                                \
	"INSERT INTO thread SELECT i, 2, i, iif(i < 9, 'client', 'worker-' || i) FROM n; "                   \
	"INSERT INTO module VALUES(1, '/bin/web', NULL, '', 'file', NULL); "                                 \
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset) "                     \
	"VALUES(1, 1, 1, 'wait_for', 1), (2, 1, 2, 'work', 1); "                                             \
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'); "                                         \
	"INSERT INTO stack_node VALUES(1, NULL, '1', 1, 1, NULL), (2, NULL, '2', 1, 1, NULL); "              \
	"INSERT INTO sample_class VALUES(1, 'off-cpu', 'none', 'target'); "
/* Thread 9 wakes each of the eight 100 times, every 10 ms: all at once, or by turns. */
#define WOKEN(by)                                                                                            \
	THREADS "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8) "                         \
		"INSERT INTO wake_row SELECT 1, i, 1, 'none', NULL, " by ", 2, 0, 100, 1000000000 FROM n; "  \
		"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8), "                        \
		"m(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM m WHERE j < 99) "                             \
		"INSERT INTO sample_row SELECT 1, 1, i, 1, 0, 100, 1000000000, "
#define AT_ONCE "group_concat((10 * j - 10) || ',' || (10 * j) || ',0', ' ') FROM n, m GROUP BY i; "
#define BY_TURNS "group_concat((80 * j - 80) || ',' || (80 * j + 10 * i) || ',0', ' ') FROM n, m GROUP BY i; "
/* The eight wait for threads 9 to 12, of which 30 looks each are: in `state`, at the futex `lock`. */
#define ANSWERED(state, lock)                                                                                \
	THREADS "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8) "                         \
		"INSERT INTO wake_row SELECT 1, i, 1, 'none', 'f' || i, 'target', 9 + i % 4, 2, 1, 9, "      \
		"1000000000 FROM n; "                                                                        \
		"WITH n(i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n WHERE i < 12) "                        \
		"INSERT INTO thread_state SELECT 1, 2, i, 'worker-' || i, 'target', '" state                 \
		"', 'futex', NULL, " lock ", NULL, 0, 1, 30 FROM n; "                                        \
		"WITH n(i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n WHERE i < 12) "                        \
		"INSERT INTO sample_row SELECT 1, 2, i, 1, 0, 9, 2000000000, NULL FROM n; "
/* Thread 1 once woke thread 9, which waited for work at the futex `lock`. */
#define GAVE_WORK(lock)                                                                                      \
	"INSERT INTO wake_row VALUES(1, 9, 1, 'none', " lock ", 'target', 1, 1, 1, 1, 5000000); "

/*
 * Rows of the victim `web in web.service`, with commas between: an account and its tenths of a second; and with a role, and
 * perhaps a program (- for none) and where_text, of blame. fired: the mode, or of pressure the resource, and how much stalled in %.
 */
static const struct kind_case {
	const char *of, *fired, *rows;
	const char *more; /* statements that add other rows */
	const char *kind;
	int percent;        /* that it blames */
	const char *blamed; /* programs, a blank between two */
	const char *limit, *not_examined;
} cases[] = {
	/* clang-format off */
	{ "little waiting", "cpu 3",
	  "ran 300, queued 5, queued 5 other hog", "", "negligible", 0, "", "", "" },
	{ "little waiting, much at a time", "cpu 40",
	  "ran 300, queued 5, queued 5 other hog", "", "neighbour", 100, "hog", "", "" },
	{ "a latency, of few waits", "latency 0",
	  "ran 300, queued 5, queued 5 other hog", "UPDATE capture SET latency_metric = 'runqueue'", "neighbour", 100, "hog", "", "" },
	{ "a latency, and no waiting", "latency 0",
	  "ran 300", "UPDATE capture SET latency_metric = 'runqueue'", "negligible", 0, "", "", "" },
	{ "a latency of the disk, beside longer waits for a CPU", "latency 0",
	  "ran 300, queued 50, queued 50 other hog, io 20, io 20 other dd",
	  "UPDATE capture SET latency_metric = 'block.service'", "neighbour", 100, "dd", "", "" },
	{ "a latency that may be of any wait", "latency 0",
	  "ran 300, queued 50, queued 50 other hog, io 20, io 20 other dd",
	  "UPDATE capture SET latency_metric = 'offcpu'", "neighbour", 100, "hog", "", "" },
	{ "no waiting: others stall", "cpu 40",
	  "ran 300", "", "negligible", 0, "", "", "" },
	{ "a kill, while little was waited for", "memory 1",
	  "ran 300", KILLED("oom", "target", "web.service", "'/web.service', 100000000"), "kill", 0, "", "memory.max", "" },
	{ "a kill, and a quota", "cpu 60",
	  "ran 30, throttled 90, throttled 90 quota - /web.service", KILLED("oomd", "target", "web.service", "NULL, NULL"),
	  "kill", 0, "", "", "" },
	{ "kills of others, and by a signal", "cpu 60",
	  "ran 30, queued 90, queued 90 other hog", KILLED("oom", "other", "x", "'/x', 1") KILLED("signal", "target", "web.service", "NULL, NULL"),
	  "neighbour", 100, "hog", "", "" },
	{ "a kill fired, and has no row", "kill 0",
	  "ran 30", "", "kill", 0, "", "", "" },
	{ "a quota with a fifth, and a neighbour with more", "cpu 60",
	  "ran 30, queued 80, throttled 20, queued 80 other hog, throttled 20 quota - /web.service", QUOTA,
	  "quota", 20, "", "cpu.max", "" },
	{ "a quota with less", "cpu 60",
	  "ran 30, queued 81, throttled 19, queued 81 other hog, throttled 19 quota - /web.service", QUOTA,
	  "neighbour", 100, "hog", "", "" },
	{ "a quota of cgroup v1, of which only the name is known", "cpu 60",
	  "ran 30, throttled 80, throttled 80 quota - docker1", "", "quota", 100, "", "cpu.cfs_quota_us", "" },
	{ "a memory limit", "memory 60",
	  "ran 30, memory 90, memory 90 limit", MEMORY_MAX, "limit", 100, "", "memory.max", "" },
	{ "a memory limit whose cgroup is not known", "memory 60",
	  "ran 30, memory 90, memory 90 limit", "", "limit", 100, "", "", "memory limits" },
	{ "a memory limit of cgroup v1, of which only the name is known", "memory 60",
	  "ran 30, memory 90, memory 90 limit - docker1", "", "limit", 100, "", "memory.limit_in_bytes", "" },
	{ "a disk that reads again what a limit evicted", "io 60",
	  "ran 30, io 80, memory 4, io 80 own web, memory 4 limit", MEMORY_MAX REFAULTS PROCESS("web", "web.service", "target"),
	  "limit", 100, "", "memory.max", "" },
	{ "a disk that reads again what the host evicted", "io 60",
	  "ran 30, io 80, io 80 own web", HOST_SHORT REFAULTS PROCESS("web", "web.service", "target"),
	  "memory shortage", 100, "", "", "" },
	{ "own threads with the largest part", "cpu 60",
	  "ran 100, queued 100, queued 49 own web, queued 30 other hog, queued 21 recorder bourdond", "",
	  "own threads", 49, "web", "", "" },
	{ "a lock, waited for longer than for a CPU", "cpu 60",
	  "ran 100, queued 50, lock 163, queued 50 other hog, lock 160 own web work, lock 3 unknown - not ended", "",
	  "lock", 98, "web", "", "" },
	{ "a lock, waited for less", "cpu 60",
	  "ran 100, queued 50, lock 49, queued 50 other hog, lock 49 own web work", "", "neighbour", 100, "hog", "", "" },
	{ "one neighbour with a fifth, 1.5 times the next neighbour", "cpu 60",
	  "ran 100, queued 100, queued 21 other hog, queued 14 other b, queued 14 own web, queued 51 other", "",
	  "neighbour", 21, "hog", "", "" },
	{ "bourdon itself is a neighbour like others", "cpu 60",
	  "ran 100, queued 100, queued 60 recorder bourdond, queued 40 own web", "", "neighbour", 60, "bourdond", "", "" },
	{ "neighbours of one size", "cpu 60",
	  "ran 100, queued 100, queued 40 other a, queued 35 other b, queued 25 own web", "", "neighbours", 75, "a b", "", "" },
	{ "a neighbour, and own threads with hardly less", "cpu 60",
	  "ran 100, queued 100, queued 53 other hog, queued 46 own web, queued 1 irq", "", "neighbour", 53, "hog", "", "" },
	{ "a crowd, nobody with a tenth", "cpu 60",
	  "ran 100, queued 100, queued 4 other a, queued 3 other b, queued 5 own web, queued 88 other", "",
	  "crowd", 95, "a b", "", "" },
	{ "a slow device, and no queue but the victim's", "io 60",
	  "ran 10, io 90, io 90 own web", DISK(300, 1228800, 9500, 9000), "device", 100, "", "", "io.max" },
	{ "own I/O", "io 60",
	  "ran 10, io 90, io 80 own web, io 10 other b", DISK(30000, 1228800000, 9500, 9000), "own I/O", 89, "web", "", "" },
	{ "another's I/O", "io 60",
	  "ran 10, io 90, io 10 own web, io 80 other b", DISK(30000, 1228800000, 9500, 90000), "neighbour", 89, "b", "", "" },
	{ "a busy disk, and nobody known", "io 60",
	  "ran 10, io 90, io 90 unknown - not recorded", DISK(30000, 1228800000, 9500, 90000),
	  "device", 0, "", "", "io.max, waits of nobody known" },
	{ "a host short of memory, and the victim grew", "memory 60",
	  "ran 10, memory 90, memory 90 own web", HOST_SHORT PROCESS("web", "web.service", "target"),
	  "memory shortage", 100, "web", "", "" },
	{ "a host short of memory, and a neighbour grew", "memory 60",
	  "ran 10, memory 90, memory 80 other hog, memory 10 own web", HOST_SHORT PROCESS("hog", "other.service", "other"),
	  "neighbour", 89, "hog", "", "" },
	{ "memory, without reclaim for the host", "memory 60",
	  "ran 10, memory 90, memory 90 other hog", PROCESS("hog", "other.service", "other"),
	  "undetermined", 0, "", "", "memory limits" },
	{ "interrupts with the largest part, ksoftirqd among them", "cpu 60",
	  "ran 100, queued 100, queued 30 irq, queued 20 kernel ksoftirqd/0, queued 10 kernel ksoftirqd/1, queued 40 other b", "",
	  "interrupts", 60, "", "", "" },
	{ "pressure of interrupts", "irq 30",
	  "ran 300, queued 10, queued 2 irq, queued 8 other b", MACHINE, "interrupts", 20, "", "", "" },
	{ "pressure of interrupts, and nobody waited", "irq 30",
	  "ran 300", MACHINE, "interrupts", 0, "", "", "" },
	{ "stolen time", "cpu 60",
	  "ran 100, queued 100, queued 70 steal, queued 30 other b", "", "steal", 70, "", "", "" },
	{ "on demand: a local thread was waited for longest", "manual 0",
	  "ran 10, sleep 900, peer 55, queued 20, queued 20 other hog, peer 50 own web, peer 5 unknown - not ended", "",
	  "peer", 91, "web", "", "" },
	{ "on demand: another host", "manual 0",
	  "ran 10, sleep 900, network 60, network 60 unknown", "", "network", 100, "", "", "" },
	{ "on demand: a lock", "manual 0",
	  "ran 40, lock 163, lock 163 own web work", "", "lock", 100, "web", "", "" },
	{ "on demand: nothing to wait for", "manual 0",
	  "ran 1, sleep 900, queued 1, queued 1 other hog", "", "negligible", 0, "", "", "" },
	{ "sleep, peers and the network decide no pressure", "cpu 60",
	  "ran 10, sleep 900, peer 300, network 300, queued 30, peer 300 other db, network 300 unknown, queued 30 other hog", "",
	  "neighbour", 100, "hog", "", "" },
	{ "denied processes", "cpu 60",
	  "ran 10, queued 90, queued 85 unknown - denied, queued 5 own web", "",
	  "undetermined", 0, "", "", "processes that root's policy denies" },
	{ "denied processes with more than own threads", "cpu 60",
	  "ran 10, queued 90, queued 55 unknown - denied, queued 35 own web", "",
	  "undetermined", 0, "", "", "processes that root's policy denies" },
	{ "idle CPUs", "cpu 60",
	  "ran 10, queued 90, queued 85 nobody, queued 5 own web", "", "undetermined", 0, "", "", "" },
	{ "time that was not seen", "cpu 3",
	  "ran 10, rest 90", "", "undetermined", 0, "", "", "waits of nobody known" },
	{ "pressure on a disk, with memory that nobody ran short of", "io 60",
	  "ran 10, io 50, memory 60, io 50 own web, memory 60 other b", "", "own I/O", 100, "web", "", "" },
	{ "a convoy: a lock that is had for a moment, by threads that are queued", "manual 0",
	  "ran 40, queued 100, lock 1200, lock 1200 own web work", LOCK_WAITS(90000, 60000) THEN("queued"), "convoy", 100, "web", "", "" },
	{ "a lock that is held for long, by threads that are queued", "manual 0",
	  "ran 40, queued 100, lock 1200, lock 1200 own web work", LOCK_WAITS(900, 60000) THEN("queued"), "lock", 100, "web", "", "" },
	{ "a lock whose holder sleeps", "manual 0",
	  "ran 40, queued 100, lock 1200, lock 1200 own web work", LOCK_WAITS(90000, 60000) THEN("sleep"), "lock", 100, "web", "", "" },
	{ "a lock for which one thread waits at a time", "manual 0",
	  "ran 40, queued 100, lock 300, lock 300 own web work", LOCK_WAITS(90000, 60000) THEN("queued"), "lock", 100, "web", "", "" },
	{ "a lock whose waits took no time", "manual 0",
	  "ran 40, queued 100, lock 1200, lock 1200 own web work", LOCK_WAITS(9, 0) THEN("queued"), "lock", 100, "web", "", "" },
	{ "a storm, on demand", "manual 0",
	  "ran 1, queued 20, peer 900, queued 16 own web, queued 4 other hog, peer 900 own web", WOKEN("'target', 9") AT_ONCE,
	  "storm", 80, "web", "", "" },
	{ "a storm, under pressure", "cpu 60",
	  "ran 1, queued 20, peer 900, queued 16 own web, queued 4 other hog, peer 900 own web", WOKEN("'target', 9") AT_ONCE,
	  "storm", 80, "web", "", "" },
	{ "a storm beside a neighbour that has more", "cpu 60",
	  "ran 1, queued 20, queued 3 own web, queued 17 other hog", WOKEN("'target', 9") AT_ONCE, "neighbour", 85, "hog", "", "" },
	{ "threads that are woken by turns", "manual 0",
	  "ran 1, queued 20, peer 900, queued 16 own web, queued 4 other hog, peer 900 own web", WOKEN("'target', 9") BY_TURNS,
	  "peer", 100, "web", "", "" },
	{ "threads that are woken at once, by timers", "manual 0",
	  "ran 1, queued 20, peer 900, queued 16 own web, queued 4 other hog, peer 900 own web", WOKEN("'interrupt', NULL") AT_ONCE,
	  "peer", 100, "web", "", "" },
	{ "threads that are woken at once, and all have work", "manual 0",
	  "ran 10, queued 20, peer 900, queued 16 own web, queued 4 other hog, peer 900 own web", WOKEN("'target', 9") AT_ONCE,
	  "peer", 100, "web", "", "" },
	{ "times that are damaged", "manual 0",
	  "ran 1, queued 20, peer 900, queued 16 own web, queued 4 other hog, peer 900 own web",
	  WOKEN("'target', 9") "'{' FROM n GROUP BY i; ", "peer", 100, "web", "", "" },
	{ "a pool on CPU", "manual 0",
	  "ran 100, peer 900, peer 900 own web", ANSWERED("running", "NULL"), "pool", 100, "web", "", "" },
	{ "a pool that waits for a lock", "manual 0",
	  "ran 10, peer 900, peer 900 own web", LOCK_WAITS(9, 9) ANSWERED("S", "'0123456789abcdef'"), "pool", 100, "web", "", "" },
	{ "a pool that waits at a futex that is no lock", "manual 0",
	  "ran 10, peer 900, peer 900 own web", ANSWERED("S", "'0123456789abcdef'"), "peer", 100, "web", "", "" },
	{ "a pool that sleeps, and nobody knows how it waits for work", "manual 0",
	  "ran 10, peer 900, peer 900 own web", ANSWERED("S", "NULL"), "peer", 100, "web", "", "" },
	{ "a pool that sleeps, and waits for work elsewhere", "manual 0",
	  "ran 10, peer 900, peer 900 own web", ANSWERED("S", "NULL") GAVE_WORK("'77'"), "pool", 100, "web", "", "" },
	{ "a pool that waits for work at no futex", "manual 0",
	  "ran 10, peer 900, peer 900 own web", ANSWERED("S", "NULL") GAVE_WORK("NULL"), "peer", 100, "web", "", "" },
	{ "without accounts", "cpu 60", "", "", "undetermined", 0, "", "", "accounts" },
	{ "a baseline", "baseline 0", "", "", "undetermined", 0, "", "", "accounts" },
	/* clang-format on */
};

static void add_row(const char *text)
{
	char account[16], role[16] = "", program[64] = "-", where[64] = "";
	int tenths,
		fields = sscanf(text, " %15s %d %15s %63s %63[^,]", account, &tenths, role, program, where);
	bool is_own = !strcmp(role, "own"), has_program = strcmp(program, "-") != 0;
	const char *place = is_own ? "web.service" : "other.service";

	ck_assert_int_ge(fields, 2);
	if (!*role)
		execute_format("INSERT INTO account VALUES(1, 'web in web.service', %Q, 4, %lld)", account,
			       100000000LL * tenths);
	else
		execute_format(
			"INSERT INTO blame VALUES(1, 'web in web.service', %Q, %Q, %Q, %Q, '/' || %Q, NULL, NULL, %lld, "
			"nullif(%Q, ''), NULL)",
			account, role, has_program ? program : NULL, has_program ? place : NULL,
			has_program ? place : NULL, 100000000LL * tenths, where);
}

static void add_case(const struct kind_case *is)
{
	char fired[16], rows[512], *rest;
	int percent;

	ck_assert_int_eq(sscanf(is->fired, "%15s %d", fired, &percent), 2);
	snprintf(rows, sizeof(rows), "%s", is->rows);
	execute_format(
		"INSERT INTO capture(capture_id, run_id, resource, kind, trigger_mode, triggered_at, began_at, ended_at, "
		"history_ns, state, window_us, observed_us, hz) SELECT 1, 1, iif(is_pressure, fired, NULL), 'some', "
		"iif(is_pressure, 'kernel', fired), 10000000000, 0, 20000000000, 10000000000, 'complete', 1000000, %d, 99 "
		"FROM (SELECT %Q AS fired, %Q IN ('cpu', 'memory', 'io', 'irq') AS is_pressure)",
		percent * 10000, fired, fired);
	for (char *row = strtok_r(rows, ",", &rest); row; row = strtok_r(NULL, ",", &rest))
		add_row(row);
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
		if (party->who.program && party->role != ROLE_KERNEL)
			used += (size_t)snprintf(into + used, 256 - used, "%s%s", used ? " " : "",
						 party->who.program);
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
	ck_assert_msg(!strcmp(verdict.limit_name ? verdict.limit_name : "", is->limit), "%s: '%s'", is->of,
		      verdict.limit_name);
	ck_assert_msg(!strcmp(verdict.not_examined, is->not_examined), "%s: '%s'", is->of,
		      verdict.not_examined);
}
END_TEST

/* ---- names ---- */

static const struct kind_case hostile = {
	.of = "a name that reads like a sentence",
	.fired = "cpu 60",
	.rows = "ran 10, queued 90, queued 10 other sshd",
	.more = "INSERT INTO blame VALUES(1, 'web in web.service', 'queued', 'other', 'hog', NULL, "
		"'/deleg/a; the largest is sshd in /x', NULL, 3, 8000000000, NULL, NULL)",
};

static char *words(verdict_say *say, const struct verdict_facts *facts, const struct verdict *verdict,
		   size_t width, char into[VERDICT_TEXT_BYTES])
{
	struct line line = { 0 };

	say(&line, facts, verdict);
	return line_write(&line, width, into, VERDICT_TEXT_BYTES);
}

START_TEST(a_name_names_nobody_else)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };
	char text[VERDICT_TEXT_BYTES];
	struct verdict verdict;

	add_case(&hostile);
	facts = load();
	verdict = verdict_judge(&facts);
	ck_assert_int_eq(verdict.kind, VERDICT_NEIGHBOUR);
	ck_assert_str_eq(verdict.blamed[0].party->who.program, "hog");
	ck_assert_str_eq(
		words(verdict_say_headline, &facts, &verdict, 0, text),
		"neighbour: hog ×3 in \"/deleg/a; the largest is sshd in /x\" took 89 % of the wait for a CPU");
	words(verdict_say_headline, &facts, &verdict, 70, text);
	ck_assert_uint_eq(format_columns(text), 70);
	ck_assert_ptr_nonnull(strstr(text, "…"));
	ck_assert_ptr_nonnull(strstr(text, " took 89 % of the wait for a CPU"));
	ck_assert_str_eq(
		words(verdict_say_culprit, &facts, &verdict, 0, text),
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
	ck_assert_str_eq(facts.victims[0].who.program, "a in b");
	ck_assert_str_eq(facts.victims[0].who.cgroup, "/c in d");
	ck_assert_ptr_null(facts.victims[1].who.program); /* nobody has rows of it */
}
END_TEST

/* ---- parties ---- */

START_TEST(the_recorder_is_one_party)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };

	add_case(&(struct kind_case){
		.fired = "io 60",
		.rows = "ran 9, io 90, queued 1, io 50 other bourdond, io 40 other b, queued 1 recorder bourdond",
		.more = "" });
	facts = load();
	ck_assert_str_eq(facts.parties[0].who.program, "bourdond");
	ck_assert_int_eq(facts.parties[0].role, ROLE_RECORDER);
	ck_assert_int_eq(facts.parties[1].role, ROLE_OTHER);
}
END_TEST

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
	ck_assert_uint_eq(facts.parties[0].ns, 80);
	ck_assert_str_eq(facts.parties[0].where, "g");
	ck_assert_int_eq(facts.parties[0].who.processes, 2);
	ck_assert_uint_eq(facts.parties[1].ns, 60);
	ck_assert_uint_eq(facts.parties[3].wait, ACCOUNT_THROTTLED);
	ck_assert_str_eq(facts.parties[3].who.cgroup, "/w/x");
}
END_TEST

/* As many rows of one party as are read, with the largest numbers. */
START_TEST(sums_of_hostile_numbers_are_numbers)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };

	add_case(&cases[0]);
	execute("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
		"INSERT INTO blame SELECT 1, 'web in web.service', 'memory', 'kernel', 'a', NULL, NULL, NULL, 9223372036854775807, "
		"9223372036854775807, NULL, NULL FROM n");
	facts = load();
	ck_assert_int_eq(facts.parties[0].role, ROLE_KERNEL);
	ck_assert_int_gt(facts.parties[0].who.processes, INT64_MAX / 4);
	ck_assert_uint_gt(facts.parties[0].ns, INT64_MAX / 4);
}
END_TEST

/* Those who are blamed may have used hardly any CPU time. */
START_TEST(a_crowd_has_those_who_are_blamed)
{
	_cleanup_(verdict_facts_free) struct verdict_facts facts = { 0 };
	struct verdict verdict;

	add_case(&(struct kind_case){
		.fired = "cpu 60",
		.rows = "ran 100, queued 100, queued 4 other a, queued 3 other b, queued 5 own web, queued 88 other",
		.more = "" });
	execute("INSERT INTO blame VALUES(1, 'web in web.service', 'queued', 'other', 'c', 'x.service', '/x', NULL, 1, 9, NULL, NULL), "
		"(1, 'web in web.service', 'queued', 'other', 'd', 'x.service', '/x', NULL, 1, 8, NULL, NULL), "
		"(1, 'web in web.service', 'queued', 'other', 'e', NULL, '/y', NULL, 1, 7, NULL, NULL), "
		"(1, 'web in web.service', 'io', 'other', 'f', NULL, '/z', NULL, 1, 6, NULL, NULL)");
	facts = load();
	verdict = verdict_judge(&facts);
	ck_assert_int_eq(verdict.kind, VERDICT_CROWD);
	ck_assert_uint_eq(verdict.programs, 5);
	ck_assert_uint_eq(verdict.units, 3);
	facts.programs = 110;
	facts.units = 14;
	verdict = verdict_judge(&facts);
	ck_assert_uint_eq(verdict.programs, 110);
	ck_assert_uint_eq(verdict.units, 14);
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

static struct verdict_who any_who(const char *program, unsigned int *seed)
{
	return (struct verdict_who){ program, any_name(seed), any_name(seed), rand_r(seed) % 3,
				     rand_r(seed) % 9 };
}

static void make_any(struct any *any, unsigned int *seed)
{
	struct verdict_facts *facts = &any->facts;

	*facts = (struct verdict_facts){
		.fired = (enum verdict_trigger)(rand_r(seed) % (FIRED_PRESSURE + 1)),
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
		any->victims[i] = (struct verdict_victim){
			.text = "web in x",
			.who = any_who(any_name(seed), seed),
			.threads = 1,
			.lock = { any_name(seed), any_ns(seed), any_ns(seed), any_ns(seed) },
			.herd = { any_name(seed), any_who(any_name(seed), seed), any_ns(seed), any_ns(seed),
				  any_ns(seed) },
			.pool = { any_name(seed), any_name(seed), any_ns(seed), any_ns(seed), any_ns(seed),
				  any_ns(seed), any_ns(seed), any_ns(seed), any_ns(seed), any_ns(seed),
				  any_ns(seed) }
		};
		for (size_t j = 0; j < ACCOUNTS; j++)
			any->victims[i].ns[j] = any_ns(seed);
		any->parties[i] = (struct verdict_party){
			.victim = facts->victims_count ? i * facts->victims_count / MANY : 0,
			.wait = (uint8_t)((unsigned int)rand_r(seed) % ACCOUNTS),
			.role = (enum blame_role)(rand_r(seed) % BLAME_ROLES),
			.who = any_who(any_name(seed), seed),
			.ns = any_ns(seed) + 1,
			.then_queued_ns = any_ns(seed),
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
						       .who = any_who("web", seed),
						       .limit_cgroup = any_name(seed),
						       .limit_bytes = rand_r(seed) % 9 - 1 };
		any->grown[i] =
			(struct verdict_growth){ .who = any_who("hog", seed), .grown_bytes = any_ns(seed) };
	}
}

START_TEST(any_facts_have_a_verdict)
{
	static verdict_say *const lines[] = { verdict_say_headline, verdict_say_culprit,
					      verdict_say_certainty, verdict_say_kill };
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
			words(lines[j], &any.facts, &verdict, (size_t)(rand_r(&seed) % 300), text);
			ck_assert_msg(format_columns(text) <= 250 && !strchr(text, '\n'), "seed %u: %s",
				      start, text);
		}
	}
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
	tcase_add_loop_test(rows, kinds_have_an_order, 0, ARRAY_SIZE(cases));
	tcase_add_test(rows, a_name_names_nobody_else);
	tcase_add_test(rows, victims_have_the_names_of_their_rows);
	tcase_add_test(rows, the_recorder_is_one_party);
	tcase_add_test(rows, rows_of_a_party_are_one);
	tcase_add_test(rows, sums_of_hostile_numbers_are_numbers);
	tcase_add_test(rows, a_crowd_has_those_who_are_blamed);
	tcase_add_test(rows, a_capture_that_is_not_there);
	suite_add_tcase(suite, rows);
	tcase_add_test(any, any_facts_have_a_verdict);
	suite_add_tcase(suite, any);
	return suite;
}
