/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the command bourdon: how quantities are written, and what each subcommand prints for a database
 * with honest and hostile rows. Commands run as in a shell, but without main().
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "consumer/capture/capture.h"
#include "report/command.h"
#include "report/model/database.h"
#include "report/model/loss_text.h"
#include "report/text/format.h"
#include "report/text/wrap.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Capture 2 is newer than 1; 3 and 4 are newer, but not complete. */
static const char rows_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz)"
	" VALUES(1, 1, '0.1.0', 1, '6.18', 'host', 8, 47);"
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup) VALUES(1, 1, 4242, 1, 'cpu_hog', '/usr/bin/cpu_hog', 1000, '/system.slice/web'),"
	" (2, 1, 4243, 1, 'a;b 5' || char(27) || '[31m', '/x', NULL, NULL),"
	" (3, 1, 4244, 1, CAST(x'ff220a7a' AS TEXT), '/x', 0, '/' || printf('%.254c', 'q') || char(10));"
	"INSERT INTO module(module_id, path, build_id, version, kind) VALUES(1, '[kernel]', NULL, '', "
	"'kernel'), (2, '/usr/bin/cpu_hog', 'aa', '', "
	"'file'),"
	" (3, '/evil/' || char(27) || ']0;title' || char(7), NULL, '', 'file');"
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES(1, 1, 1, 'timer_interrupt', 0, NULL, NULL, 0),"
	" (2, 2, 1, 'burn_cpu', 0, '/src/main.c', 42, 0), (3, 2, 2, 'main', 0, NULL, NULL, 0),"
	" (4, 3, 1, 'evil;<script> \"quoted\"' || char(10) || char(27) || '[2J 7', NULL, NULL, NULL, 0),"
	" (5, 2, 3, printf('%.255c', 'F'), 0, NULL, NULL, 0), (6, 2, 4, CAST(x'c3' AS TEXT), 0, NULL, NULL, "
	"0),"
	" (7, 2, 5, 'operator new(unsigned long)', 0, NULL, NULL, 0), (8, 2, 6, 'main', 0, NULL, NULL, 0);"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'), (2, 1, 'eh-frame', 'expression'), (3, 0, 'none', NULL);"
	"INSERT INTO stack_node VALUES(1, NULL, '[3,2]', 1, 2, x'01'), (2, 1, '[1]', 1, 3, x'02'),"
	" (3, NULL, '[4,3,3,3,3,3,3,8,3,3,7,6,5,4]', 2, 14, x'03'), (4, NULL, '[]', 3, 0, x'04');"
	"INSERT INTO sample_class(class, kind, stall) VALUES(1, 'on-cpu', 'none'), (2, 'off-cpu', 'cpu'), (3, 'off-cpu', 'io'), (4, 'on-cpu', 'memory');"
	"INSERT INTO thread VALUES(1, 1, 1, 't'), (2, 2, 1, 't'), (3, 3, 1, 't');"
	"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup,"
	" triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, offcpu_history_ns, expected_samples,"
	" received_samples, verdict, victim) VALUES"
	" (1, 1, NULL, 'old', 'io', 'full', 1000, 1000000, 'sampled', NULL, 1790000000000000000,"
	"  1789999990000000000, 1790000005000000000, 10000000000, 'complete', 2000, 47, NULL, NULL, NULL, "
	"NULL, NULL),"
	" (2, 1, NULL, 'we' || char(27) || 'b', 'cpu', 'some', 150000, 2000000, 'kernel', "
	"'/system.slice/web',"
	"  1790000100000000000, 1790000090000000000, 1790000105000000000, 9800000000, 'complete', 1240000, "
	"47, NULL, 940, 931, 'neighbour', 'w' || char(27) || 'eb in web.service'),"
	" (3, 1, NULL, 'web', 'cpu', 'some', 150000, 2000000, 'kernel', NULL, 1790000200000000000,"
	"  1790000190000000000, NULL, 9800000000, 'recording', 160000, 47, NULL, NULL, NULL, NULL, NULL),"
	" (4, 1, NULL, 'web', 'cpu', 'some', 0, 2000000, 'manual', NULL, 1790000300000000000,"
	"  1790000290000000000, NULL, 9800000000, 'interrupted', 0, 47, NULL, NULL, NULL, NULL, NULL);"
	"INSERT INTO sample_row VALUES(2, 1, 1, 1, -10, 500, 10600000000, NULL),"
	" (2, 1, 1, 1, -3, 47, 1000000000, NULL), (2, 2, 1, 1, 0, 20, 425000000, NULL),"
	" (2, 3, 2, 1, 4, 10, 212000000, NULL), (2, 4, 3, 1, 4, 1, 21000000, NULL),"
	" (2, 2, 3, 2, 1, 3, 900000000, NULL), (2, 1, 3, 3, 1, 3, 1900000000, NULL);"
	"INSERT INTO wake_row VALUES(2, 1, 1, 'none', '00000000000000ff', 'target', 2, 1, 1, 9, 3000000000),"
	" (2, 1, 1, 'io', NULL, 'interrupt', NULL, NULL, 0, 4, 900000000), (2, 1, 1, 'none', '00000000000000ff', 'none', NULL, NULL, 0, 1, 100000000);"
	"INSERT INTO machine_time VALUES(2, 'others', 1, 6000000001, 7200000000, 60.0), (2, 'idle', 1, 6000000001, 4740000000, 39.5),"
	" (2, 'steal', 1, 6000000001, 0, 0.0);"
	"INSERT INTO machine_bytes VALUES(2, 'others', 1, 6000000001, 2147483648, 5242880), (2, 'targets', 1, 6000000001, 0, 0),"
	" (2, 'disks', 1, 6000000001, 2147483648, 0), (2, 'unaccounted', 1, 6000000001, 0, -5242880);"
	"INSERT INTO interrupt VALUES(2, 'softirq', 3, 'NET_RX', 1, 6000000001, 1234567, 720000000, 6.0),"
	" (2, 'irq', 36, 'vir' || char(27) || 'tio1-req.0', 1, 6000000001, 99, 24000000, 0.2),"
	" (2, 'irq', 37, 'idle', 1, 6000000001, 1, 1000, 0.0), (2, 'irq', NULL, NULL, 1, 6000000001, 4, 12000000, 0.1);"
	"INSERT INTO ended VALUES(2, 'other', 'a;b 5' || char(27) || '[31m', 'ba' || char(27) || 'sh', 77, '/' || printf('%.254c', 'q')"
	" || char(10), NULL, NULL, 0, 12345, 6000000000, 0, 0, 1048576, 3221225472, NULL, NULL),"
	" (2, 'other', 'true', 'bash', NULL, '/system.slice/cron.service', 'cron.service', NULL, 0, 5120, 2000000000, 0, 0, 0, 0, 9, 8000000),"
	" (2, 'rest', NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 9000000000, 0, 0, 0, 0, 0, 0);"
	"INSERT INTO killed VALUES(2, 1790000099500000000, 'oom', 'other', 'my' || char(27) || 'sqld', 77, '/system.slice/mysql.service', "
	"'mysql.service', NULL, 1073741824, 'bash', 78, '/user', NULL, '/system.slice', 2147483648, 1),"
	" (2, 1790000102000000000, 'oom', 'target', 'web', 79, NULL, NULL, NULL, 1048576, 'web', 79, NULL, NULL, NULL, NULL, 1),"
	" (2, 1790000101000000000, 'signal', 'other', NULL, NULL, NULL, NULL, NULL, NULL, 'systemd-oomd', 5, '/o', 'systemd-oomd.service', NULL, NULL, 1),"
	" (2, 1790000103000000000, 'signal', 'rest', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 12);"
	"INSERT INTO cgroup_memory VALUES(2, '/', NULL, NULL, 1, 6000000001, NULL, NULL, 1073741824, 3221225472, 1048576, 1024, 4096, 8192, 4096, 5, 6),"
	" (2, '/' || char(27) || 'x', NULL, NULL, 1, 6000000001, NULL, 4096, NULL, 4096, NULL, 0, NULL, NULL, NULL, NULL, NULL);"
	"INSERT INTO usage(capture_id, process_id, role, from_at, to_at, rss_before_bytes, rss_bytes, reclaims, reclaim_ns)"
	" VALUES(2, 1, 'target', 1, 6000000001, 1073741824, 3221225472, 7, 900000000),"
	" (2, 3, 'target', 1, 6000000001, 2147483648, 1073741824, 0, 0);"
	"INSERT INTO loss VALUES(1, 'torn-slots', 0, 'sample'), (1, 'events-lost', 0, 'event'),"
	" (2, 'overwritten-slots', 20, 'sample'), (2, 'torn-slots', 0, 'sample'), (2, 'stack-truncated', 2, "
	"'stack');";

static char *directory, *database;

static void write_database(const char *path, const char *sql)
{
	sqlite3 *sqlite;
	char *message = NULL;

	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	sqlite3_exec(sqlite, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s", message);
	sqlite3_close(sqlite);
}

static void write_captures(const char *path, const char *more_sql)
{
	char *sql = sqlite3_mprintf("PRAGMA journal_mode = WAL; PRAGMA application_id = %d;"
				    "PRAGMA user_version = %d; %s %s %s",
				    SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql, rows_sql, more_sql);

	write_database(path, sql);
	sqlite3_free(sql);
}

static void set_up(void)
{
	directory = directory_make();
	database = path_join(directory, "bourdon.db");
	write_captures(database, "");
}

static void tear_down(void)
{
	directory_remove(directory);
	free(database);
	free(directory);
}

/* Runs "bourdon --db DATABASE" and the words of `line`. */
static struct command_ran run(const char *line)
{
	return command_run_words("--db %s %s", database, line);
}

static void assert_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "'%s' is not in:\n%.2000s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "'%s' is in:\n%.2000s", part, text);
}

/* Asserts a failure with `status`, no output, and one error line that has `part`. */
static void assert_refused(const char *path, const char *line, int status, const char *part)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words("--db %s %s", path, line);
	const char *newline = strchr(ran.err, '\n');

	ck_assert_msg(ran.status == status, "'%s' gave %d: %s", line, ran.status, ran.err);
	ck_assert_str_eq(ran.out, "");
	ck_assert_msg(newline && !newline[1], "'%s' said:\n%s", line, ran.err);
	assert_has(ran.err, part);
}

/* The first value of `sql`, whose parameter ?1 is `json`, on the database of the captures. */
static char *asked(const char *sql, const char *json)
{
	sqlite3_stmt *statement;
	sqlite3 *sqlite;
	char *value;

	ck_assert_int_eq(sqlite3_open(database, &sqlite), SQLITE_OK);
	ck_assert_msg(!sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), "%s", sqlite3_errmsg(sqlite));
	sqlite3_bind_text(statement, 1, json, -1, SQLITE_STATIC);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	value = strdup(sqlite3_column_type(statement, 0) == SQLITE_NULL
			       ? "NULL"
			       : (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
	return value;
}

static void assert_asked(const char *sql, const char *json, const char *wanted)
{
	_cleanup_free_ char *value = asked(sql, json);

	ck_assert_msg(!strcmp(value, wanted), "%s gave '%s', not '%s'", sql, value, wanted);
}

/* ---- quantities ---- */

START_TEST(duration_has_three_digits_and_a_unit)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },        { 350e6, "350 ms" },   { 1.24e9, "1.24 s" }, { 2e9, "2 s" },
		{ 1.2e9, "1.2 s" },   { 12.34e9, "12.3 s" }, { 90e9, "90 s" },     { 999499, "999 µs" },
		{ 999.6e6, "1 s" },   { 9.996e9, "10 s" },   { 1500, "1.5 µs" },   { 3600e9, "3600 s" },
		{ -2.5e9, "-2.5 s" }, { 99.96e6, "100 ms" }, { 100e9, "100 s" },
	};
	char text[FORMAT_BYTES];

	ck_assert_str_eq(format_duration(cases[_i].ns, " ", text, sizeof(text)), cases[_i].text);
	ck_assert_str_eq(format_duration(1.24e9, "", text, sizeof(text)), "1.24s");
}
END_TEST

START_TEST(percent_never_rounds_something_to_nothing)
{
	char text[FORMAT_BYTES];

	ck_assert_str_eq(format_percent(97.14, text, sizeof(text)), "97.1 %");
	ck_assert_str_eq(format_percent(0, text, sizeof(text)), "0.0 %");
	ck_assert_str_eq(format_percent(0.01, text, sizeof(text)), "<0.1 %");
	ck_assert_str_eq(format_percent(100, text, sizeof(text)), "100.0 %");
}
END_TEST

START_TEST(bar_fits_and_shows_the_least)
{
	char text[FORMAT_BYTES], narrow[5];

	ck_assert_uint_eq(format_columns(format_bar(10, 10, 60, text, sizeof(text))), 60);
	ck_assert_uint_eq(format_columns(format_bar(5, 10, 60, text, sizeof(text))), 30);
	ck_assert_uint_eq(format_columns(format_bar(1, 1000000, 60, text, sizeof(text))), 1);
	ck_assert_uint_eq(format_columns(format_bar(20, 10, 60, text, sizeof(text))), 60);
	ck_assert_str_eq(format_bar(0, 10, 60, text, sizeof(text)), "");
	ck_assert_str_eq(format_bar(0, 0, 60, text, sizeof(text)), "");
	ck_assert_str_eq(format_bar(-1, 10, 60, text, sizeof(text)), "");
	ck_assert_str_eq(format_bar(10, 10, 60, narrow, sizeof(narrow)), "█");
}
END_TEST

START_TEST(sparklines_are_as_high_as_the_value)
{
	ck_assert_str_eq(format_spark(0, 10, true), " ");
	ck_assert_str_eq(format_spark(0.001, 10, true), "▁");
	ck_assert_str_eq(format_spark(5, 10, true), "▄");
	ck_assert_str_eq(format_spark(10, 10, true), "█");
	ck_assert_str_eq(format_spark(20, 10, true), "█");
	ck_assert_str_eq(format_spark(-1, 10, true), " ");
	ck_assert_str_eq(format_spark(1, 0, true), "▁");
	ck_assert_str_eq(format_spark(0, 10, false), " ");
	ck_assert_str_eq(format_spark(5, 10, false), "=");
	ck_assert_str_eq(format_spark(10, 10, false), "@");
}
END_TEST

static const struct {
	const char *text, *wrapped;
} wraps[] = {
	{ "idle 39.55 %, 0.1 %", "idle 39.55 %,\n  0.1 %\n" },
	{ "web[7] ran 1.25 s of CPU time", "web[7] ran 1.25 s\n  of CPU time\n" },
	{ "1 2 3 4 5 6 7 8 9 10 11 12", "1 2 3 4 5 6 7 8 9\n  10 11 12\n" },
	{ " 1  ", "1\n" },
	{ "", "\n" },
	{ "a-word-that-fits-into-no-line 1 of-many-of-these",
	  "a-word-that-fits-into-no-line\n  1 of-many-of-these\n" },
};

START_TEST(a_number_stays_with_its_unit)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	print_wrapped_on(&(struct layout){ .out = out, .columns = 20 }, wraps[_i].text, 2);
	fclose(out);
	ck_assert_str_eq(text, wraps[_i].wrapped);
}
END_TEST

START_TEST(cut_counts_characters_and_marks_itself)
{
	char whole[] = "äöüß", cut[16] = "äöüßé", text[FORMAT_BYTES];

	ck_assert_str_eq(format_cut(whole, 4, sizeof(whole)), "äöüß");
	ck_assert_str_eq(format_cut(cut, 4, sizeof(cut)), "äöü…");
	ck_assert_str_eq(format_basename("/usr/lib/libc.so.6", text, sizeof(text)), "libc.so.6");
	ck_assert_str_eq(format_basename("[vdso]", text, sizeof(text)), "[vdso]");
	ck_assert_str_eq(format_basename("/usr/", text, sizeof(text)), "/usr/");
}
END_TEST

START_TEST(folded_text_cannot_be_a_count_or_a_line)
{
	char text[FORMAT_BYTES];

	ck_assert_str_eq(format_folded("a\nb\x1b", text, sizeof(text)), "a\\x0ab\\x1b");
	ck_assert_str_eq(format_folded("f 5", text, sizeof(text)), "f_5");
	ck_assert_str_eq(format_folded("array<int,  16> x", text, sizeof(text)), "array<int, _16> x");
	ck_assert_str_eq(format_folded("operator new(long)", text, sizeof(text)), "operator new(long)");
}
END_TEST

/* ---- arguments and databases ---- */

START_TEST(mistakes_in_the_command_line_are_usage_errors)
{
	static const struct {
		const char *line, *part;
	} cases[] = {
		{ "", "no subcommand" },
		{ "nope", "unknown subcommand 'nope'" },
		{ "why abc", "'abc' is not a capture's ID" },
		{ "why -- -1", "'-1' is not a capture's ID" },
		{ "why 1x", "'1x' is not a capture's ID" },
		{ "why 99999999999999999999", "is not a capture's ID" },
		{ "why 1 2", "unexpected argument" },
		{ "list 1", "unexpected argument" },
		{ "folded --json", "takes no --json" },
		{ "why --limit 3", "takes no --limit" },
		{ "list --limit 0", "is not a number of rows" },
		{ "list --nope", "unknown option" },
		{ "--nope 3 list", "unknown option '--nope'" },
		{ "--hz=4 list", "'list' takes no --hz: see 'bourdon list --help'" },
		{ "list --limit", "option --limit needs N" },
		{ "db", "no subcommand after 'db'" },
		{ "db nope", "unknown subcommand 'db nope'" },
		{ "help nope", "unknown subcommand 'nope'" },
	};

	assert_refused(database, cases[_i].line, EXIT_USAGE, cases[_i].part);
}
END_TEST

START_TEST(each_subcommand_has_help_of_its_own)
{
	static const struct {
		const char *arguments[4];
		const char *usage, *part, *absent;
	} cases[] = {
		{ { "bourdon", "--help" },
		  "Usage: bourdon [OPTION...] SUBCOMMAND [ID]\n",
		  "  symbolize ",
		  "\t" },
		{ { "bourdon", "why", "-h" }, "Usage: bourdon why [OPTION...] [ID]\n", "--json", "--limit" },
		{ { "bourdon", "--help", "list" },
		  "Usage: bourdon list [OPTION...]\n",
		  "--limit N",
		  "--run-dir" },
		{ { "bourdon", "doctor", "--help" },
		  "Usage: bourdon doctor [",
		  "--run-dir DIR",
		  "--debug-dir" },
		{ { "bourdon", "--db", "why", "--help" }, "Usage: bourdon [OPTION...] ", "doctor", "\t" },
		{ { "bourdon", "help", "why" },
		  "Usage: bourdon why [OPTION...] [ID]\n",
		  "--json",
		  "--limit" },
		{ { "bourdon", "help" }, "Usage: bourdon [OPTION...] ", "doctor", "\t" },
		{ { "bourdon", "help", "db" }, "Usage: bourdon [OPTION...] db ", "db merge", "doctor" },
		{ { "bourdon", "help", "db", "copy" }, "Usage: bourdon db copy [", "--db FILE", "--json" },
	};
	char text[8192] = "", *arguments[5] = { 0 };
	FILE *file = tmpfile();
	int saved = dup(STDOUT_FILENO), status, count = 0;

	while (count < 4 && cases[_i].arguments[count]) {
		arguments[count] = (char *)cases[_i].arguments[count];
		count++;
	}
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	status = command_main(count, arguments, stdout);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	ck_assert_int_gt(pread(fileno(file), text, sizeof(text) - 1, 0), 0);
	fclose(file);
	ck_assert_int_eq(status, EXIT_DONE);
	ck_assert_ptr_eq(strstr(text, cases[_i].usage), text);
	assert_has(text, cases[_i].part);
	assert_has_not(text, cases[_i].absent);
	assert_has(text, "\nExample: bourdon ");
}
END_TEST

START_TEST(options_stand_anywhere)
{
	static const char *const lines[] = { "--limit 1 list --json", "list --limit=1 --json",
					     "--json --limit 1 -- list" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_command_ran_ struct command_ran ran = run(lines[i]);

		ck_assert_int_eq(ran.status, EXIT_DONE);
		assert_has(ran.out, "[\n{\"capture_id\": ");
		assert_has_not(ran.out, "},\n{");
	}
}
END_TEST

START_TEST(the_environment_names_what_no_option_does)
{
	_cleanup_command_ran_ struct command_ran named = { 0 }, given = { 0 }, unset = { 0 }, threads = { 0 };

	setenv("BOURDON_DB", database, 1);
	setenv("BOURDON_RUN_DIR", "/nonexistent/run", 1);
	named = command_run_words("list");
	given = command_run_words("--db /nonexistent/bourdon.db list");
	threads = command_run_words("threads --once --db ignored");
	setenv("BOURDON_DB", "", 1);
	unset = command_run_words("list --rule none-has-this-name");
	ck_assert_int_eq(named.status, EXIT_DONE);
	assert_has(named.out, "TRIGGERED");
	ck_assert_int_eq(given.status, EXIT_FAILED);
	assert_has(given.err, "'/nonexistent/bourdon.db'");
	ck_assert_int_eq(threads.status, EXIT_FAILED);
	assert_has(threads.err, "/nonexistent/run");
	ck_assert(!strstr(unset.err, "''"));
}
END_TEST

START_TEST(each_reason_of_a_loss_is_explained)
{
	for (size_t i = 0; i < LOSS_REASONS; i++) {
		const char *text = loss_text(loss_reasons[i].name);

		ck_assert_msg(text != NULL, "no text for %s", loss_reasons[i].name);
		ck_assert_uint_le(strlen(text), REPORT_COLUMNS - 17);
	}
	ck_assert_ptr_null(loss_text("other"));
}
END_TEST

START_TEST(default_is_the_newest_complete_capture)
{
	_cleanup_command_ran_ struct command_ran newest = run("why --full"), named = run("why 2 --full"),
						 other = run("--json why 1");

	ck_assert_int_eq(newest.status, EXIT_DONE);
	ck_assert_str_eq(newest.err, "");
	ck_assert_str_eq(newest.out, named.out);
	assert_has(newest.out, "capture 2 (complete)");
	assert_asked("SELECT json_extract(?1, '$.capture.capture_id')", other.out, "1");
}
END_TEST

START_TEST(absent_captures_are_named)
{
	assert_refused(database, "why 99", EXIT_FAILED, "no capture 99 in");
	unlink(database);
	write_captures(database, "UPDATE capture SET state = 'interrupted';");
	assert_refused(database, "top", EXIT_FAILED, "no complete capture in");
}
END_TEST

START_TEST(foreign_files_are_refused)
{
	static const char noise[] = "not a database, but long enough to look at";

	assert_refused("/nonexistent/bourdon.db", "why", EXIT_FAILED, "No such file or directory");

	unlink(database);
	write_database(database, "CREATE TABLE capture(capture_id);");
	assert_refused(database, "why", EXIT_FAILED, "not bourdon's");

	unlink(database);
	write_database(database, "PRAGMA application_id = 0x62646f6e; PRAGMA user_version = 1000;"
				 "CREATE TABLE capture(capture_id);");
	assert_refused(database, "list", EXIT_FAILED, "install a newer bourdon");

	unlink(database);
	write_database(database, "PRAGMA application_id = 0x62646f6e; PRAGMA user_version = 12;"
				 "CREATE TABLE capture(capture_id);");
	assert_refused(database, "list", EXIT_FAILED, "no such table: capture_summary");

	file_put(database, noise, sizeof(noise));
	assert_refused(database, "why", EXIT_FAILED, "file is not a database");
	/* last, because everybody may write this one: root drops its privileges */
	assert_refused("/dev/null", "list", EXIT_FAILED, "not bourdon's");
	assert_refused("/tmp", "why", EXIT_FAILED, "Is a directory");
}
END_TEST

START_TEST(reads_while_the_daemon_writes)
{
	sqlite3 *writer;
	struct command_ran before, during;

	ck_assert_int_eq(sqlite3_open(database, &writer), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(writer, "SELECT * FROM run", NULL, NULL, NULL), SQLITE_OK);
	before = run("why");
	ck_assert_int_eq(sqlite3_exec(writer, "BEGIN EXCLUSIVE; DELETE FROM sample_row", NULL, NULL, NULL),
			 SQLITE_OK);
	during = run("why");
	sqlite3_exec(writer, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(writer);
	ck_assert_int_eq(during.status, EXIT_DONE);
	ck_assert_str_eq(before.out, during.out);
	command_ran_free(&before);
	command_ran_free(&during);
}
END_TEST

START_TEST(a_writer_leaves_the_log_to_readers)
{
	_cleanup_free_ char *log = path_join(directory, "bourdon.db-wal");
	struct database writer = { 0 };
	struct stat at;

	ck_assert_int_eq(access(log, F_OK), -1);
	ck_assert_int_eq(database_open_to_write(database, &writer), 0);
	ck_assert_int_eq(database_execute(&writer, "DELETE FROM loss"), 0);
	database_close(&writer);
	ck_assert_int_eq(stat(log, &at), 0);
	ck_assert_int_eq(at.st_size, 0);
}
END_TEST

/* ---- subcommands ---- */

START_TEST(list_shows_the_newest_first)
{
	_cleanup_command_ran_ struct command_ran text = run("list"), json = run("list --json"),
						 one = run("list --limit 1");
	const char *newest = strstr(text.out, "interrupted"), *oldest = strstr(text.out, " old ");

	ck_assert_int_eq(text.status, EXIT_DONE);
	ck_assert(newest && oldest && newest < oldest);
	assert_has(text.out, "cpu some 1.24s/2s");
	assert_has(text.out, "/system.slice/web");
	assert_has(text.out, "we\\x1bb");
	assert_has_not(one.out, " old ");
	assert_asked("SELECT json_array_length(?1)", json.out, "4");
	assert_asked(
		"SELECT group_concat(key) FROM json_each(?1, '$[0]')", json.out,
		"capture_id,state,rule,resource,kind,stall_us,window_us,observed_us,trigger_mode,latency_metric,latency_quantile,latency_limit_ns,latency_observed_ns,latency_window_ns,cgroup,"
		"triggered,triggered_at,history_ns,after_ns,processes,stacks,samples,"
		"expected_samples,received_samples,verdict,blamed_percent,losses,lost_percent,incident_id");
	assert_asked("SELECT json_extract(?1, '$[2].rule') = 'we' || char(27) || 'b'", json.out, "1");
}
END_TEST

START_TEST(why_explains_a_capture)
{
	static const char *const parts[] = {
		"2026-09-21T14:15:00Z",
		"cpu some: stalled 1.24 s in a window of 2 s, threshold 150 ms\n",
		"kernel, on cgroup /system.slice/web\n",
		"9.8 s before the trigger, 5 s after it, at 47 Hz\n",
		"584 of 3 processes, in 4 stacks, on and off CPU\n",
		"  expected  940 samples on CPU, by the CPU time used; 931 were received\n",
		"  verdict   neighbour; not examined: accounts\n",
		"all CPU time of the machine over 6 s, by who took it\n  others 60.0 %, idle 39.5 %\n",
		/* what was not written yet is no negative number */
		"bytes read and written over 6 s, by whom, and by the disks\n",
		"  others 2 GiB and 5 MiB, disks 2 GiB and 0 B, not on disks 0 B and 5 MiB\n",
		"time in interrupts over 6 s; SHARE is of the machine's CPU time\n"
		"INTERRUPT                 KIND     NUMBER      COUNT      TIME    SHARE\n"
		"NET_RX                    softirq       3    1234567    720 ms    6.0 %\n"
		"vir\\x1btio1-req.0         irq          36         99     24 ms    0.2 %\n"
		"all others                irq           -          4     12 ms    0.1 %\n",
		"PROGRAM          COUNT  ENDED  CPU TIME      READ   WRITTEN    MEMORY    SHARE  UNIT OR CGROUP\n",
		"a;b 5\\x1b[31m    12345  12345       6 s     1 MiB     3 GiB       0 B   75.0 %  /qqqqqqqqqqqqqqqqqq…\n",
		"true              5120   5120       2 s       0 B       0 B       0 B   25.0 %  cron.service\n",
		"killed meanwhile; 0 s is the trigger\n"
		"   -0.50 s  my\\x1bsqld[77] in mysql.service, 1 GiB, by the kernel, because /system.slice had used up\n"
		"            its 2 GiB; bash[78] in /user asked for memory\n"
		"    2.00 s  web[79], 1 MiB, by the kernel, because the host's memory was used up; web[79] asked for\n"
		"            memory\n"
		"    1.00 s  a process that root's policy denies, by systemd-oomd[5] in systemd-oomd.service\n"
		"    3.00 s  12 more, the last of them at this time\n",
		"who grew by 1 MiB or more over 6 s, by program: memory of processes, shared pages in each\n"
		"PROGRAM          COUNT    BEFORE     AFTER    GROWTH  UNIT OR CGROUP\n"
		"cpu_hog              1     1 GiB     3 GiB     2 GiB  /system.slice/web\n"
		"\nwho reclaimed memory: TIME in direct reclaim, on CPU and off; of kswapd, CPU TIME in the background\n"
		"PROGRAM          COUNT  RECLAIMS      TIME  CPU TIME  UNIT OR CGROUP\n"
		"cpu_hog              1         7    900 ms      0 ns  /system.slice/web\n"
		"true              5120         9      8 ms       2 s  cron.service\n",
		("memory of cgroups over 6 s, / is the host; REFAULTED was read again after it had been evicted\n"
		 "PROCESSES'    BEFORE  PAGE CACHE    BEFORE  REFAULTED  RECLAIMED  UNIT OR CGROUP\n"
		 "     3 GiB     1 GiB       1 KiB     1 MiB      4 KiB      4 KiB  /\n"
		 "     4 KiB         -         0 B         -          -          -  /\\x1bx\n"),
		"  94.6 %, 11.6 s in 547 samples, cpu_hog\n      burn_cpu (cpu_hog) at main.c:42\n",
		"      main (cpu_hog)\n",
		"      [k] timer_interrupt\n",
		"      … 2 more\n      … the outermost frames are missing\n",
		"  100.0 %, 900 ms in 3 intervals, \\xff\"\\x0az\n",
		"t                target        4243        1       3 s   75.0 %          9\n-                interrupt        -        -    900 ms   22.5 %          4\n-                none             -        -    100 ms    2.5 %          1\n",
		"00000000000000ff     3.1 s        1  t                      1   96.8 %  burn_cpu < main\n00000000000000ff     3.1 s        1  -                      -    3.2 %  -\n",
		"hottest function: burn_cpu (cpu_hog), 94.6 % of on-CPU samples\n",
		"   -10 s       500  █",
		"    -9 s         0\n",
		"     4 s        11  █\n",
		"\nPARTIAL: overwritten-slots 3.3 %\n",
		"             2 stacks (0.3 %): stack-truncated\n                 the stack has more frames than a sample can hold\n",
	};
	_cleanup_command_ran_ struct command_ran ran = run("why 2 --full");
	const char *at = ran.out;

	ck_assert_int_eq(ran.status, EXIT_DONE);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		assert_has(at, parts[i]); /* in this order */
		at = strstr(at, parts[i]);
	}
}
END_TEST

START_TEST(why_names_what_is_missing)
{
	_cleanup_command_ran_ struct command_ran clean = run("why 1 --full"), recording = run("why 3 --full"),
						 interrupted = run("why 4 --full");

	assert_has(clean.out, "losses: none (2 reasons checked)");
	assert_has(clean.out, "no samples on CPU");
	assert_has_not(clean.out, "PARTIAL");
	assert_has(recording.out, "RECORDING: ");
	assert_has(recording.out, "no end yet");
	assert_has(interrupted.out, "INTERRUPTED: ");
	assert_has(interrupted.out, "losses: unknown");
	assert_has_not(interrupted.out, "threshold");
}
END_TEST

/* Who dirtied what kernel threads wrote: only where a disk was short. */
START_TEST(why_says_what_devices_did_for_cgroups)
{
	static const char said[] =
		"what block devices did for cgroups over 6 s, with those below them; WRITTEN: pages that they dirtied\n"
		"      READ     WRITTEN  UNIT OR CGROUP\n"
		"       0 B       2 GiB  /\\x1bx\n"
		"     1 MiB         0 B  cron.service\n\n";
	static const char bytes_sql[] =
		"UPDATE cgroup_memory SET device_read_bytes = 0, device_written_bytes = 2147483648;"
		"INSERT INTO cgroup_memory(capture_id, cgroup, unit, from_at, to_at, device_read_bytes, device_written_bytes) "
		"VALUES(2, '/c', 'cron.service', 1, 6000000001, 1048576, 0), (2, '/d', NULL, 1, 6000000001, 1048575, 0);";
	struct command_ran cpu, io;

	unlink(database);
	write_captures(database, bytes_sql);
	cpu = run("why 2 --full");
	assert_has_not(cpu.out, "block devices did");
	write_database(database, "UPDATE capture SET resource = 'io' WHERE capture_id = 2;");
	io = run("why 2 --full");
	assert_has(io.out, said);
	command_ran_free(&cpu);
	command_ran_free(&io);
}
END_TEST

/* Only where memory was short does it matter that its cgroups were not examined. */
START_TEST(why_says_that_cgroup_v1_was_not_examined)
{
	static const char said[] =
		"memory of cgroups: not examined, because cgroup2 does not have the memory controller\n";
	struct command_ran cpu, memory;

	unlink(database);
	write_captures(database, "UPDATE capture SET resource = 'memory' WHERE capture_id = 4;");
	cpu = run("why 1 --full");
	memory = run("why 4 --full");
	assert_has_not(cpu.out, said);
	assert_has(memory.out, said);
	command_ran_free(&cpu);
	command_ran_free(&memory);
}
END_TEST

/* Five seconds of ten looks: 64 threads of targets, and one hostile process. */
static const char looks_sql[] =
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) VALUES(20, 1, 20, 'io_schedule', 0, 0),"
	" (21, 1, 21, '__ext4_read', 0, 0), (22, 1, 22, 'vfs_read', 0, 0), (23, 1, 23, 'ext4_outer', 0, 0);"
	"INSERT INTO stack_node VALUES(20, NULL, '[23,21,22,20]', 3, 4, x'20');"
	"INSERT INTO thread_look VALUES(2, 0, 10, 640), (2, 1, 10, 640), (2, 2, 10, 640), (2, 3, 10, 640), (2, 4, 10, 640);"
	/* 41 threads, but in the third second 20, each in 5 of the looks */
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 41) INSERT INTO thread_state SELECT 2, 1, i, 't', "
	"'target', 'D', 'read', 3, NULL, 20, 0, 2, 20 FROM n UNION ALL SELECT 2, 1, i, 't', 'target', 'D', 'read', 3, NULL, 20, 2, 1, 5 "
	"FROM n WHERE i <= 20 UNION ALL SELECT 2, 1, i, 't', 'target', 'D', 'read', 3, NULL, 20, 3, 2, 20 FROM n;"
	"INSERT INTO thread_state VALUES(2, 1, 50, 't', 'target', 'S', 'poll', NULL, NULL, 20, 0, 5, 50),"
	" (2, 1, 51, 't', 'target', 'running', NULL, NULL, NULL, NULL, 0, 1, 4),"
	" (2, 1, 52, 't', 'target', 'queued', NULL, NULL, NULL, 20, 0, 5, 50),"
	" (2, 2, 60, 't', 'other', 'D', 'fsync', 3, NULL, 20, 0, 5, 50), (2, 2, 61, 't', 'other', 'D', NULL, NULL, NULL, NULL, 4, 1, 10),"
	" (2, 2, 62, 't', 'other', 'queued', NULL, NULL, NULL, NULL, 9223372036854775807, 9223372036854775807, 9223372036854775807);";

START_TEST(why_says_in_which_state_threads_were)
{
	_cleanup_command_ran_ struct command_ran text = { 0 }, json = { 0 };

	unlink(database);
	write_captures(database, looks_sql);
	text = run("why 2 --full");
	json = run("why 2 --json");
	ck_assert_int_eq(text.status, EXIT_DONE);
	assert_has(text.out,
		   "threads that ran or waited, on average of 50 looks since the trigger\n"
		   "  35 of 64 threads of targets were in D in io_schedule below __ext4_read (read)\n"
		   "      by second: 41 41 10 41 41\n"
		   "  1 of 64 threads of targets were queued for a CPU\n"
		   "      by second: 1 1 1 1 1\n"
		   "  0.1 of 64 threads of targets were running\n"
		   "      by second: 0.4 0 0 0 0\n");
	assert_has(text.out, "were in D\n      by second: 1 1 1 1 2\n");
	assert_asked(
		"SELECT json_extract(?1, '$.states[0].function', '$.states[0].below', '$.states[0].threads', "
		"'$.states[0].of_threads', '$.states[0].seconds[2].threads', '$.states[3].program')",
		json.out, "[\"io_schedule\",\"__ext4_read\",34.8,64,10,\"a;b 5\\u001b[31m\"]");
}
END_TEST

START_TEST(why_as_json_says_the_same)
{
	_cleanup_command_ran_ struct command_ran ran = run("why --json");

	ck_assert_int_eq(ran.status, EXIT_DONE);
	assert_asked(
		"SELECT group_concat(key) FROM json_each(?1)", ran.out,
		"answer,usual,changes,timeline,not_whole,unnamed,capture,asked,incident,pressure,waiting,latency,machine,bytes,cgroup_bytes,interrupts,groups,killed,growth,growth_stacks,reclaim,cgroups,processes,stacks,others,stalls,states,wakers,locks,functions,seconds,recorder,losses");
	assert_asked("SELECT json_extract(?1, '$.functions[0].function')", ran.out, "burn_cpu");
	assert_asked("SELECT json_extract(?1, '$.stacks[0].frames[1].function')", ran.out, "main");
	assert_asked("SELECT json_array_length(?1, '$.stacks[2].frames')", ran.out, "14");
	assert_asked("SELECT json_extract(?1, '$.stalls[0].weight_ns')", ran.out, "900000000");
	assert_asked("SELECT json_extract(?1, '$.processes[1].comm') = 'a;b 5' || char(27) || '[31m'",
		     ran.out, "1");
	assert_asked(
		"SELECT json_extract(?1, '$.processes[2].comm') = char(65533) || '\"' || char(10) || 'z'",
		ran.out, "1");
	assert_asked("SELECT json_extract(?1, '$.wakers[0].tgid', '$.wakers[1].role')", ran.out,
		     "[4243,\"interrupt\"]");
	assert_asked("SELECT json_extract(?1, '$.locks[0].place', '$.locks[0].held_ns')", ran.out,
		     "[\"burn_cpu < main\",3000000000]");
	assert_asked("SELECT json_extract(?1, '$.losses[0].percent')", ran.out, "3.31");
	assert_asked(
		"SELECT count(*) FROM json_each(?1, '$.bytes') WHERE value ->> 'read_bytes' < 0 OR value ->> "
		"'write_bytes' < 0",
		ran.out, "0");
}
END_TEST

/* Capture 2 lost 20 samples, and 2 stacks were cut; capture 1 has a clean ledger. */
START_TEST(each_output_counts_the_same_losses)
{
	static const char losses[] = "[22,3.31]", none[] = "[0,0]";
	_cleanup_command_ran_ struct command_ran list = run("list --json"), why = run("why 2 --json"),
						 show = run("show 2 --json"), text = run("show 2"),
						 clean = run("show 1 --json");

	assert_asked("SELECT json_extract(value, '$.losses', '$.lost_percent') FROM json_each(?1) WHERE "
		     "value ->> 'capture_id' = 2",
		     list.out, losses);
	/* a name is there once */
	assert_asked("SELECT count(*) FROM json_each(?1, '$[0]') WHERE key = 'losses'", list.out, "1");
	assert_asked("SELECT json_extract(?1, '$.capture.losses', '$.capture.lost_percent')", why.out,
		     losses);
	assert_asked("SELECT json_extract(?1, '$.capture.losses', '$.capture.lost_percent')", show.out,
		     losses);
	assert_asked("SELECT json_extract(?1, '$.capture.losses', '$.capture.lost_percent')", clean.out,
		     none);
	assert_has(text.out, "  losses             22\n");
	assert_has(text.out, "  lost_percent       3.3 %\n");
	/* where only stacks were lost, too */
	write_database(database, "DELETE FROM loss WHERE unit = 'sample'");
	command_ran_free(&list);
	list = run("list --json");
	assert_asked(
		"SELECT json_extract(value, '$.losses') FROM json_each(?1) WHERE value ->> 'capture_id' = 2",
		list.out, "2");
}
END_TEST

START_TEST(pressure_agrees_with_the_view)
{
	struct command_ran ran;

	unlink(database);
	write_captures(database,
		       "INSERT INTO pressure VALUES(2, 1790000100000000000, 'system', 'cpu', 100, NULL),"
		       " (2, 1790000104000000000, 'system', 'cpu', 900, NULL),"
		       " (2, 1790000100000000000, '/system.slice/web', 'io', 100, 50),"
		       " (2, 1790000104000000000, '/system.slice/web', 'io', 100, 50),"
		       " (2, 1790000100000000000, 'targets', 'cpu', 0, NULL),"
		       " (2, 1790000104000000000, 'system', 'memory', 7, 7);");
	ran = run("why 2 --json");
	assert_asked("SELECT json_array_length(?1, '$.pressure')", ran.out, "2"); /* memory did not stall */
	assert_asked(
		"SELECT count(*) FROM (SELECT scope, resource, of_ns, some_ns, full_ns, targets_ns, formula_ns,"
		" formula_some_ns, unexplained_ns, explained_percent FROM reconciliation WHERE capture_id = 2"
		" AND resource <> 'memory' EXCEPT SELECT value ->> 'scope', value ->> 'resource', value ->> 'of_ns',"
		" value ->> 'some_ns', value ->> 'full_ns', value ->> 'targets_ns', value ->> 'formula_ns',"
		" value ->> 'formula_some_ns', value ->> 'unexplained_ns', value ->> 'explained_percent'"
		" FROM json_each(?1, '$.pressure'))",
		ran.out, "0");
	assert_asked("SELECT json_extract(?1, '$.pressure[0].targets_ns')", ran.out, "1900000000");
	command_ran_free(&ran);
}
END_TEST

START_TEST(a_long_capture_has_a_short_chart)
{
	static const char *const parts[] = { "samples on CPU per 8 s", "  -104 s         4",
					     "     0 s         8", "   192 s         8" };
	struct command_ran ran;

	unlink(database);
	write_captures(database, "WITH s(n) AS (VALUES(-100) UNION ALL SELECT n + 1 FROM s WHERE n < 199) "
				 "INSERT INTO sample_row SELECT 1, 1, 1, 1, n, 1, 1, NULL FROM s;");
	ran = run("why 1 --full");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_has(ran.out, parts[i]);
	command_ran_free(&ran);
}
END_TEST

START_TEST(top_agrees_with_the_view)
{
	_cleanup_command_ran_ struct command_ran json = run("top --json"), one = run("top --limit 1"),
						 none = run("top 1");

	assert_asked(
		"SELECT json_array_length(?1) = (SELECT count(*) FROM hot_function WHERE capture_id = 2)",
		json.out, "1");
	assert_asked("SELECT group_concat(key, ' ') FROM json_each(json_extract(?1, '$[0]'))", json.out,
		     "function module module_kind samples total_samples weight_ns percent total_percent");
	assert_asked(
		"SELECT count(*) FROM (SELECT function, module, module_kind, samples, total_samples,"
		" weight_ns, percent, total_percent FROM hot_function WHERE capture_id = 2 AND function != "
		"CAST(x'c3' AS TEXT)"
		" EXCEPT SELECT value ->> 'function', value ->> 'module', value ->> 'module_kind',"
		" value ->> 'samples', value ->> 'total_samples', value ->> 'weight_ns', value ->> 'percent',"
		" value ->> 'total_percent' FROM json_each(?1))",
		json.out, "0");
	assert_has(one.out, "547   94.6 %   98.1 %  burn_cpu");
	assert_has_not(one.out, "timer_interrupt");
	assert_has(none.out, "capture 1 has no samples on CPU");
}
END_TEST

/* Addresses without a name are one function of their module; what leads by what it calls is shown, too. */
START_TEST(top_groups_what_has_no_name)
{
	_cleanup_free_ char *path = path_join(directory, "unnamed.db");
	_cleanup_command_ran_ struct command_ran top = { 0 }, why = { 0 };

	write_captures(
		path,
		"INSERT INTO module(module_id, path, version, kind) VALUES(4, '/lib/libz.so.1', '', 'file');"
		"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES(20, 4, 16, 'libz+0x10', NULL, NULL, NULL, 0),"
		" (21, 4, 32, 'libz+0x20', NULL, NULL, NULL, 0), (22, 4, 48, 'deflate', 0, NULL, NULL, 0);"
		"INSERT INTO stack_node VALUES(20, NULL, '[22,20]', 3, 2, x'20'), (21, NULL, '[22,21]', 3, 2, x'21');"
		"INSERT INTO sample_row VALUES(1, 20, 1, 1, 0, 60, 6, NULL), (1, 21, 1, 1, 0, 40, 4, NULL);");
	top = command_run_words("--db %s top 1", path);
	why = command_run_words("--db %s why 1 --full", path);
	ck_assert_int_eq(top.status, EXIT_DONE);
	assert_has(top.out, "functions with most samples in themselves (SELF)\n");
	assert_has(top.out, "     100  100.0 %  100.0 %  [unresolved] in libz.so.1 ");
	assert_has(top.out, "\nfunctions with most samples in themselves and their callees (TOTAL)\n");
	assert_has(strstr(top.out, "callees (TOTAL)"), "     100    0.0 %  100.0 %  deflate ");
	assert_has_not(top.out, "libz+0x");
	assert_has(why.out, "hottest function: [unresolved] in libz.so.1, 100.0 % of on-CPU samples\n");
	assert_has(why.out, "0.0 %  100.0 %  deflate ");
}
END_TEST

/* Of the kernel's function alone, which a compiler may have given another name. */
START_TEST(top_says_where_ticks_come_late)
{
	static const char *const kinds[] = { "kernel", "file" };
	_cleanup_free_ char *path = path_join(directory, "late.db");
	_cleanup_command_ran_ struct command_ran top = { 0 };
	char sql[512];

	snprintf(
		sql, sizeof(sql),
		"INSERT INTO module(module_id, path, version, kind) VALUES(4, 'x', '', '%s');"
		"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) "
		"VALUES(20, 4, 16, 'finish_task_switch.isra.0', 0, NULL, NULL, 0);"
		"INSERT INTO stack_node VALUES(20, NULL, '[20]', 3, 1, x'20');"
		"INSERT INTO sample_row VALUES(1, 20, 1, 1, 0, 60, 6, NULL);",
		kinds[_i]);
	write_captures(path, sql);
	top = command_run_words("--db %s top 1", path);
	ck_assert_int_eq(top.status, EXIT_DONE);
	assert_has(top.out, "finish_task_switch.isra.0");
	ck_assert(!strstr(top.out, "finish_task_switch: here the kernel lets interrupts in again") ==
		  (_i == 1));
}
END_TEST

START_TEST(list_agrees_with_why_about_losses)
{
	_cleanup_command_ran_ struct command_ran text = run("list");

	assert_has(text.out, "PARTIAL 3.3 %"); /* capture 2, as in why_explains_a_capture */
	assert_has(text.out, "0.0 %");
}
END_TEST

START_TEST(an_empty_database_tells_what_comes)
{
	_cleanup_free_ char *path = path_join(directory, "empty.db"), *sql = NULL;
	_cleanup_command_ran_ struct command_ran list = { 0 }, why = { 0 }, status = { 0 };

	ck_assert_int_gt(asprintf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; %s",
				  SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql),
			 0);
	write_database(path, sql);
	list = command_run_words("--db %s list", path);
	why = command_run_words("--db %s why", path);
	status = command_run_words("--db %s status", path);
	ck_assert_int_eq(list.status, EXIT_DONE);
	assert_has(list.out, "no captures yet: bourdond stores one when a rule fires");
	ck_assert_int_eq(why.status, EXIT_FAILED);
	assert_has(why.err, "no capture in '");
	assert_has_not(why.err, "bourdon list");
	ck_assert_int_eq(status.status, EXIT_FAILED);
	assert_has(status.out, "no bourdond is running for ");
	assert_has(status.out, "the database records no earlier run\n");
}
END_TEST

START_TEST(status_without_a_daemon)
{
	_cleanup_free_ char *none = path_join(directory, "none.db");
	_cleanup_command_ran_ struct command_ran status = command_run_words("--db %s status", none),
						 json = command_run_words("--db %s --json status", none),
						 last = run("status");

	ck_assert_int_eq(status.status, EXIT_FAILED);
	assert_has(status.out, "start it with '");
	assert_has(status.out, "there is no database yet");
	ck_assert_str_eq(status.err, "");
	assert_asked("SELECT json_extract(?1, '$.running') || json_type(?1, '$.last_run')", json.out,
		     "0null");
	assert_has(last.out,
		   "its last run began 1970-01-01T00:00:00Z and ended at an unknown time, with 4 captures\n");
}
END_TEST

START_TEST(a_limit_only_cuts)
{
	_cleanup_free_ char *wanted = NULL;
	_cleanup_command_ran_ struct command_ran all = run("top --json"), some = { 0 };
	char line[32], sql[128];

	snprintf(line, sizeof(line), "top --json --limit %d", _i);
	some = run(line);
	snprintf(sql, sizeof(sql),
		 "SELECT json_group_array(json(value)) FROM (SELECT value FROM json_each(?1) LIMIT %d)", _i);
	wanted = asked(sql, all.out);
	assert_asked("SELECT json(?1)", some.out, wanted);
}
END_TEST

START_TEST(folded_has_a_line_for_each_stack)
{
	_cleanup_command_ran_ struct command_ran ran = run("folded");
	const char *line = ran.out;

	ck_assert_int_eq(ran.status, EXIT_DONE);
	assert_has(ran.out, "\ncpu_hog;main;burn_cpu 547\ncpu_hog;main;burn_cpu;timer_interrupt_[k] 20\n");
	assert_has(ran.out, "a:b_5\\x1b[31m;evil:<script> \"quoted\"\\x0a\\x1b[2J_7;main;main;");
	assert_has(ran.out, "\\xff\"\\x0az 1\n"); /* no frames */
	assert_has_not(ran.out, "0.9");
	for (int lines = 0; *line; line = strchr(line, '\n') + 1)
		ck_assert_int_le(++lines, 4);
}
END_TEST

/* Aliases, and what they stand for. */
static const struct {
	const char *alias, *stands_for;
} aliases[] = {
	{ "folded", "export --format folded --role target" },
	{ "folded --off-cpu", "export --format folded --role target --kind offcpu" },
	{ "show 1", "why --section stored 1" },
	{ "show --json 1", "why --section stored --json 1" },
};

START_TEST(alias_prints_what_it_stands_for)
{
	_cleanup_command_ran_ struct command_ran alias = run(aliases[_i].alias),
						 whole = run(aliases[_i].stands_for);

	ck_assert_int_eq(alias.status, EXIT_DONE);
	ck_assert(*alias.out);
	ck_assert_str_eq(alias.out, whole.out);
}
END_TEST

START_TEST(alias_takes_its_own_options_alone)
{
	_cleanup_command_ran_ struct command_ran kind = run("folded --kind offcpu"),
						 full = run("show --full"),
						 beside = run("why --section stacks,stored");

	ck_assert_int_eq(kind.status, EXIT_USAGE);
	assert_has(kind.err, "'folded' takes no --kind: see 'bourdon folded --help'");
	ck_assert_int_eq(full.status, EXIT_USAGE);
	assert_has(full.err, "'show' takes no --full: see 'bourdon show --help'");
	ck_assert_int_eq(beside.status, EXIT_USAGE);
	assert_has(beside.err, "--section stored takes no other section beside it");
}
END_TEST

START_TEST(why_shows_stacks_of_others)
{
	_cleanup_command_ran_ struct command_ran text = { 0 }, json = { 0 };

	unlink(database);
	write_captures(database, "INSERT INTO sample_class VALUES(90, 'on-cpu', 'none', 'other');"
				 "INSERT INTO sample_row VALUES(2, 1, 1, 90, 0, 7, NULL, NULL);");
	json = run("why 2 --section others --json");
	assert_asked(
		"SELECT json_extract(?1, '$.others[0].frames[0].function', '$.others[0].frames[1].function', "
		"'$.others[0].samples', '$.others[1]')",
		json.out, "[\"burn_cpu\",\"main\",7,null]");
	text = run("why 2 --section others");
	assert_has(
		text.out,
		"  100.0 %, 149 ms in 7 samples, cpu_hog\n      burn_cpu (cpu_hog) at main.c:42\n      main (cpu_hog)\n");
}
END_TEST

#define OF_RECORDER "(2, 1000000000, 4000000000, 'recorder', "
#define OF_BOTH                                                                                              \
	"INSERT INTO statistic VALUES" OF_RECORDER                                                           \
	"'own', NULL, 'cpu_ns', 1000000000, 1250000000), " OF_RECORDER                                       \
	"'own', NULL, 'resident_bytes', 1048576, 2097152), " OF_RECORDER                                     \
	"'own', NULL, 'unit_bytes', NULL, NULL), " OF_RECORDER                                               \
	"'queue', 'oncpu', 'depth', NULL, 42), " OF_RECORDER "'queue', 'oncpu', 'lag_ns', NULL, 3000000);"
#define COUNTED                                                                                              \
	"INSERT INTO statistic VALUES" OF_RECORDER                                                           \
	"'own', NULL, 'program_time_counted', 1, 1), " OF_RECORDER                                           \
	"'bpf', 'offcpu_' || char(27) || '[2J', 'run_ns', 5, 6000005), " OF_RECORDER                         \
	"'bpf', 'tiny', 'run_ns', 5, 6), " OF_RECORDER "'bpf', 'oncpu_tick', 'missed', 1, 3);"
#define NOT_COUNTED "INSERT INTO statistic VALUES" OF_RECORDER "'own', NULL, 'program_time_counted', 0, 0);"

START_TEST(why_shows_what_recording_took)
{
	struct command_ran text;

	unlink(database);
	write_captures(database, OF_BOTH COUNTED);
	text = run("why 2 --section recorder");
	assert_has(text.out, "what recording took over 3 s\n");
	assert_has(text.out, "CPU time of bourdond  ");
	assert_has(text.out, " 250 ms\n");
	assert_has(text.out, " 2 MiB\n");
	assert_has_not(text.out, "memory of its unit");
	assert_has(text.out, "most that waited in queue oncpu  ");
	assert_has(text.out, "longest lag of queue oncpu  ");
	assert_has(text.out, "in-kernel program offcpu_\\x1b[2J");
	assert_has(text.out, " 6 ms\n");
	assert_has_not(text.out, "tiny");
	assert_has(text.out, "runs that the kernel left out of oncpu_tick");
	assert_has_not(text.out, "not counted");
	command_ran_free(&text);
	unlink(database);
	write_captures(database, OF_BOTH NOT_COUNTED);
	text = run("why 2 --section recorder");
	assert_has(text.out, "time of in-kernel programs: not counted; 'sysctl kernel.bpf_stats_enabled=1'");
	assert_has_not(text.out, "in-kernel program ");
	command_ran_free(&text);
}
END_TEST

START_TEST(equal_lines_are_merged)
{
	struct command_ran ran;

	unlink(database);
	write_captures(
		database,
		"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup) VALUES(4, 1, 1, 1, 'cpu;hog', NULL, 0, NULL), (5, 1, "
		"2, 1, 'cpu:hog', NULL, 0, NULL);"
		"INSERT INTO thread VALUES(4, 4, 1, 't'), (5, 5, 1, 't');"
		"INSERT INTO sample_row VALUES(1, 1, 4, 1, 0, 2, 1, NULL), (1, 1, 5, 4, 1, 3, 1, NULL);");
	ran = run("folded 1");
	ck_assert_str_eq(ran.out, "cpu:hog;main;burn_cpu 5\n");
	command_ran_free(&ran);
}
END_TEST

/* ---- hostile databases ---- */

START_TEST(no_name_reaches_a_terminal_raw)
{
	static const char *const lines[] = { "list",   "why",         "why --full", "top",
					     "folded", "list --json", "why --json", "top --json" };
	_cleanup_command_ran_ struct command_ran ran = run(lines[_i]);

	ck_assert_int_eq(ran.status, EXIT_DONE);
	for (const char *at = ran.out; *at; at++)
		ck_assert_msg(*at == '\n' || (unsigned char)*at >= 0x20, "byte %d in:\n%.2000s", *at,
			      ran.out);
	if (strstr(lines[_i], "--json"))
		assert_asked("SELECT json_valid(?1)", ran.out, "1");
}
END_TEST

START_TEST(why_fits_the_terminal)
{
	_cleanup_command_ran_ struct command_ran ran = run("why --full");

	for (char *line = strtok(ran.out, "\n"); line; line = strtok(NULL, "\n"))
		/* a command is not cut */
		ck_assert_msg(format_columns(line) <= REPORT_COLUMNS || !strncmp(line, "  look at ", 10),
			      "too wide: %s", line);
}
END_TEST

static int number_of(sqlite3 *sqlite, const char *sql)
{
	sqlite3_stmt *statement;
	int number;

	ck_assert_int_eq(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

START_TEST(a_hostile_schema_runs_no_code)
{
	_cleanup_database_ struct database opened = { 0 };
	int defensive = 0, triggers = 1;

	if (_i)
		ck_assert_int_eq(database_open_to_write(database, &opened), 0);
	else
		ck_assert_int_eq(database_open(database, &opened), 0);
	sqlite3_db_config(opened.sqlite, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
	sqlite3_db_config(opened.sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &triggers);
	ck_assert(defensive && !triggers);
	ck_assert_int_eq(number_of(opened.sqlite, "PRAGMA trusted_schema"), 0);
	ck_assert_int_eq(number_of(opened.sqlite, "PRAGMA cell_size_check"), 1);
	ck_assert_int_eq(number_of(opened.sqlite, "PRAGMA query_only"), !_i);
}
END_TEST

/* Tables with the expected names may hold anything. */
START_TEST(hostile_tables_do_no_harm)
{
	static const char *const hostile[] = {
		"UPDATE sample_row SET second = -9223372036854775807 WHERE second = -10;"
		"UPDATE sample_row SET second = 9223372036854775807 WHERE second = 4;",
		"UPDATE sample_row SET samples = 9223372036854775807, weight_ns = -9223372036854775807;",
		"UPDATE capture SET stall_us = 9223372036854775807, window_us = -9223372036854775807 - 1,"
		" observed_us = 9223372036854775807, triggered_at = -9223372036854775807, history_ns = -1;",
		"DROP VIEW data_quality; CREATE VIEW data_quality AS SELECT 2 AS capture_id, NULL AS reason,"
		" 'x' AS events, 9e999 AS percent;",
		"DROP VIEW capture_summary; CREATE VIEW capture_summary AS SELECT 2 AS capture_id, 1 AS "
		"triggered_at;",
		"DROP VIEW sample; CREATE VIEW sample AS SELECT capture_id, 1 AS process_id, stack_id, 'on-cpu' AS kind,"
		" 'none' AS stall, CASE samples % 2 WHEN 0 THEN 40 ELSE x'00' END AS second, samples, weight_ns "
		"FROM sample_row;",
		"DROP VIEW sample; CREATE VIEW sample AS SELECT capture_id, 1 AS process_id, stack_id, 'on-cpu' AS kind,"
		" 'none' AS stall, random() AS second, samples, weight_ns FROM sample_row;",
		/* a node that is its own parent, text that is no array, a depth that does not fit */
		"UPDATE stack_node SET parent_id = 1, depth = -5 WHERE node_id = 1;",
		"UPDATE stack_node SET frames = '[[1],2' WHERE node_id = 1; UPDATE sample_row SET times = 'x';",
		"DELETE FROM stack_node; DELETE FROM module; DELETE FROM process;",
	};
	static const char *const lines[] = { "list",         "why 2", "why 2 --full",
					     "why 2 --json", "top 2", "folded 2" };

	unlink(database);
	write_captures(database, hostile[_i]);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_command_ran_ struct command_ran ran = run(lines[i]);

		ck_assert_int_ge(ran.status, EXIT_DONE);
		ck_assert_int_le(ran.status, EXIT_FAILED);
		ck_assert_int_eq(ran.status == EXIT_FAILED, *ran.err != '\0');
	}
}
END_TEST

SUITE(report)
{
	Suite *suite = suite_create("report");
	TCase *format = tcase_create("format"), *commands = tcase_create("commands");

	tcase_add_loop_test(format, duration_has_three_digits_and_a_unit, 0, 15);
	tcase_add_test(format, percent_never_rounds_something_to_nothing);
	tcase_add_test(format, bar_fits_and_shows_the_least);
	tcase_add_test(format, sparklines_are_as_high_as_the_value);
	tcase_add_test(format, cut_counts_characters_and_marks_itself);
	tcase_add_loop_test(format, a_number_stays_with_its_unit, 0, ARRAY_SIZE(wraps));
	tcase_add_test(format, folded_text_cannot_be_a_count_or_a_line);
	suite_add_tcase(suite, format);

	tcase_add_checked_fixture(commands, set_up, tear_down);
	tcase_add_loop_test(commands, mistakes_in_the_command_line_are_usage_errors, 0, 18);
	tcase_add_loop_test(commands, each_subcommand_has_help_of_its_own, 0, 9);
	tcase_add_test(commands, options_stand_anywhere);
	tcase_add_test(commands, the_environment_names_what_no_option_does);
	tcase_add_test(commands, each_reason_of_a_loss_is_explained);
	tcase_add_test(commands, default_is_the_newest_complete_capture);
	tcase_add_test(commands, absent_captures_are_named);
	tcase_add_test(commands, foreign_files_are_refused);
	tcase_add_test(commands, reads_while_the_daemon_writes);
	tcase_add_test(commands, a_writer_leaves_the_log_to_readers);
	tcase_add_test(commands, list_shows_the_newest_first);
	tcase_add_test(commands, why_explains_a_capture);
	tcase_add_test(commands, why_names_what_is_missing);
	tcase_add_test(commands, why_says_what_devices_did_for_cgroups);
	tcase_add_test(commands, why_says_that_cgroup_v1_was_not_examined);
	tcase_add_test(commands, why_says_in_which_state_threads_were);
	tcase_add_test(commands, why_as_json_says_the_same);
	tcase_add_test(commands, each_output_counts_the_same_losses);
	tcase_add_test(commands, pressure_agrees_with_the_view);
	tcase_add_test(commands, a_long_capture_has_a_short_chart);
	tcase_add_test(commands, top_agrees_with_the_view);
	tcase_add_test(commands, top_groups_what_has_no_name);
	tcase_add_loop_test(commands, top_says_where_ticks_come_late, 0, 2);
	tcase_add_test(commands, list_agrees_with_why_about_losses);
	tcase_add_test(commands, an_empty_database_tells_what_comes);
	tcase_add_test(commands, status_without_a_daemon);
	tcase_add_loop_test(commands, a_limit_only_cuts, 1, 10);
	tcase_add_test(commands, folded_has_a_line_for_each_stack);
	tcase_add_loop_test(commands, alias_prints_what_it_stands_for, 0, ARRAY_SIZE(aliases));
	tcase_add_test(commands, alias_takes_its_own_options_alone);
	tcase_add_test(commands, why_shows_stacks_of_others);
	tcase_add_test(commands, why_shows_what_recording_took);
	tcase_add_test(commands, equal_lines_are_merged);
	tcase_add_loop_test(commands, no_name_reaches_a_terminal_raw, 0, 8);
	tcase_add_test(commands, why_fits_the_terminal);
	tcase_add_loop_test(commands, a_hostile_schema_runs_no_code, 0, 2);
	tcase_add_loop_test(commands, hostile_tables_do_no_harm, 0, 10);
	suite_add_tcase(suite, commands);
	return suite;
}
