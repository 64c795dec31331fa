/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the databases of several hosts become one without a loss: each capture reads as before, what hosts share is
 * stored once, a second merge changes nothing; and that a hostile source adds nothing and is named.
 */
#include "common/store/schema.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define HOSTS 2

static struct store_fixture hosts[HOSTS];
static char *out_directory;
/* Only its path is used. */
static struct store_fixture out;

static void set_up(void)
{
	out_directory = directory_make();
	out = (struct store_fixture){ .path = path_join(out_directory, "out.db") };
	for (int i = 0; i < HOSTS; i++)
		store_fixture_start(&hosts[i]);
}

static void tear_down(void)
{
	for (int i = 0; i < HOSTS; i++) {
		store_fixture_close(&hosts[i]);
		store_fixture_discard(&hosts[i]);
	}
	directory_remove(out_directory);
	free(out.path);
	free(out_directory);
}

/* `count` captures of 40 stacks in each host; the same ones if the salts are equal. */
static void fill(struct store_fixture *host, uint64_t salt, int count)
{
	struct dice dice = dice_new(salt);

	expect_commit_large(host, &dice, count, 40);
}

/* Rows in the tables that bourdond writes only with more than the fixture has. */
static void fill_other_tables(struct store_fixture *host)
{
	run_sql(host,
		"INSERT INTO thread_state SELECT 1, process_id, 7, 'idle', 'other', 'D', 'read', 5, '00000000000000ab', (SELECT "
		"max(stack_id) FROM sample WHERE capture_id = 1), -1, 2, 3 FROM process LIMIT 1;"
		"INSERT INTO thread_state SELECT 1, process_id, 8, 'idle', 'target', 'S', NULL, NULL, NULL, NULL, 0, 1, 1 FROM "
		"process LIMIT 1;"
		"INSERT INTO thread_look VALUES(1, 0, 10, 40), (1, 1, 9, 36);"
		"INSERT INTO thread(process_id, tid, thread) SELECT process_id, 9, 'waker' FROM process LIMIT 1;"
		/* the waker's thread, and its stack, are in no sample of the capture */
		"INSERT INTO wake_row SELECT 1, t.thread_id, t.stack_id, 'io', '00000000000000ab', 'target', "
		"(SELECT thread_id FROM thread WHERE tid = 9), (SELECT max(stack_id) FROM sample_row), 1, 5, 6 FROM sample_row t "
		"WHERE capture_id = 1 LIMIT 1;"
		"INSERT INTO wake_row SELECT 1, t.thread_id, t.stack_id, 'none', NULL, 'interrupt', NULL, NULL, 0, 7, 8 FROM "
		"sample_row t WHERE capture_id = 1 LIMIT 1;"
		"INSERT INTO usage(capture_id, process_id, role, from_at, to_at, cpu_ns) SELECT 1, process_id, 'target', 5, "
		"6, 7 FROM process LIMIT 1;"
		"INSERT INTO usage(capture_id, role, from_at, to_at, rss_bytes, rss_before_bytes, reclaims, reclaim_ns) VALUES(1, 'rest', 5, 6, 8, 9, 10, 11);"
		"INSERT INTO ended VALUES(1, 'other', 'true', 'bash', 9, '/c', 'c.service', 'id', 0, 1, 2, 3, 4, 5, 6, 13, 14), "
		"(1, 'rest', NULL, NULL, NULL, NULL, NULL, NULL, 1, 7, 8, 9, 10, 11, 12, NULL, NULL);"
		/* nobody has judged by these */
		"UPDATE capture SET verdict_version = 0 WHERE capture_id = 1;"
		"INSERT INTO account VALUES(1, 'a in b', 'queued', 3, 4), (1, 'a in b', 'ran', 3, 5);"
		"INSERT INTO blame VALUES(1, 'a in b', 'queued', 'other', 'c', 'd.service', '/d', 6, 1, 3, NULL, NULL), "
		"(1, 'a in b', 'lock', 'unknown', NULL, NULL, NULL, NULL, NULL, 1, 'where', 'io');"
		"INSERT INTO machine_time VALUES(1, 'idle', 1, 2, 3, 75.0), (1, 'others', 1, 2, 1, 25.0);"
		"INSERT INTO machine_bytes VALUES(1, 'others', 1, 2, 3, 4), (1, 'unaccounted', 1, 2, -3, 0);"
		"INSERT INTO interrupt VALUES(1, 'softirq', 3, 'NET_RX', 1, 2, 3, 4, 5.5), (1, 'irq', NULL, NULL, 1, 2, 6, 7, NULL);"
		"INSERT INTO killed VALUES(1, 1, 'oom', 'other', 'a', 2, '/c', 'c.service', 'id', 3, 'b', 4, '/d', 'd.service', '/e', 5, 1), "
		"(1, 6, 'signal', 'rest', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7);"
		"INSERT INTO cgroup_memory VALUES(1, '/c', 'c.service', 'id', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), "
		"(1, '/', NULL, NULL, 1, 2, NULL, NULL, NULL, 3, NULL, 4, NULL, NULL, NULL, NULL, NULL);"
		"INSERT INTO pressure VALUES(1, 9, 'system', 'cpu', 10, NULL), (1, 10, 'targets', 'cpu', 11, 12);"
		"INSERT INTO statistic VALUES(1, 1, 2, 'system', 'vmstat', NULL, 'pgscan', 3, 4);"
		/* the ids of labels are others in each database */
		"INSERT INTO histogram_label SELECT 10 + abs(random() % 1000), 'runqueue', 'web.service';"
		"INSERT INTO histogram_label VALUES(5, 'block', 'vda write mysql.service');"
		"INSERT INTO histogram_row SELECT 1, label_id, 'during', 100, 4, 5000 FROM histogram_label;"
		"INSERT INTO histogram_row SELECT 1, label_id, 'before', 101, 6, 7000 FROM histogram_label;"
		"INSERT INTO latency_measured VALUES(1, 'runqueue', 'during', 1, 2, 3, 4, 0, 6, 7), (1, 'runqueue', 'before', 1, 2, 3, 6, 0, "
		"0, 0), (1, 'block', 'during', 1, 2, 3, 4, 0, 6, 7), (1, 'block', 'before', 1, 2, 3, 6, 0, 0, 0);"
		/* the process is in no sample, and the stack in none of the capture */
		"INSERT INTO process(run_id, tgid, started_ns, comm) SELECT min(run_id), 77, 1, 'grows' FROM run;"
		"INSERT INTO growth_row SELECT 1, (SELECT max(process_id) FROM process), (SELECT max(stack_id) FROM sample_row), 3, 4096");
}

/* A minute at this time, which differs from others in nothing else. */
static void fill_activity(struct store_fixture *host, int at)
{
	char sql[600];

	snprintf(
		sql, sizeof(sql),
		"INSERT OR IGNORE INTO activity_key VALUES(1, 'D', 'web', 0, 'read', 'f', 33, '/c', 'c.service', 'id', -77), "
		"(2, 'I', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 78);"
		"INSERT INTO activity_minute(run_id, at, interval_ns, steps, looks, missed, threads, bytes) VALUES(1, %d, 10, 3, "
		"2, '[[1,1]]', 9, 100);"
		"INSERT INTO activity SELECT max(minute_id), 1, 7, 2, 5, '[[0,5],[2,2]]' FROM activity_minute;"
		"INSERT INTO activity SELECT max(minute_id), 2, 2, 1, 1, NULL FROM activity_minute",
		at);
	run_sql(host, sql);
}

static const char activity_sql[] =
	"SELECT r.database_id, m.at, m.interval_ns, m.steps, m.looks, m.missed, m.threads, m.bytes, k.state, k.comm, k.kernel, "
	"k.syscall, k.function, k.uid, k.cgroup, k.unit, k.container, k.hash, a.threads, a.least, a.most, a.times FROM "
	"activity_minute m JOIN run r USING(run_id) JOIN activity a USING(minute_id) JOIN activity_key k USING(key_id) "
	"ORDER BY 1, 2, 9";
#define ACTIVITY_ROWS(database, at)                                                                          \
	database                                                                                             \
		"|" at                                                                                       \
		"|10|3|2|[[1,1]]|9|100|D|web|0|read|f|33|/c|c.service|id|-77|7|2|5|[[0,5],[2,2]]\n" database \
		"|" at "|10|3|2|[[1,1]]|9|100|I|NULL|0|NULL|NULL|NULL|NULL|NULL|NULL|78|2|1|1|NULL\n"

/* All rows of all tables. */
static char *dump(const struct store_fixture *of)
{
	_cleanup_free_ char *tables =
		rows(of, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	for (char *table = strtok(tables, "\n"); table; table = strtok(NULL, "\n")) {
		char sql[128];
		_cleanup_free_ char *content = NULL;

		snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
		content = rows(of, sql);
		fprintf(stream, "%s\n%s", table, content);
	}
	fclose(stream);
	return text;
}

/* What a reader sees of a capture, without ids that differ between databases. */
static char *capture_text(const struct store_fixture *of, int64_t capture_id)
{
	static const char *const queries[] = {
		"SELECT c.rule, c.resource, c.kind, c.stall_us, c.window_us, c.trigger_mode, c.cgroup, c.triggered_at, "
		"c.began_at, c.ended_at, c.history_ns, c.state, c.observed_us, c.hz, c.offcpu_history_ns, "
		"c.expected_samples, c.received_samples, c.process_count, c.stack_count, c.sample_count, c.interval_count, c.verdict, c.verdict_version, c.not_examined, r.started_at, r.kernel, r.hostname, r.cpus, "
		"r.policy, r.attachments, r.ring_bytes, u.rule, u.source, u.comm, u.cgroup, u.triggers, d.id, d.machine "
		"FROM capture c JOIN run r USING(run_id) JOIN rule u USING(rule_id) JOIN database d USING(database_id) "
		"WHERE capture_id = (SELECT id FROM wanted)",
		"SELECT p.tgid, p.comm, p.exe, p.uid, p.cgroup, p.unit, s.tid, s.thread, s.kind, s.stall, s.second, s.samples, "
		"s.weight_ns, s.times, hex(k.hash), k.depth, k.unwinder, k.ended, (SELECT group_concat(function || "
		"'@' || path) FROM stack_frame JOIN frame USING(frame_id) JOIN module USING(module_id) WHERE stack_id = "
		"s.stack_id) FROM sample s JOIN process p USING(process_id) JOIN stack k USING(stack_id) WHERE "
		"s.capture_id = (SELECT id FROM wanted) ORDER BY 1, 7, 15, 11, 9",
		"SELECT p.tgid, t.tid, t.thread, t.role, t.state, t.syscall, t.fd, t.lock, t.second, t.seconds, t.samples, hex(k.hash) FROM thread_state t JOIN "
		"process p USING(process_id) LEFT JOIN stack k USING(stack_id) WHERE capture_id = (SELECT id FROM wanted) ORDER BY t.rowid",
		"SELECT second, looks, threads FROM thread_look WHERE capture_id = (SELECT id FROM wanted) ORDER BY second",
		"SELECT p.tgid, w.tid, w.thread, hex(k.hash), w.stall, w.lock, w.waker_role, w.waker_tgid, w.waker_tid, "
		"w.waker_comm, hex(o.hash), w.releases, w.intervals, w.waited_ns FROM waker w JOIN process p USING(process_id) "
		"JOIN stack k ON k.stack_id = w.stack_id LEFT JOIN stack o ON o.stack_id = w.waker_stack_id WHERE "
		"w.capture_id = (SELECT id FROM wanted) ORDER BY w.waited_ns",
		"SELECT p.tgid, u.role, u.from_at, u.to_at, u.cpu_ns, u.rss_bytes, u.rss_before_bytes, u.reclaims, u.reclaim_ns FROM usage u LEFT JOIN process p "
		"USING(process_id) WHERE capture_id = (SELECT id FROM wanted) ORDER BY u.rowid",
		"SELECT role, comm, parent, parent_tgid, cgroup, unit, container, denied, processes, cpu_ns, run_delay_ns, "
		"major_faults, read_bytes, write_bytes, reclaims, reclaim_ns FROM ended WHERE capture_id = (SELECT id FROM wanted) ORDER BY rowid",
		"SELECT victim, account, threads, ns FROM account WHERE capture_id = (SELECT id FROM wanted) ORDER BY account",
		"SELECT victim, wait, role, program, unit, cgroup, tgid, processes, ns, where_text, then_account FROM blame WHERE "
		"capture_id = (SELECT id FROM wanted) ORDER BY rowid",
		"SELECT part, from_at, to_at, ns, percent FROM machine_time WHERE capture_id = (SELECT id FROM wanted) ORDER BY part",
		"SELECT part, from_at, to_at, read_bytes, write_bytes FROM machine_bytes WHERE capture_id = (SELECT id FROM wanted) ORDER BY part",
		"SELECT kind, number, name, from_at, to_at, count, ns, percent FROM interrupt WHERE capture_id = (SELECT id FROM wanted) "
		"ORDER BY rowid",
		"SELECT at, how, role, comm, tgid, cgroup, unit, container, rss_bytes, by_comm, by_tgid, by_cgroup, by_unit, limit_cgroup, "
		"limit_bytes, processes FROM killed WHERE capture_id = (SELECT id FROM wanted) ORDER BY rowid",
		"SELECT cgroup, unit, container, from_at, to_at, current_before_bytes, current_bytes, anon_before_bytes, anon_bytes, "
		"file_before_bytes, file_bytes, refaulted_bytes, scanned_bytes, reclaimed_bytes, device_read_bytes, device_written_bytes FROM cgroup_memory WHERE "
		"capture_id = (SELECT id FROM wanted) ORDER BY cgroup",
		"SELECT at, scope, resource, some_us, full_us FROM pressure WHERE capture_id = (SELECT id FROM wanted) ORDER BY rowid",
		"SELECT from_at, to_at, scope, source, device, name, before, after FROM statistic WHERE capture_id = (SELECT id FROM wanted) "
		"ORDER BY rowid",
		"SELECT metric, label, span, lower_ns, upper_ns, count, sum_ns FROM histogram WHERE capture_id = (SELECT id FROM wanted) "
		"ORDER BY metric, label, span, lower_ns",
		"SELECT metric, span, from_at, to_at, wanted_ns, events, lost, unpaired, absurd FROM latency_measured WHERE capture_id = "
		"(SELECT id FROM wanted) ORDER BY metric, span",
		"SELECT p.tgid, p.comm, s.hash, g.samples, g.bytes FROM growth_stack g JOIN process p USING(process_id) JOIN stack s "
		"USING(stack_id) WHERE g.capture_id = (SELECT id FROM wanted) ORDER BY 1, 3",
		"SELECT reason, events, unit FROM loss WHERE capture_id = (SELECT id FROM wanted) ORDER BY reason",
	};
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		char sql[1200];
		_cleanup_free_ char *content = NULL;

		snprintf(sql, sizeof(sql), "WITH wanted(id) AS (SELECT %" PRId64 ") %s", capture_id,
			 queries[i]);
		content = rows(of, sql);
		fprintf(stream, "%s--\n", content);
	}
	fclose(stream);
	return text;
}

static void expect_equal_captures(const struct store_fixture *one, int64_t one_id,
				  const struct store_fixture *other, int64_t other_id)
{
	_cleanup_free_ char *left = capture_text(one, one_id), *right = capture_text(other, other_id);

	ck_assert_msg(strlen(left) > 200, "no capture %" PRId64, one_id);
	ck_assert_msg(!strcmp(left, right), "capture %" PRId64 "\n%s\nis not capture %" PRId64 "\n%s", one_id,
		      left, other_id, right);
}

static void expect_unchanged(const struct store_fixture *of, const char *before)
{
	_cleanup_free_ char *after = dump(of);

	ck_assert_msg(!strcmp(before, after), "it changed:\n%s\nwas\n%s", after, before);
}

static void expect_sound_output(void)
{
	expect_sound(&out);
	expect_command("ok: ", "--db %s db check", out.path);
}

static void merge_both(void)
{
	expect_command("added", "db merge %s %s %s", out.path, hosts[0].path, hosts[1].path);
}

START_TEST(captures_read_as_before)
{
	fill(&hosts[0], 1, 3);
	fill(&hosts[1], 2, 2);
	fill_other_tables(&hosts[0]);
	fill_other_tables(&hosts[1]);
	merge_both();
	expect_rows(&out, "SELECT metric, label FROM histogram_label ORDER BY metric",
		    "block|vda write mysql.service\nrunqueue|web.service\n");
	for (int i = 1; i <= 3; i++)
		expect_equal_captures(&hosts[0], i, &out, i);
	for (int i = 1; i <= 2; i++)
		expect_equal_captures(&hosts[1], i, &out, 3 + i);
	expect_sound_output();
}
END_TEST

START_TEST(activity_reads_as_before_and_hosts_share_its_keys)
{
	_cleanup_free_ char *before = NULL;

	fill_activity(&hosts[0], 60);
	fill_activity(&hosts[0], 120);
	fill_activity(&hosts[1], 60);
	merge_both();
	expect_rows(&out, activity_sql,
		    ACTIVITY_ROWS("1", "60") ACTIVITY_ROWS("1", "120") ACTIVITY_ROWS("2", "60"));
	expect_count(&out, "activity_key", 2);
	before = dump(&out);
	merge_both();
	expect_unchanged(&out, before);
	/* what has come since */
	fill_activity(&hosts[1], 120);
	merge_both();
	expect_rows(&out, activity_sql,
		    ACTIVITY_ROWS("1", "60") ACTIVITY_ROWS("1", "120") ACTIVITY_ROWS("2", "60")
			    ACTIVITY_ROWS("2", "120"));
	expect_sound_output();
}
END_TEST

START_TEST(hostile_activity_adds_nothing)
{
	static const char *const changes[] = {
		"UPDATE activity SET times = '[[0,5],[0,2]]'",
		"UPDATE activity SET times = '[[3,5]]'",
		"UPDATE activity SET times = '[]'",
		"UPDATE activity_minute SET missed = '[[1,-1]]'",
		"UPDATE activity_minute SET missed = '[1]'",
	};

	fill_activity(&hosts[0], 60);
	run_sql(&hosts[0], changes[_i]);
	expect_command_fails("it has a value that bourdond does not write", "db merge %s %s", out.path,
			     hosts[0].path);
	ck_assert(access(out.path, F_OK));
}
END_TEST

START_TEST(ids_in_use_become_the_next)
{
	fill(&hosts[0], 1, 2);
	fill(&hosts[1], 2, 2);
	merge_both();
	expect_rows(&out, "SELECT capture_id, recorded_as FROM capture ORDER BY 1",
		    "1|NULL\n2|NULL\n3|1\n4|2\n");
	expect_rows(&out, "SELECT run_id, recorded_as, database_id FROM run", "1|NULL|1\n2|1|2\n");
	expect_rows(&out, "SELECT rule_id, recorded_as, run_id FROM rule", "1|NULL|1\n2|1|2\n");
}
END_TEST

START_TEST(ids_are_kept_where_they_are_free)
{
	fill(&hosts[0], 1, 3);
	run_sql(&hosts[0],
		"DELETE FROM sample_row WHERE capture_id = 2; DELETE FROM loss WHERE capture_id = 2; DELETE "
		"FROM pressure WHERE capture_id = 2; DELETE FROM capture WHERE capture_id = 2");
	expect_command("2 captures added", "db merge %s %s", out.path, hosts[0].path);
	expect_rows(&out, "SELECT capture_id, recorded_as FROM capture", "1|NULL\n3|NULL\n");
}
END_TEST

START_TEST(what_hosts_share_is_stored_once)
{
	static const char *const tables[] = { "module",      "frame",        "stack_node",
					      "stack_class", "sample_class", "cgroup" };

	fill(&hosts[0], 1, 2);
	fill(&hosts[1], 1, 2);
	merge_both();
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		char sql[64];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", tables[i]);
		expect_count(&out, tables[i], number(&hosts[0], sql));
	}
	expect_count(&out, "capture", 4);
	expect_sound_output();
}
END_TEST

START_TEST(a_second_merge_changes_nothing)
{
	_cleanup_free_ char *before = NULL;

	fill(&hosts[0], 1, 2);
	fill(&hosts[1], 2, 2);
	fill_other_tables(&hosts[1]);
	ck_assert_int_eq(
		store_add_counters(hosts[0].store, (const char *const[]){ "samples" }, (uint64_t[]){ 7 }, 1),
		0);
	merge_both();
	expect_count(&out, "counter", 1);
	before = dump(&out);
	expect_command("0 captures added, 2 known before", "db merge %s %s %s", out.path, hosts[1].path,
		       hosts[0].path);
	expect_unchanged(&out, before);
}
END_TEST

START_TEST(merged_databases_are_merged)
{
	_cleanup_free_ char *other = path_join(out_directory, "other.db"), *before = NULL;
	struct store_fixture whole = { .path = path_join(out_directory, "whole.db") };

	fill(&hosts[0], 1, 2);
	fill(&hosts[1], 2, 2);
	expect_command("2 captures added", "db merge %s %s", other, hosts[1].path);
	merge_both();
	/* host 1 twice: as itself, and in the merged one */
	expect_command("2 captures added, 2 known before", "db merge %s %s %s", whole.path, other, out.path);
	expect_equal_captures(&hosts[1], 1, &whole, 1);
	expect_equal_captures(&hosts[0], 1, &whole, 3);
	expect_rows(&whole, "SELECT capture_id, recorded_as FROM capture", "1|NULL\n2|NULL\n3|1\n4|2\n");
	before = dump(&whole);
	expect_command("0 captures added, 2 known", "db merge %s %s %s", whole.path, hosts[0].path,
		       hosts[1].path);
	expect_unchanged(&whole, before);
	expect_command("ok: ", "--db %s db check", whole.path);
	free(whole.path);
}
END_TEST

START_TEST(a_source_that_grew_adds_the_new_captures)
{
	fill(&hosts[0], 1, 1);
	expect_command("1 capture added", "db merge %s %s", out.path, hosts[0].path);
	expect_rows(&out, "SELECT ended_at IS NULL FROM run", "1\n");
	{
		_cleanup_capture_ struct capture *capture = capture_of_stack(3, 4, 9);

		capture->trigger.triggered_at += 100 * (int64_t)SECOND;
		expect_commit(&hosts[0], capture);
	}
	ck_assert_int_eq(store_end_run(hosts[0].store), 0);
	expect_command("1 capture added, 1 known before", "db merge %s %s", out.path, hosts[0].path);
	expect_equal_captures(&hosts[0], 2, &out, 2);
	expect_rows(&out, "SELECT ended_at IS NULL FROM run", "0\n");
	expect_sound_output();
}
END_TEST

START_TEST(names_that_were_found_later_apply)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 5);

	expect_commit_unnamed(&hosts[0], capture);
	expect_command("1 capture added", "db merge %s %s", out.path, hosts[0].path);
	expect_count(&out, "frame WHERE function_offset IS NULL", 2);
	run_sql(&hosts[0],
		"UPDATE frame_row SET function = 'found_' || offset, function_offset = 3, file = 'a.c', line = 4 "
		"WHERE function_offset IS NULL");
	expect_command("0 captures added, 1 known", "db merge %s %s", out.path, hosts[0].path);
	expect_rows(
		&out,
		"SELECT function, function_offset, file, line FROM frame WHERE function LIKE 'found%' ORDER BY offset",
		"found_5|3|a.c|4\nfound_6|3|a.c|4\n");
	/* and one that lost them takes none away */
	run_sql(&hosts[0], "UPDATE frame_row SET function = 'app+0x1', function_offset = NULL");
	expect_command("0 captures added", "db merge %s %s", out.path, hosts[0].path);
	expect_count(&out, "frame WHERE function_offset IS NULL", 0);
}
END_TEST

/* As 'bourdon symbolize' leaves a source: the function has a name, and one is inlined in it. */
START_TEST(inlined_functions_that_were_found_later_go_into_known_stacks)
{
	static const char stack[] =
		"SELECT depth, (SELECT group_concat(function) FROM stack_frame JOIN frame USING(frame_id) WHERE stack_id = "
		"s.stack_id) FROM stack s ORDER BY 1";
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 5),
					 *other = capture_of_stack(0, 1, 6);

	expect_commit_unnamed(&hosts[0], capture);
	other->trigger.triggered_at++;
	expect_commit_unnamed(&hosts[0], other);
	expect_command("2 captures added", "db merge %s %s", out.path, hosts[0].path);
	expect_rows(&out, stack, "1|app+0x6\n3|app+0x6,app+0x5,kernel_5\n");
	/* the outer function: both stacks begin with it */
	run_sql(&hosts[0],
		"UPDATE frame_row SET function = 'outer', function_offset = 3 WHERE function = 'app+0x6';"
		"INSERT INTO frame_row(module_id, offset, function, function_offset, inlined) SELECT module_id, offset, 'inner', 3, "
		"1 FROM frame WHERE function = 'outer';"
		"UPDATE stack_node SET frames = replace(frames, (SELECT frame_id FROM frame WHERE function = 'outer'), (SELECT "
		"frame_id FROM frame WHERE function = 'outer') || ',' || (SELECT frame_id FROM frame WHERE function = 'inner')); "
		"UPDATE stack_node SET depth = depth + 1");
	expect_rows(&hosts[0], stack, "2|outer,inner\n4|outer,inner,app+0x5,kernel_5\n");
	{
		_cleanup_capture_ struct capture *newer = capture_of_stack(0, 1, 6);

		newer->trigger.triggered_at += 2;
		expect_commit(&hosts[0], newer);
	}
	expect_command("1 capture added, 2 known before", "db merge %s %s", out.path, hosts[0].path);
	expect_rows(&out, stack, "1|outer\n2|outer,inner\n4|outer,inner,app+0x5,kernel_5\n");
	expect_rows(&out, "SELECT capture_id, depth FROM sample JOIN stack USING(stack_id) ORDER BY 1",
		    "1|4\n2|2\n3|1\n");
	expect_sound_output();
	expect_command("0 captures added, 3 known before", "db merge %s %s", out.path, hosts[0].path);
	expect_rows(&out, stack, "1|outer\n2|outer,inner\n4|outer,inner,app+0x5,kernel_5\n");
}
END_TEST

START_TEST(a_capture_that_is_recorded_is_left_out)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 5);

	ck_assert_int_eq(store_begin_capture(hosts[0].store, &capture->trigger, SECOND, &capture->capture_id),
			 0);
	expect_command("0 captures added, 1 left out, still recording", "db merge %s %s", out.path,
		       hosts[0].path);
	expect_count(&out, "capture", 0);
	expect_commit(&hosts[0], capture);
	expect_command("1 capture added", "db merge %s %s", out.path, hosts[0].path);
	expect_equal_captures(&hosts[0], 1, &out, 1);
}
END_TEST

START_TEST(a_run_of_an_unknown_database_is_merged_once)
{
	_cleanup_free_ char *before = NULL;

	fill(&hosts[0], 1, 1);
	run_sql(&hosts[0], "UPDATE run SET database_id = NULL; DELETE FROM database");
	expect_command("1 capture added", "db merge %s %s", out.path, hosts[0].path);
	before = dump(&out);
	expect_command("0 captures added, 1 known", "db merge %s %s", out.path, hosts[0].path);
	expect_unchanged(&out, before);
}
END_TEST

/* A process that is killed leaves the output as it was before the file at hand, or with that file. */
START_TEST(a_killed_merge_leaves_whole_files)
{
	_cleanup_free_ char *before = NULL;

	fill(&hosts[0], 1, 1);
	fill(&hosts[1], 2, 4);
	expect_command("1 capture added", "db merge %s %s", out.path, hosts[0].path);
	before = dump(&out);
	for (int i = 0; i < 20; i++) {
		_cleanup_free_ char *after = NULL;
		pid_t child = fork();

		if (!child) {
			_cleanup_command_ran_ struct command_ran ran =
				command_run_words("db merge %s %s", out.path, hosts[1].path);

			_exit(ran.status);
		}
		usleep((useconds_t)i * 2000);
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		after = dump(&out);
		ck_assert_msg(!strcmp(before, after) || number(&out, "SELECT count(*) FROM capture") == 5,
			      "round %d", i);
		expect_sound(&out);
	}
	expect_command("known before", "db merge %s %s %s", out.path, hosts[0].path, hosts[1].path);
	expect_count(&out, "capture", 5);
	expect_sound_output();
}
END_TEST

/* Each makes a source hostile, and the message says where. */
static const struct {
	const char *sql, *message;
} hostile[] = {
	{ "UPDATE stack_node SET parent_id = node_id WHERE node_id = (SELECT max(stack_id) FROM sample_row)",
	  "or its nodes form a circle" },
	{ "UPDATE stack_node SET parent_id = 424242 WHERE node_id = (SELECT max(stack_id) FROM sample_row)",
	  "a node of it does not exist" },
	{ "UPDATE stack_node SET frames = '[1,424242]' WHERE node_id = (SELECT max(stack_id) FROM sample_row)",
	  "there is no frame 424242" },
	{ "UPDATE stack_node SET frames = '[1, 2]' WHERE node_id = (SELECT max(stack_id) FROM sample_row)",
	  "the frames of a node are not an array of numbers" },
	{ "UPDATE stack_node SET frames = '[1' || replace(hex(zeroblob(100000)), '00', ',1') || ']' WHERE node_id = (SELECT "
	  "max(stack_id) FROM sample_row)",
	  "it has too many frames" },
	{ "UPDATE stack_node SET class = NULL", "no stack ends at this node" },
	{ "UPDATE sample_row SET thread_id = 424242 WHERE second = 0", "sample_row" },
	{ "UPDATE sample_row SET times = '1,2],[1,2],[1,2],[1,2'", "a value that bourdond does not write" },
	{ "UPDATE sample_row SET times = '1,2,3'", "a value that bourdond does not write" },
	{ "UPDATE frame_row SET module_id = 424242 WHERE frame_id = 1",
	  "frame_row 1: NOT NULL constraint failed" },
	{ "UPDATE thread SET process_id = 424242 WHERE thread_id = 1",
	  "thread 1: NOT NULL constraint failed" },
	{ "UPDATE capture SET rule_id = 424242", "capture 1 of capture 1: cannot store TEXT" },
	{ "UPDATE capture SET run_id = 424242", "capture 1 of capture 1: NOT NULL" },
	{ "UPDATE run SET database_id = 424242",
	  "run 1: cannot store TEXT value in INTEGER column run.database_id" },
	{ "UPDATE database SET id = 'me'", "database 1: NOT NULL constraint failed: database.id" },
	{ "DROP TABLE usage", "no such table: given.usage" },
	{ "DROP TABLE loss; CREATE VIEW loss AS SELECT capture_id, 'x' AS reason, 1 AS events, 'cpu' AS unit FROM capture",
	  "access to view \"loss\" prohibited" },
	{ "DROP TABLE pressure; CREATE TABLE pressure(capture_id, at, scope, resource, some_us, full_us);"
	  "INSERT INTO pressure VALUES(1, 'late', 'system', 'cpu', 1, 1)",
	  "pressure 1 of capture 1: cannot store TEXT value in INTEGER column pressure.at" },
	{ "DROP TABLE process; CREATE TABLE process(process_id INTEGER PRIMARY KEY, run_id, tgid, started_ns, comm, exe, "
	  "uid, cgroup, unit, container, runtime, runtime_evidence); "
	  "INSERT INTO process VALUES(1, 1, 'x', 1, 'a', 'b', 1, 'c', NULL, NULL, NULL, NULL)",
	  "process 1: cannot store TEXT value in INTEGER column process.tgid" },
};

START_TEST(a_hostile_source_adds_nothing)
{
	_cleanup_free_ char *before = NULL;
	char sql[600];

	fill(&hosts[0], 1, 2);
	fill(&hosts[1], 2, 2);
	expect_command("2 captures added", "db merge %s %s", out.path, hosts[1].path);
	before = dump(&out);
	snprintf(sql, sizeof(sql), "PRAGMA ignore_check_constraints = ON; %s", hostile[_i].sql);
	run_sql(&hosts[0], sql);
	expect_command_fails(hostile[_i].message, "db merge %s %s", out.path, hosts[0].path);
	expect_command_fails(hosts[0].path, "db merge %s %s", out.path, hosts[0].path);
	expect_unchanged(&out, before);
	expect_sound_output();
}
END_TEST

START_TEST(a_deep_tree_is_refused)
{
	fill(&hosts[0], 1, 1);
	run_sql(&hosts[0],
		"WITH RECURSIVE n(i) AS (SELECT 1000000 UNION ALL SELECT i + 1 FROM n WHERE i < 1011000) INSERT INTO "
		"stack_node SELECT i, nullif(i - 1, 999999), '[1]', 1, i - 999999, x'00' FROM n;"
		"UPDATE sample_row SET stack_id = 1011000 WHERE stack_id = (SELECT max(stack_id) "
		"FROM sample_row)");
	expect_command_fails("stack 1011000: its nodes form a circle, or are too many", "db merge %s %s",
			     out.path, hosts[0].path);
	ck_assert_int_eq(access(out.path, F_OK), -1);
}
END_TEST

START_TEST(names_take_their_form)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 1, 5);

	expect_commit(&hosts[0], capture);
	run_sql(&hosts[0], "UPDATE frame_row SET function = 'a' || char(27) || '[31m' WHERE frame_id = 1;"
			   "UPDATE process SET comm = CAST(x'ff41' AS TEXT);"
			   "UPDATE thread SET thread = 'plain\\x1b'");
	expect_command("1 capture added", "db merge %s %s", out.path, hosts[0].path);
	expect_rows(&out, "SELECT function FROM frame WHERE frame_id = 1", "a\\x1b[31m\n");
	expect_rows(&out, "SELECT comm FROM process", "\\xffA\n");
	expect_rows(&out, "SELECT thread FROM thread", "plain\\x1b\n");
}
END_TEST

START_TEST(other_files_are_merged_beside_one_that_cannot)
{
	_cleanup_free_ char *text = path_join(out_directory, "notes.txt");

	fill(&hosts[0], 1, 1);
	fill(&hosts[1], 2, 1);
	run_sql(&hosts[0], "UPDATE stack_node SET class = NULL");
	file_put(text, "no database", 11);
	expect_command_fails("2 of 3 files were not merged", "db merge %s %s %s %s", out.path, text,
			     hosts[0].path, hosts[1].path);
	expect_equal_captures(&hosts[1], 1, &out, 1);
	expect_count(&out, "capture", 1);
	expect_count(&out, "run", 1);
	expect_sound_output();
}
END_TEST

START_TEST(other_schema_versions_are_refused)
{
	fill(&hosts[0], 1, 1);
	run_sql(&hosts[0], "PRAGMA user_version = 5");
	expect_command_fails("has schema version 5", "db merge %s %s", out.path, hosts[0].path);
	run_sql(&hosts[0], "PRAGMA user_version = 1000");
	expect_command_fails("has schema version 1000", "db merge %s %s", out.path, hosts[0].path);
	ck_assert_int_eq(access(out.path, F_OK), -1);
}
END_TEST

START_TEST(a_database_is_not_merged_into_itself)
{
	fill(&hosts[0], 1, 1);
	store_fixture_close(&hosts[0]);
	expect_command_fails("do not name it twice", "db merge %s %s", hosts[0].path, hosts[0].path);
}
END_TEST

START_TEST(the_database_of_a_daemon_is_refused)
{
	fill(&hosts[0], 1, 1);
	fill(&hosts[1], 2, 1);
	expect_command_fails("a running bourdond writes to", "db merge %s %s", hosts[0].path, hosts[1].path);
	store_fixture_close(&hosts[0]);
	expect_command("1 capture added", "db merge %s %s", hosts[0].path, hosts[1].path);
	expect_count(&hosts[0], "capture", 2);
	/* the daemon goes on with it */
	store_fixture_open(&hosts[0], 64 * MIB);
	begin_run(&hosts[0]);
	fill(&hosts[0], 3, 1);
	expect_count(&hosts[0], "capture", 3);
	expect_sound(&hosts[0]);
}
END_TEST

SUITE(db_merge)
{
	Suite *suite = suite_create("db_merge");
	TCase *tests = tcase_create("merge");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, captures_read_as_before);
	tcase_add_test(tests, ids_in_use_become_the_next);
	tcase_add_test(tests, ids_are_kept_where_they_are_free);
	tcase_add_test(tests, what_hosts_share_is_stored_once);
	tcase_add_test(tests, activity_reads_as_before_and_hosts_share_its_keys);
	tcase_add_loop_test(tests, hostile_activity_adds_nothing, 0, 5);
	tcase_add_test(tests, a_second_merge_changes_nothing);
	tcase_add_test(tests, merged_databases_are_merged);
	tcase_add_test(tests, a_source_that_grew_adds_the_new_captures);
	tcase_add_test(tests, names_that_were_found_later_apply);
	tcase_add_test(tests, inlined_functions_that_were_found_later_go_into_known_stacks);
	tcase_add_test(tests, a_capture_that_is_recorded_is_left_out);
	tcase_add_loop_test(tests, a_hostile_source_adds_nothing, 0, (int)ARRAY_SIZE(hostile));
	tcase_add_test(tests, a_run_of_an_unknown_database_is_merged_once);
	tcase_add_test(tests, a_killed_merge_leaves_whole_files);
	tcase_add_test(tests, a_deep_tree_is_refused);
	tcase_add_test(tests, names_take_their_form);
	tcase_add_test(tests, other_files_are_merged_beside_one_that_cannot);
	tcase_add_test(tests, other_schema_versions_are_refused);
	tcase_add_test(tests, a_database_is_not_merged_into_itself);
	tcase_add_test(tests, the_database_of_a_daemon_is_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
