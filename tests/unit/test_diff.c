/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what `bourdon diff` says of captures whose samples were drawn by chance from known loads: two recordings of one load
 * differ in nothing, a function that was planted comes first, and rates and shares are those of the samples, whatever the
 * length, the sampling rate, the build and the database of a recording.
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define WORKS 12
#define PLANTED WORKS /* the position of the function that only some loads have */

static char *directory, *path;
static sqlite3 *db;

/* ---- databases ---- */

static void run_sql(sqlite3 *in, const char *format, ...)
{
	va_list arguments;
	char *sql, *message = NULL;

	va_start(arguments, format);
	sql = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	sqlite3_exec(in, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s: %s", message, sql);
	sqlite3_free(sql);
}

/* A stack of works[i] is main < caller_(i % 3) < caller_(i % 3) < work_i: the caller is recursive. */
#define FRAME_OF_WORK(i) (10 + (i))

struct build {
	const char *build_id;
	int shift;       /* of all addresses */
	bool is_unnamed; /* but for main */
};

static sqlite3 *make_database(const char *at, const struct build *build)
{
	sqlite3 *made;

	ck_assert_int_eq(sqlite3_open(at, &made), SQLITE_OK);
	run_sql(made,
		"PRAGMA journal_mode = WAL; PRAGMA application_id = %d; PRAGMA user_version = %d; %s"
		"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) VALUES(1, 1, '1', 1, '6', 'host', 4, 47);"
		"INSERT INTO module(module_id, path, build_id, version, kind) VALUES(1, '/opt/%s/web', '%s', '', 'file');"
		"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root');"
		"INSERT INTO sample_class(class, kind, stall, role) VALUES(1, 'on-cpu', 'none', 'target'), (2, 'off-cpu', 'io', "
		"'target'), (3, 'on-cpu', 'none', 'other'), (4, 'on-cpu', 'none', 'kernel'), (5, 'off-cpu', 'none', 'target');"
		"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup) VALUES(1, 1, 70, 1, 'web', '/web/a'), "
		"(2, 1, 71, 1, 'web', '/web/b'), (3, 1, 72, 1, 'oth;er' || char(27), '/else');"
		"INSERT INTO thread VALUES(1, 1, 70, 'web'), (2, 2, 71, 'web'), (3, 3, 72, 'other');",
		SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql, build->build_id, build->build_id);
	run_sql(made, "INSERT INTO frame_row VALUES(1, 1, 1, 'main', 0, NULL, NULL, 0, NULL)");
	for (int i = 0; i < 3; i++)
		run_sql(made,
			"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset) VALUES(%d, 1, %d, '%s%d', %s)",
			2 + i, 100 + i + build->shift, build->is_unnamed ? "web+0x" : "caller_", i,
			build->is_unnamed ? "NULL" : "0");
	for (int i = 0; i <= WORKS; i++) {
		run_sql(made,
			"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset) VALUES(%d, 1, %d, '%s%s', %s)",
			FRAME_OF_WORK(i), 200 + i + build->shift, build->is_unnamed ? "web+0x" : "",
			i == PLANTED ? "planted" : (char[]){ 'w', (char)('a' + i), '\0' },
			build->is_unnamed ? "NULL" : "0");
		run_sql(made, "INSERT INTO stack_node VALUES(%d, NULL, '[1,%d,%d,%d]', 1, 4, x'%032x')",
			1 + i, 2 + i % 3, 2 + i % 3, FRAME_OF_WORK(i), 1 + i + build->shift);
	}
	return made;
}

static void set_up(void)
{
	directory = directory_make();
	path = path_join(directory, "a.db");
	db = make_database(path, &(struct build){ "aa", 0, false });
}

static void tear_down(void)
{
	sqlite3_close(db);
	directory_remove(directory);
	free(path);
	free(directory);
}

/* ---- recordings ---- */

struct recording {
	const char *mode, *rule, *cgroup; /* rule and cgroup: NULL: none */
	int64_t triggered_s;
	int before_s, after_s, hz;
	double factor;  /* of the load, in all seconds */
	double planted; /* CPUs, of the seconds from the trigger on */
	int class;
};

static const struct recording usual = { "sampled", "web", NULL, 1000, 10, 5, 47, 1, 0, 1 };

/* Adds a capture. Work i takes 0.4 / (1 + i) of a CPU; each second it is up to a half more or less. */
static int64_t add(sqlite3 *to, struct dice *dice, const struct recording *recording)
{
	int64_t id;

	run_sql(to,
		"INSERT INTO capture(run_id, rule, resource, kind, stall_us, window_us, observed_us, trigger_mode, cgroup, "
		"triggered_at, began_at, ended_at, history_ns, offcpu_history_ns, state, hz) VALUES(1, %Q, %s, %s, 1, 2000000, 2, "
		"'%s', %Q, %lld, 1, %lld, %lld, %lld, 'complete', %d)",
		recording->rule, strcmp(recording->mode, "sampled") ? "NULL" : "'cpu'",
		strcmp(recording->mode, "sampled") ? "NULL" : "'some'", recording->mode, recording->cgroup,
		recording->triggered_s * 1000000000,
		(recording->triggered_s + recording->after_s) * 1000000000,
		recording->before_s * 1000000000LL, recording->before_s * 1000000000LL, recording->hz);
	id = sqlite3_last_insert_rowid(to);
	run_sql(to, "BEGIN");
	for (int second = -recording->before_s; second < recording->after_s; second++) {
		double busy = 0.5 + dice_uniform(dice);

		for (int i = 0; i <= WORKS; i++) {
			double cpus = i == PLANTED ? (second < 0 ? 0 : recording->planted)
						   : 0.4 / (1 + i) * busy * recording->factor;
			int samples = (int)dice_poisson(dice, cpus * recording->hz);

			if (samples)
				run_sql(to,
					"INSERT INTO sample_row VALUES(%lld, %d, %d, %d, %d, %d, %s, NULL)",
					(long long)id, 1 + i, recording->class == 1 ? 1 : 3, recording->class,
					second, samples, "NULL");
		}
	}
	run_sql(to, "COMMIT");
	return id;
}

/* ---- what diff says ---- */

/* The value that the statement on ?1, the JSON of a diff, gives as text. The caller frees. */
static char *ask(const char *sql, const char *json)
{
	sqlite3_stmt *statement;
	char *value;

	ck_assert_msg(!sqlite3_prepare_v2(db, sql, -1, &statement, NULL), "%s", sqlite3_errmsg(db));
	sqlite3_bind_text(statement, 1, json, -1, SQLITE_STATIC);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	value = strdup(sqlite3_column_type(statement, 0) == SQLITE_NULL
			       ? "NULL"
			       : (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return value;
}

static char *diff_json(const char *words)
{
	struct command_ran ran = command_run_words("--db %s diff --json %s", path, words);

	ck_assert_msg(!ran.status, "diff %s: %s", words, ran.err);
	free(ran.err);
	return ran.out;
}

static void expect(const char *words, const char *sql, const char *expected)
{
	_cleanup_free_ char *json = diff_json(words), *value = ask(sql, json);

	ck_assert_msg(!strcmp(value, expected), "diff %s: %s is %s, not %s, in\n%.3000s", words, sql, value,
		      expected, json);
}

#define CHANGED                                                                                                 \
	"SELECT (?1 ->> '$.all.changed') + (SELECT count(*) FROM json_each(?1, '$.functions') WHERE value ->> " \
	"'changed') + (SELECT count(*) FROM json_each(?1, '$.stacks') WHERE value ->> 'changed')"

#define PAIRS 40

/* At 1 % for a whole report, 0.4 of 40 are expected; 5 or more come about once in 20,000 runs. */
START_TEST(one_load_differs_in_nothing)
{
	struct dice dice = dice_new(800 + (uint64_t)_i);
	struct recording recording = usual;
	int claims = 0;

	if (_i == 1)
		recording.before_s = 30;
	for (int i = 0; i < PAIRS; i++) {
		long long a = add(db, &dice, &usual), b = add(db, &dice, &recording);
		_cleanup_free_ char *words = NULL, *json = NULL, *changed = NULL;

		ck_assert_int_gt(asprintf(&words, "%lld %lld%s", a, b, _i == 2 ? " --by total" : ""), 0);
		json = diff_json(words);
		changed = ask(CHANGED, json);
		claims += strcmp(changed, "0") != 0;
	}
	ck_assert_msg(claims < 5, "%d of %d pairs", claims, PAIRS);
}
END_TEST

/* Three times as much of the same: the rates differ, and no share does. */
START_TEST(more_of_one_load_has_the_same_shares)
{
	struct dice dice = dice_new(805 + (uint64_t)_i);
	struct recording more = usual;
	int share_claims = 0, rate_claims = 0;

	more.factor = 3;
	for (int i = 0; i < PAIRS; i++) {
		long long a = add(db, &dice, &usual), b = add(db, &dice, &more);
		_cleanup_free_ char *words = NULL, *json = NULL, *shares = NULL, *rate = NULL;

		ck_assert_int_gt(asprintf(&words, _i ? "%lld:before %lld:after" : "%lld %lld", a, b), 0);
		json = diff_json(words);
		shares = ask(
			"SELECT (SELECT count(*) FROM json_each(?1, '$.functions') WHERE value ->> 'share_p' < 0.01) + (SELECT "
			"count(*) FROM json_each(?1, '$.stacks') WHERE value ->> 'share_p' < 0.01)",
			json);
		rate = ask("SELECT ?1 ->> '$.all.changed'", json);
		share_claims += strcmp(shares, "0") != 0;
		rate_claims += !strcmp(rate, "1");
	}
	ck_assert_msg(share_claims < 5, "shares in %d of %d pairs", share_claims, PAIRS);
	ck_assert_msg(rate_claims > PAIRS / 2, "the rate in %d of %d pairs", rate_claims, PAIRS);
}
END_TEST

START_TEST(a_planted_function_comes_first)
{
	struct dice dice = dice_new(810);
	struct recording with = usual;
	_cleanup_free_ char *text = NULL;
	struct command_ran ran;
	int first = 0, stacks = 0;

	with.planted = 0.3;
	for (int i = 0; i < PAIRS; i++) {
		long long a = add(db, &dice, &usual), b = add(db, &dice, &with);
		_cleanup_free_ char *words = NULL, *json = NULL, *function = NULL, *stack = NULL;

		ck_assert_int_gt(asprintf(&words, "%lld:before %lld:after", a, b), 0);
		json = diff_json(words);
		function =
			ask("SELECT (?1 ->> '$.functions[0].function') || (?1 ->> '$.functions[0].changed')",
			    json);
		first += !strcmp(function, "planted1");
		stack = ask("SELECT (?1 ->> '$.stacks[0].stack') || (?1 ->> '$.stacks[0].changed')", json);
		stacks += !strcmp(stack, "main;caller_0;caller_0;planted1");
	}
	ck_assert_msg(first >= PAIRS * 9 / 10, "first %d of %d times", first, PAIRS);
	ck_assert_msg(stacks >= PAIRS * 9 / 10, "the stack first %d of %d times", stacks, PAIRS);
	with.planted = 0.9;
	add(db, &dice, &with);
	ran = command_run_words("--db %s diff 1:before %d:after", path, 2 * PAIRS + 1);
	text = ran.out;
	free(ran.err);
	ck_assert_ptr_nonnull(strstr(text, "10 units of A and 5 of B, 1 s each, in all 3003 mixtures"));
	ck_assert_ptr_nonnull(strstr(text, "planted                             web"));
	ck_assert_ptr_nonnull(strstr(text, "planted < caller_0 < caller_0 < main"));
	ck_assert_ptr_nonnull(strstr(text, "Westfall and Young 1993"));
}
END_TEST

/* 47 samples a second are 1 s of CPU time; 94 Hz and another length change nothing. */
START_TEST(rates_and_shares_are_those_of_the_samples)
{
	run_sql(db,
		"INSERT INTO capture(capture_id, run_id, trigger_mode, triggered_at, began_at, ended_at, history_ns, "
		"offcpu_history_ns, state, hz) VALUES(1, 1, 'manual', 0, 0, 4000000000, 2000000000, 0, 'complete', 50), "
		"(2, 1, 'manual', 0, 0, 3000000000, 0, 0, 'complete', 100)");
	run_sql(db,
		"INSERT INTO sample_row VALUES(1, 1, 1, 1, -2, 30, NULL, NULL), (1, 2, 1, 1, 3, 60, NULL, NULL), "
		"(2, 1, 1, 1, 0, 90, NULL, NULL), (2, 4, 1, 1, 2, 90, NULL, NULL), (2, 3, 3, 3, 2, 7, NULL, NULL)");
	/* A: 90 samples of 20 ms in 6 s; B: 180 of 10 ms in 3 s */
	expect("1 2",
	       "SELECT round((?1 ->> '$.all.ns_per_s_a') / 1e6, 3) || ' ' || round((?1 ->> '$.all.ns_per_s_b') / 1e6, 3)",
	       "300.0 600.0");
	expect("1 2",
	       "SELECT group_concat((value ->> 'function') || ' ' || (value ->> 'samples_a') || ' ' || (value ->> 'samples_b') || "
	       "' ' || round((value ->> 'change_ns_per_s') / 1e6, 3) || ' ' || round(value ->> 'change_percent', 3), ', ') FROM "
	       "json_each(?1, '$.functions')",
	       "wd 0 90 300.0 50.0, wa 30 90 200.0 16.667, wb 60 0 -200.0 -66.667");
	/* caller_0 calls itself, and is in wa's and wd's stacks */
	expect("1 2 --by total",
	       "SELECT group_concat((value ->> 'function') || ' ' || (value ->> 'samples_a') || ' ' || (value ->> 'samples_b'), "
	       "', ') FROM json_each(?1, '$.functions')",
	       "caller_0 30 180, main 90 180, wd 0 90, caller_1 60 0, wa 30 90, wb 60 0");
	expect("1 2 --role other",
	       "SELECT ?1 ->> '$.functions[0].function' || (?1 ->> '$.functions[0].samples_b')", "wc7");
	expect("1 2 --role all", "SELECT ?1 ->> '$.all.samples_b'", "187");
	expect("1 2 --role kernel", "SELECT (?1 ->> '$.all.samples_b') || (?1 ->> '$.all.percent_b' IS NULL)",
	       "01");
	expect("1:before 1:after",
	       "SELECT (?1 ->> '$.a.seconds') || ' ' || (?1 ->> '$.all.samples_a') || ' ' || "
	       "(?1 ->> '$.b.seconds') || ' ' || (?1 ->> '$.all.samples_b')",
	       "2 30 4 60");
}
END_TEST

START_TEST(waiting_is_by_stall_class)
{
	struct dice dice = dice_new(830);

	for (int capture = 1; capture <= 2; capture++) {
		run_sql(db,
			"INSERT INTO capture(capture_id, run_id, trigger_mode, triggered_at, began_at, ended_at, history_ns, "
			"offcpu_history_ns, state, hz) VALUES(%d, 1, 'manual', 0, 0, 8000000000, 0, 8000000000, 'complete', 47)",
			capture);
		for (int second = -8; second < 8; second++) {
			/* a thread that sleeps all the time, within its jitter; and one that waits for the disk in B */
			run_sql(db, "INSERT INTO sample_row VALUES(%d, 1, 1, 5, %d, 1, %d, NULL)", capture,
				second, 999000000 + (int)dice_below(&dice, 1000000));
			run_sql(db, "INSERT INTO sample_row VALUES(%d, 2, 1, 2, %d, 3, %d, NULL)", capture,
				second,
				(capture == 1 ? 40 : 400) * 1000000 + (int)dice_below(&dice, 20000000));
		}
	}
	expect("1 2 --kind off-cpu",
	       "SELECT group_concat((value ->> 'function') || (value ->> 'changed'), ' ') FROM json_each(?1, '$.functions')",
	       "wb1 wa0");
	expect("1 2 --stall io",
	       "SELECT json_array_length(?1, '$.functions') || (?1 ->> '$.functions[0].function')", "1wb");
	expect("1 2 --stall none",
	       "SELECT json_array_length(?1, '$.functions') || (?1 ->> '$.functions[0].function')", "1wa");
	expect("1 2 --stall memory", "SELECT json_array_length(?1, '$.functions')", "0");
	expect_command("waiting of targets, of one stall class (io)", "--db %s diff 1 2 --stall io", path);
}
END_TEST

/* ---- baselines ---- */

START_TEST(a_capture_is_compared_with_the_baselines_before_it)
{
	struct dice dice = dice_new(840);
	struct recording baseline = { "baseline", "web", NULL, 0, 10, 0, 47, 1, 0, 1 }, capture = usual;

	for (int i = 0; i < 8; i++) {
		baseline.triggered_s = 100 + i;
		add(db, &dice, &baseline);
	}
	baseline.rule = "another";
	add(db, &dice, &baseline);
	capture.planted = 1;
	ck_assert_int_eq(add(db, &dice, &capture), 10);
	baseline.rule = "web";
	baseline.triggered_s = 2000; /* after it */
	add(db, &dice, &baseline);
	expect("baseline 10",
	       "SELECT (?1 ->> '$.a.captures') || (?1 ->> '$.a.seconds') || (?1 ->> '$.b.seconds')",
	       "[3,4,5,6,7,8]605");
	expect("baseline 10",
	       "SELECT (?1 ->> '$.functions[0].function') || (?1 ->> '$.functions[0].changed')", "planted1");
	/* without ID: the newest capture, which is not the newest baseline */
	expect("baseline", "SELECT ?1 ->> '$.b.captures'", "[10]");
	expect("baseline 10:before", "SELECT ?1 ->> '$.functions[0].samples_b' > 0", "1");
	expect("baseline 10:before", CHANGED, "0");
	expect_command("A         baselines 3, 4, 5, 6, 7 and 8 of rule web, ", "--db %s diff baseline 10",
		       path);
	expect_command("B         capture 10 of rule web, from its trigger on, ", "--db %s diff baseline 10",
		       path);
}
END_TEST

/* A capture of one cgroup, and baselines of the whole rule: what is elsewhere is others'. */
START_TEST(a_baseline_counts_the_cgroup_that_fired)
{
	run_sql(db,
		"INSERT INTO capture(capture_id, run_id, rule, trigger_mode, cgroup, triggered_at, began_at, ended_at, history_ns, "
		"state, hz) VALUES(1, 1, 'web', 'baseline', NULL, 0, 0, 0, 5000000000, 'complete', 50), "
		"(2, 1, 'web', 'kernel', '/web/a', 9, 0, 5000000009, 0, 'complete', 50)");
	run_sql(db,
		"INSERT INTO sample_row VALUES(1, 1, 1, 1, -2, 30, NULL, NULL), (1, 1, 2, 1, -2, 500, NULL, NULL), "
		"(1, 1, 3, 3, -1, 7, NULL, NULL), (2, 1, 1, 1, 0, 31, NULL, NULL), (2, 1, 2, 3, 0, 501, NULL, NULL)");
	expect("baseline 2", "SELECT (?1 ->> '$.all.samples_a') || ' ' || (?1 ->> '$.all.samples_b')",
	       "30 31");
	expect("baseline 2 --role other",
	       "SELECT (?1 ->> '$.all.samples_a') || ' ' || (?1 ->> '$.all.samples_b')", "507 501");
	expect("1 2", "SELECT ?1 ->> '$.all.samples_a'", "30");
}
END_TEST

/* ---- two databases ---- */

/* The same files, not symbolized: the hash says that the stacks are the same. */
START_TEST(hashes_join_a_database_without_names)
{
	_cleanup_free_ char *other = path_join(directory, "b.db"), *words = NULL;
	sqlite3 *unnamed = make_database(other, &(struct build){ "aa", 0, true });
	struct dice one = dice_new(850), same = dice_new(850);

	add(unnamed, &one, &usual);
	add(db, &same, &usual);
	sqlite3_close(unnamed);
	ck_assert_int_gt(asprintf(&words, "1 1 --base %s", other), 0);
	expect(words,
	       "SELECT sum((value ->> 'samples_a') = (value ->> 'samples_b')) || ' of ' || count(*) FROM json_each(?1, '$.functions')",
	       "12 of 12");
	expect(words, CHANGED, "0");
	expect(words, "SELECT (?1 ->> '$.stacks[0].hash_a') = (?1 ->> '$.stacks[0].hash_b')", "1");
}
END_TEST

/* Another build, elsewhere: other hashes, the same names. */
START_TEST(names_join_another_build)
{
	_cleanup_free_ char *other = path_join(directory, "b.db"), *words = NULL;
	sqlite3 *rebuilt = make_database(other, &(struct build){ "bb", 4096, false });
	struct dice one = dice_new(851), same = dice_new(851);

	add(rebuilt, &one, &usual);
	add(db, &same, &usual);
	sqlite3_close(rebuilt);
	ck_assert_int_gt(asprintf(&words, "1 1 --base %s", other), 0);
	expect(words,
	       "SELECT sum((value ->> 'samples_a') = (value ->> 'samples_b')) || ' of ' || count(*) FROM json_each(?1, '$.stacks')",
	       "12 of 12");
	expect(words, "SELECT (?1 ->> '$.stacks[0].hash_a') = (?1 ->> '$.stacks[0].hash_b')", "0");
}
END_TEST

/* ---- words, and what is not there ---- */

static void expect_usage(const char *part, const char *words)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words("--db %s diff %s", path, words);

	ck_assert_msg(ran.status == EXIT_USAGE, "diff %s gave %d", words, ran.status);
	ck_assert_msg(strstr(ran.err, part), "'%s' is not in: %s", part, ran.err);
}

START_TEST(what_cannot_be_compared_is_said)
{
	struct dice dice = dice_new(860);
	struct recording asked = usual, short_one = usual;

	asked.mode = "manual";
	asked.rule = NULL;
	asked.before_s = 0;
	short_one.after_s = 1;
	short_one.before_s = 1;
	expect_command_fails("no complete capture", "--db %s diff baseline", path);
	add(db, &dice, &usual);
	add(db, &dice, &asked);
	add(db, &dice, &short_one);
	expect_command_fails("no capture 9", "--db %s diff 1 9", path);
	expect_command_fails("no baseline of the rule of capture 1 before it", "--db %s diff baseline 1",
			     path);
	expect_command_fails("capture 2 is of no rule", "--db %s diff baseline 2", path);
	expect_command_fails("capture 2 has nothing before its trigger", "--db %s diff 1 2:before", path);
	expect_command_fails("nowhere.db", "--db %s diff 1 1 --base %s/nowhere.db", path, directory);
	expect_command("so few units can have no P below 0.33", "--db %s diff 3 3", path);
	expect_usage("'diff' needs two captures", "");
	expect_usage("'diff' needs two captures", "1");
	expect_usage("so it comes first", "1 baseline");
	expect_usage("unexpected argument '3'", "1 2 3");
	expect_usage("'x' is no capture's ID", "1 x");
	expect_usage("'2:during' is no capture's ID", "1 2:during");
	expect_usage("--role 'targets' is unknown: expected target", "1 2 --role targets");
	expect_usage("--kind 'off' is unknown: expected", "1 2 --kind off");
	expect_usage("--stall 'disk' is unknown: expected", "1 2 --stall disk");
	expect_usage("leave out --kind on-cpu", "1 2 --kind on-cpu --stall io");
	expect_usage("--role other has no waiting", "1 2 --stall io --role other");
	expect_usage("--by 'all' is unknown: expected self or total", "1 2 --by all");
}
END_TEST

START_TEST(names_are_escaped)
{
	struct recording other = usual;
	struct dice dice = dice_new(870);

	run_sql(db,
		"UPDATE frame_row SET function = 'evil;' || char(27) || '[2J' || char(10) || '\"<script>' WHERE frame_id = 10");
	run_sql(db, "UPDATE run SET hostname = 'h' || char(27) || ']0;x'");
	other.rule = "ru\033le";
	other.class = 3;
	add(db, &dice, &other);
	add(db, &dice, &other);
	for (int json = 0; json < 2; json++) {
		_cleanup_command_ran_ struct command_ran ran = command_run_words(
			"--db %s diff 1 2 --role other --all%s", path, json ? " --json" : "");

		ck_assert_int_eq(ran.status, 0);
		ck_assert_ptr_null(strchr(ran.out, '\033'));
		ck_assert_ptr_nonnull(strstr(ran.out, "script>"));
		if (json) {
			_cleanup_free_ char *comm = ask("SELECT hex(?1 ->> '$.stacks[0].comm')", ran.out),
					    *rule = ask("SELECT hex(?1 ->> '$.a.rule')", ran.out);

			ck_assert_str_eq(comm, "6F74683B65721B");
			ck_assert_str_eq(rule, "72751B6C65");
		}
	}
}
END_TEST

/* Numbers that bourdond never writes: no sum overflows, nothing is read out of bounds. */
START_TEST(a_hostile_database_is_harmless)
{
	run_sql(db,
		"INSERT INTO capture(capture_id, run_id, trigger_mode, triggered_at, began_at, ended_at, history_ns, state, hz) "
		"VALUES(1, 1, 'manual', -9223372036854775807, 0, 9223372036854775807, 9223372036854775807, 'complete', 0), "
		"(2, 77, 'manual', 0, 0, 3000000000, -5, 'complete', -1)");
	run_sql(db,
		"INSERT INTO sample_row VALUES(1, 1, 1, 1, -9223372036854775807, 4611686018427387903, 9223372036854775807, NULL), "
		"(1, 1, 2, 1, 9223372036854775807, 4611686018427387903, 9223372036854775807, NULL), "
		"(2, 99, 77, 1, 0, 5, 5, NULL), (2, 1, 1, 1, 0, -5, -5, NULL), (2, 1, 1, 1, 1, 5, 50000000, NULL)");
	expect_command("\"captures\": [1]", "--db %s diff --json 1 2", path);
	expect_command("from A to B", "--db %s diff 2 1 --all", path);
}
END_TEST

SUITE(diff)
{
	Suite *suite = suite_create("diff");
	TCase *loads = tcase_create("loads"), *tests = tcase_create("tests");

	tcase_add_checked_fixture(loads, set_up, tear_down);
	tcase_add_loop_test(loads, one_load_differs_in_nothing, 0, 3);
	tcase_add_loop_test(loads, more_of_one_load_has_the_same_shares, 0, 2);
	tcase_add_test(loads, a_planted_function_comes_first);
	suite_add_tcase(suite, loads);
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, rates_and_shares_are_those_of_the_samples);
	tcase_add_test(tests, waiting_is_by_stall_class);
	tcase_add_test(tests, a_capture_is_compared_with_the_baselines_before_it);
	tcase_add_test(tests, a_baseline_counts_the_cgroup_that_fired);
	tcase_add_test(tests, hashes_join_a_database_without_names);
	tcase_add_test(tests, names_join_another_build);
	tcase_add_test(tests, what_cannot_be_compared_is_said);
	tcase_add_test(tests, names_are_escaped);
	tcase_add_test(tests, a_hostile_database_is_harmless);
	suite_add_tcase(suite, tests);
	return suite;
}
