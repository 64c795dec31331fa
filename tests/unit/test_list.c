/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which captures `list` chooses by its options, that nobody who asks for "the newest capture" gets a baseline, what
 * `show` prints of one capture, and the two orders of `top`.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <sqlite3.h>
#include <string.h>

static char *directory, *path;

/* Captures 1 and 2 are of one incident, 3 is on demand, 4 and 5 are baselines, the newest. Each hour there is one. */
static const char rows_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) VALUES(1, 1, '1', 1, '6', 'ho' || char(27), "
	"4, 47);"
	"INSERT INTO rule(rule_id, run_id, rule, source, comm, watch, pattern_id, history_ns, capture_ns, cooldown_ns) VALUES(1, 1, "
	"'web', 'web.conf:1', 'nginx', 'cgroup', 1, 10000000000, 5000000000, 60000000000);"
	"INSERT INTO incident(incident_id, run_id, number, captures, began_at, resource) VALUES(1, 1, 1, 2, 1, 'cpu');"
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, unit) VALUES(1, 1, 70, 1, 'nginx', 'nginx.service'), "
	"(2, 1, 71, 1, 'db', 'db.service');"
	"INSERT INTO thread VALUES(1, 1, 70, 'nginx'), (2, 2, 71, 'db');"
	"INSERT INTO module(module_id, path, version, kind) VALUES(1, '/usr/bin/web', '', 'file');"
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset) VALUES(1, 1, 1, 'main', 0), (2, 1, 2, "
	"'recurse', 0), (3, 1, 3, 'leaf', 0);"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root');"
	"INSERT INTO stack_node VALUES(1, NULL, '[1,2,2,3]', 1, 4, NULL), (2, NULL, '[1,2,2]', 1, 3, NULL);"
	"INSERT INTO sample_class(class, kind, stall, role) VALUES(1, 'on-cpu', 'none', 'target');"
	"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, observed_us, trigger_mode, "
	"incident_id, triggered_at, began_at, ended_at, history_ns, state, hz, note) VALUES"
	"(1, 1, 1, 'web', 'cpu', 'some', 1, 2000000, 2, 'kernel', 1, %1$lld - 5 * 3600000000000, 0, %1$lld - 5 * 3600000000000 + 5000000000, "
	"10000000000, 'complete', 47, NULL),"
	"(2, 1, NULL, 'worker-io', 'io', 'full', 1, 2000000, 2, 'sampled', 1, %1$lld - 4 * 3600000000000, 0, %1$lld, 0, 'complete', 47, NULL),"
	"(3, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'manual', NULL, %1$lld - 3 * 3600000000000, 0, %1$lld, 0, 'complete', 47, "
	"'no' || char(27) || 'te'),"
	"(4, 1, 1, 'web', NULL, NULL, NULL, NULL, NULL, 'baseline', NULL, %1$lld - 2 * 3600000000000, 0, %1$lld, 10000000000, 'complete', 47, NULL),"
	"(5, 1, NULL, 'worker-io', NULL, NULL, NULL, NULL, NULL, 'baseline', NULL, %1$lld - 3600000000000, 0, %1$lld, 0, 'complete', 47, NULL);"
	"INSERT INTO sample_row VALUES(3, 1, 1, 1, 0, 30, NULL, '1,0'), (3, 2, 1, 1, 1, 70, NULL, NULL), (4, 1, 1, 1, -2, 5, NULL, NULL), "
	"(5, 1, 2, 1, -2, 5, NULL, NULL);"
	"INSERT INTO usage(capture_id, process_id, role, from_at, to_at) VALUES(1, 1, 'target', 0, 1), (1, 2, 'other', 0, 1);"
	"INSERT INTO ended(capture_id, role, unit, denied, processes, cpu_ns, run_delay_ns, major_faults, read_bytes, write_bytes) "
	"VALUES(2, 'target', 'db.service', 0, 1, 1, 1, 1, 1, 1);"
	"INSERT INTO loss VALUES(3, 'torn-slots', 2, 'sample'), (3, 'wakers-lost', 0, 'interval');";

static void set_up(void)
{
	char *rows = NULL, *sql, *message = NULL;
	sqlite3 *db;

	directory = directory_make();
	path = path_join(directory, "bourdon.db");
	ck_assert_int_gt(asprintf(&rows, rows_sql, (long long)clock_wall_ns()), 0);
	sql = sqlite3_mprintf(
		"PRAGMA journal_mode = WAL; PRAGMA application_id = %d; PRAGMA user_version = %d; %s %s",
		SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql, rows);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s", message);
	sqlite3_close(db);
	sqlite3_free(sql);
	free(rows);
}

static void tear_down(void)
{
	directory_remove(directory);
	free(path);
	free(directory);
}

static struct command_ran run(const char *words)
{
	return command_run_words("--db %s %s", path, words);
}

/* The ids that follow each `"capture_id": ` of the output, separated by blanks. */
static void expect_listed(const char *words, const char *expected)
{
	_cleanup_command_ran_ struct command_ran ran = run(words);
	static const char key[] = "{\"capture_id\": ";
	char ids[64] = "";

	ck_assert_msg(!ran.status, "%s: %s", words, ran.err);
	for (const char *at = ran.out; (at = strstr(at, key)); at += sizeof(key))
		snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "%s%.*s", *ids ? " " : "",
			 (int)strcspn(at + sizeof(key) - 1, ","), at + sizeof(key) - 1);
	ck_assert_msg(!strcmp(ids, expected), "%s: %s, not %s", words, ids, expected);
}

static const struct {
	const char *words, *ids;
} lists[] = {
	{ "", "3 2 1" },
	{ "--all", "5 4 3 2 1" },
	{ "--baseline", "5 4" },
	{ "--limit 2", "3 2" },
	{ "--rule web", "1" },
	{ "--rule web --all", "4 1" },
	{ "--rule w*", "2 1" },
	{ "--rule w", "" },
	{ "--resource io", "2" },
	{ "--resource memory", "" },
	{ "--since 210min", "3" },
	{ "--since 270min --all", "5 4 3 2" },
	{ "--since 2001-02-03T04:05:06Z", "3 2 1" },
	{ "--unit nginx.service", "1" },
	{ "--unit db.service", "2" }, /* not 1, where it was another */
	{ "--unit *.service --all", "5 4 2 1" },
	{ "--unit nginx.service --baseline", "4" },
	{ "--rule w* --resource cpu --since 1d --unit ng*", "1" },
	{ "--rule '", "" },
	{ "--unit ') --all", "" },
};

START_TEST(options_choose_captures)
{
	_cleanup_free_ char *words = NULL;

	ck_assert_int_gt(asprintf(&words, "list --json %s", lists[_i].words), 0);
	expect_listed(words, lists[_i].ids);
}
END_TEST

START_TEST(text_says_what_is_a_baseline)
{
	_cleanup_command_ran_ struct command_ran all = run("list --all"), none = run("list --rule none");

	ck_assert_ptr_nonnull(strstr(
		all.out, "complete     web               -                                 -  baseline"));
	ck_assert_ptr_nonnull(strstr(
		all.out, "complete     -                 on demand                         -  manual"));
	ck_assert_str_eq(none.out, "no such captures: 'bourdon list --all' shows all\n");
}
END_TEST

/* Capture 2 becomes one of a latency, with a hostile word. */
START_TEST(a_latency_says_what_was_seen)
{
	_cleanup_command_ran_ struct command_ran list, why, json;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(
			db,
			"UPDATE capture SET resource = NULL, kind = NULL, stall_us = NULL, window_us = NULL, observed_us = NULL, "
			"trigger_mode = 'latency', latency_metric = 'runqueue', latency_quantile = 'p' || char(27), "
			"latency_limit_ns = 20000000, latency_observed_ns = 31457280, latency_window_ns = 10000000000 WHERE capture_id = 2",
			NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	list = run("list");
	why = run("why 2 --full");
	json = run("list --json");
	ck_assert_msg(strstr(list.out, "worker-io         runqueue p\\x1b 31.5ms          20ms  latency"),
		      "%s", list.out);
	ck_assert_msg(strstr(why.out, "runqueue p\\x1b 31.5 ms > 20 ms in 10 s on the host\n"), "%s",
		      why.out);
	ck_assert_msg(strstr(why.out, "  latency   runqueue p\\x1b 31.5 ms > 20 ms in 10 s\n"
				      "  trigger   latency, on the whole system\n"),
		      "%s", why.out);
	ck_assert_ptr_null(strchr(why.out, '\033'));
	ck_assert_ptr_nonnull(strstr(json.out, "\"latency_metric\": \"runqueue\""));
	ck_assert_ptr_nonnull(strstr(json.out, "\"latency_observed_ns\": 31457280"));
}
END_TEST

static void expect_refused(const char *part, const char *words)
{
	_cleanup_command_ran_ struct command_ran ran = run(words);

	ck_assert_msg(ran.status == EXIT_USAGE, "%s gave %d", words, ran.status);
	ck_assert_msg(strstr(ran.err, part), "'%s' is not in: %s", part, ran.err);
}

START_TEST(mistakes_are_refused)
{
	expect_refused("--resource 'disk' is unknown: expected cpu, memory, io or irq",
		       "list --resource disk");
	expect_refused("--since 'tomorrow' is no time", "list --since tomorrow");
	expect_refused("--all and --baseline exclude each other", "list --all --baseline");
	expect_refused("'why' takes no --rule", "why --rule web");
	expect_refused("--by 'callees' is unknown: expected self or total", "top --by callees");
	expect_refused("'top --live' takes no --by", "top --live --once --by total");
}
END_TEST

START_TEST(the_newest_capture_is_no_baseline)
{
	expect_command("capture 3 (complete), on demand", "--db %s why --full", path);
	expect_command("\"capture_id\": 3", "--db %s show --json", path);
	expect_command("baseline 4 (complete), rule web", "--db %s why --full 4", path);
	expect_command("while the rule was calm, 10 s before this moment", "--db %s why --full 4", path);
	expect_command("main;recurse;recurse;leaf 5", "--db %s folded 4", path);
}
END_TEST

START_TEST(show_has_the_facts)
{
	_cleanup_command_ran_ struct command_ran web = run("show 1"), asked = run("show 3"),
						 json = run("show --json 3");

	ck_assert_ptr_nonnull(strstr(web.out, "  window_us          2 s (2000000)\n"));
	ck_assert_ptr_nonnull(strstr(web.out, "  history_ns         10 s (10000000000)\n"));
	ck_assert_ptr_nonnull(strstr(web.out, "\nrule\n  rule_id            1\n"));
	ck_assert_ptr_nonnull(strstr(web.out, "\nrun\n"));
	ck_assert_ptr_nonnull(strstr(web.out, "usage                       2"));
	ck_assert_ptr_null(strstr(asked.out, "\nrule\n"));
	ck_assert_ptr_null(strchr(asked.out, '\033'));
	ck_assert_ptr_null(strchr(json.out, '\033'));
	ck_assert_ptr_nonnull(strstr(asked.out, "sample                      2         7 B"));
	ck_assert_ptr_nonnull(strstr(asked.out, "torn-slots                      2  sample"));
	ck_assert_ptr_nonnull(strstr(json.out, "\"rule\": null"));
	ck_assert_ptr_nonnull(strstr(json.out, "{\"name\": \"sample\", \"rows\": 2, \"bytes\": 7}"));
	expect_command_fails("no capture 9", "--db %s show 9", path);
}
END_TEST

/* main and recurse have all 100 samples, recurse 70 of its own; leaf has 30. */
START_TEST(top_has_two_orders)
{
	_cleanup_command_ran_ struct command_ran both = run("top"), self = run("top --by self"),
						 total = run("top --by total"),
						 json = run("top --json --by total");
	static const char by_self[] = "functions with most samples in themselves (SELF)",
			  by_total[] = "functions with most samples in themselves and their callees (TOTAL)";

	ck_assert(strstr(both.out, by_self) && strstr(both.out, by_total));
	ck_assert(strstr(self.out, by_self) && !strstr(self.out, by_total));
	ck_assert(!strstr(total.out, by_self) && strstr(total.out, by_total));
	ck_assert_ptr_nonnull(strstr(total.out, "     100   70.0 %  100.0 %  recurse"));
	ck_assert_ptr_nonnull(strstr(total.out, "     100    0.0 %  100.0 %  main"));
	ck_assert(strstr(json.out, "\"main\"") < strstr(json.out, "\"leaf\""));
}
END_TEST

SUITE(list)
{
	Suite *suite = suite_create("list");
	TCase *tests = tcase_create("list");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, options_choose_captures, 0, ARRAY_SIZE(lists));
	tcase_add_test(tests, text_says_what_is_a_baseline);
	tcase_add_test(tests, a_latency_says_what_was_seen);
	tcase_add_test(tests, mistakes_are_refused);
	tcase_add_test(tests, the_newest_capture_is_no_baseline);
	tcase_add_test(tests, show_has_the_facts);
	tcase_add_test(tests, top_has_two_orders);
	suite_add_tcase(suite, tests);
	return suite;
}
