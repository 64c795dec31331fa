/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of 'bourdon export': what each format has is what SQL says, for honest and hostile names, and for damaged databases.
 * JSON is read by SQLite.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/store/schema.h"
#include "common/system/options.h"
#include "common/text/escape.h"
#include "report/context/output_file.h"
#include "report/export/export.h"
#include "report/text/csv.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static struct export_fixture fixture;

static void set_up(void)
{
	export_fixture_make(&fixture);
}

static void tear_down(void)
{
	export_fixture_free(&fixture);
}

static const char *const formats[] = { "firefox",  "pprof",  "perf-script", "speedscope",
				       "perfetto", "folded", "csv",         "json" };

/* ---- the command line ---- */

static const struct {
	const char *line, *part;
} refused[] = {
	{ "export",
	  "'export' needs --format, one of firefox, pprof, perf-script, speedscope, perfetto, folded, csv or json" },
	{ "export --format svg", "--format 'svg' is unknown" },
	{ "export --format csv --kind waiting",
	  "--kind 'waiting' is unknown: expected oncpu, offcpu, on-cpu or off-cpu" },
	{ "export --format csv --stall disk", "--stall 'disk' is unknown" },
	{ "export --format csv --role victim",
	  "--role 'victim' is unknown: expected target, other, kernel or all" },
	{ "export --format csv -o", "option -o needs FILE" },
	{ "export --format csv 1 2", "unexpected argument '2'" },
	{ "why -o x", "'why' takes no -o" },
	{ "export --format csv --off-cpu", "'export' takes no --off-cpu" },
};

START_TEST(mistakes_on_the_command_line_are_refused)
{
	_cleanup_command_ran_ struct command_ran ran =
		command_run_words("--db %s %s", fixture.path, refused[_i].line);

	ck_assert_int_eq(ran.status, EXIT_USAGE);
	ck_assert_str_eq(ran.out, "");
	ck_assert_msg(strstr(ran.err, refused[_i].part), "'%s' is not in: %s", refused[_i].part, ran.err);
}
END_TEST

START_TEST(every_format_has_its_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		ck_assert_str_eq(export_format_find(formats[i])->name, formats[i]);
		ck_assert(strstr(EXPORT_FORMATS, formats[i]));
	}
	ck_assert_ptr_null(export_format_find("fire"));
}
END_TEST

/* ---- sums ---- */

/* An expression of SQL over ?1, the output, beside one over the database. */
static const struct {
	const char *options, *of_output, *of_database;
} sums[] = {
	{ "firefox", "SELECT sum(json_array_length(value, '$.samples.data')) FROM json_each(?1, '$.threads')",
	  "SELECT sum(samples) FROM all_sample WHERE kind = 'on-cpu'" },
	{ "firefox",
	  "SELECT count(*) FROM json_each(?1, '$.threads') t, json_each(t.value, '$.markers.data') m WHERE "
	  "json_extract(m.value, '$[5].type') = 'OffCpu'",
	  "SELECT sum(samples) FROM all_sample WHERE kind = 'off-cpu'" },
	{ "firefox",
	  "SELECT count(*) FROM json_each(?1, '$.threads') t, json_each(t.value, '$.markers.data') m WHERE "
	  "json_extract(m.value, '$[5].type') = 'Kill'",
	  "SELECT count(*) FROM killed" },
	/* the counters of CPU time: samples, and ms */
	{ "firefox",
	  "SELECT sum(json_extract(s.value, '$[2]')) FROM json_each(?1, '$.counters') c, json_each(c.value, '$.samples.data') s "
	  "WHERE json_extract(c.value, '$.category') = 'CPU time'",
	  "SELECT sum(samples) FROM all_sample WHERE kind = 'on-cpu'" },
	{ "firefox",
	  "SELECT CAST(round(sum(json_extract(s.value, '$[1]'))) AS INTEGER) FROM json_each(?1, '$.counters') c, "
	  "json_each(c.value, '$.samples.data') s WHERE json_extract(c.value, '$.category') = 'PSI'",
	  "SELECT (SELECT max(some_us) - min(some_us) + max(full_us) - min(full_us) FROM pressure) / 1000" },
	/* each stack has a frame, each frame a string, each prefix is before it */
	{ "firefox",
	  "SELECT count(*) FROM json_each(?1, '$.threads') t, json_each(t.value, '$.stackTable.data') s WHERE "
	  "ifnull(json_extract(s.value, '$[0]'), -1) >= s.key OR json_extract(s.value, '$[1]') >= json_array_length(t.value, "
	  "'$.frameTable.data')",
	  "SELECT 0" },
	{ "firefox",
	  "SELECT count(*) FROM json_each(?1, '$.threads') t, json_each(t.value, '$.frameTable.data') f WHERE "
	  "json_extract(f.value, '$[0]') >= json_array_length(t.value, '$.stringTable')",
	  "SELECT 0" },
	{ "speedscope",
	  "SELECT sum(w.value) FROM json_each(?1, '$.profiles') p, json_each(p.value, '$.weights') w WHERE "
	  "json_extract(p.value, '$.samples[' || w.key || '][0]') IS NOT NULL OR w.value = 21276595",
	  "SELECT sum(weight_ns) FROM all_sample" },
	{ "json", "SELECT sum(json_extract(value, '$.weight_ns')) FROM json_each(?1, '$.samples')",
	  "SELECT sum(weight_ns) FROM all_sample" },
	{ "json --stall io", "SELECT sum(json_extract(value, '$.weight_ns')) FROM json_each(?1, '$.samples')",
	  "SELECT sum(weight_ns) FROM all_sample WHERE stall IN ('io', 'memory+io')" },
	{ "json --stall memory+io",
	  "SELECT sum(json_extract(value, '$.weight_ns')) FROM json_each(?1, '$.samples')",
	  "SELECT sum(weight_ns) FROM all_sample WHERE stall = 'memory+io'" },
	{ "json --stall none",
	  "SELECT sum(json_extract(value, '$.weight_ns')) FROM json_each(?1, '$.samples')",
	  "SELECT sum(weight_ns) FROM all_sample WHERE stall = 'none'" },
	{ "json --kind on-cpu --role kernel",
	  "SELECT sum(json_extract(value, '$.samples')) FROM json_each(?1, '$.samples')",
	  "SELECT sum(samples) FROM all_sample WHERE role = 'kernel'" },
	{ "json",
	  "SELECT group_concat(value ->> 'span' || ' ' || (value ->> 'lower_ns') || ' ' || (value ->> 'count'), ', ') FROM json_each(?1, "
	  "'$.histograms') WHERE value ->> 'metric' = 'lock'",
	  "SELECT group_concat(span || ' ' || lower_ns || ' ' || count, ', ') FROM (SELECT * FROM histogram WHERE metric = 'lock' "
	  "ORDER BY span)" },
	{ "json",
	  "SELECT json_array_length(?1, '$.latency_measured') || ' ' || json_extract(?1, '$.growth[0].comm') || ' ' || "
	  "json_extract(?1, '$.growth[0].bytes') || ' ' || (SELECT count(*) FROM json_each(?1, '$.stacks') WHERE value ->> 'stack_id' = "
	  "json_extract(?1, '$.growth[0].stack_id'))",
	  "SELECT '3 hog 8388608 1'" },
	{ "json", "SELECT json_array_length(?1, '$.killed') || ' ' || json_array_length(?1, '$.pressure')",
	  "SELECT (SELECT count(*) FROM killed) || ' ' || (SELECT count(*) FROM pressure)" },
};

START_TEST(sums_are_those_of_the_database)
{
	_cleanup_command_ran_ struct command_ran ran =
		command_run_words("--db %s export 1 --format %s", fixture.path, sums[_i].options);
	_cleanup_free_ char *expected = export_fixture_ask(&fixture, sums[_i].of_database, NULL),
			    *found = NULL;

	ck_assert_msg(!ran.status, "%s", ran.err);
	found = export_fixture_ask(&fixture, sums[_i].of_output, ran.out);
	ck_assert_msg(!strcmp(expected, found), "%s: %s, not %s", sums[_i].of_output, found, expected);
}
END_TEST

static int64_t count_lines(const char *text, const char *end)
{
	int64_t count = 0;

	for (const char *at = strstr(text, end); at; at = strstr(at + 1, end))
		count++;
	return count;
}

START_TEST(perf_script_and_csv_have_a_record_for_each)
{
	_cleanup_command_ran_ struct command_ran script =
		command_run_words("--db %s export 1 --format perf-script", fixture.path);
	_cleanup_command_ran_ struct command_ran waits =
		command_run_words("--db %s export 1 --format perf-script --kind offcpu", fixture.path);
	_cleanup_command_ran_ struct command_ran csv =
		command_run_words("--db %s export 1 --format csv", fixture.path);

	ck_assert_int_eq(
		count_lines(script.out, " cpu-clock:\n"),
		export_fixture_number(&fixture, "SELECT sum(samples) FROM all_sample WHERE kind = 'on-cpu'"));
	ck_assert_int_eq(count_lines(script.out, "offcpu-time:\n"), 0);
	ck_assert_int_eq(count_lines(waits.out, " offcpu-time:\n"),
			 export_fixture_number(&fixture,
					       "SELECT sum(samples) FROM all_sample WHERE kind = 'off-cpu'"));
	ck_assert_int_eq(count_lines(csv.out, "\r\n"),
			 1 + export_fixture_number(&fixture, "SELECT count(*) FROM all_sample"));
	ck_assert(strstr(
		csv.out,
		"1,\"target\",4242,\"web\",4243,\"worker\",\"web.service\",\"/web\",\"off-cpu\",\"io\",1,2,"
		"150000000,\"main;inner;schedule_[k]\",\"[[-100,20,0],[30,60,null]]\"\r\n"));
}
END_TEST

static const struct {
	const char *text, *field;
} csv_fields[] = {
	{ "nginx", "\"nginx\"" },
	{ "=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\"" },
	{ "+1+cmd|' /C calc'!A0", "\"'+1+cmd|' /C calc'!A0\"" },
	{ "@SUM(1)", "\"'@SUM(1)\"" },
	{ "-2+3", "\"'-2+3\"" },
	{ "-", "\"-\"" },
	{ "\uff1d1+1", "\"'\uff1d1+1\"" },
	{ "\t=1", "\"\\x09=1\"" },
	{ "\r=1", "\"\\x0d=1\"" },
	/* numbers, and what is no begin */
	{ "-100", "\"-100\"" },
	{ "-0.5", "\"-0.5\"" },
	{ "42", "\"42\"" },
	{ "a=1", "\"a=1\"" },
	{ "", "\"\"" },
};

START_TEST(no_field_of_csv_is_a_formula)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	csv_text(out, csv_fields[_i].text);
	fclose(out);
	ck_assert_str_eq(text, csv_fields[_i].field);
}
END_TEST

START_TEST(no_stack_of_csv_is_a_formula)
{
	_cleanup_command_ran_ struct command_ran csv = { 0 };

	export_fixture_run(&fixture,
			   "UPDATE frame_row SET function = '=1+1' WHERE function IN ('main', 'inner')");
	csv = command_run_words("--db %s export 1 --format csv", fixture.path);
	ck_assert(strstr(csv.out, ",\"'=1+1;=1+1;schedule_[k]\","));
}
END_TEST

START_TEST(folded_is_what_the_command_folded_prints)
{
	static const char *const lines[][2] = { { "--kind oncpu --role target", "" },
						{ "--kind offcpu --role target", "--off-cpu" } };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_command_ran_ struct command_ran exported =
			command_run_words("--db %s export 1 --format folded %s", fixture.path, lines[i][0]);
		_cleanup_command_ran_ struct command_ran folded =
			command_run_words("--db %s folded 1 %s", fixture.path, lines[i][1]);

		ck_assert_str_ne(folded.out, "");
		ck_assert_str_eq(exported.out, folded.out);
	}
}
END_TEST

START_TEST(speedscope_leaves_gaps_where_there_was_no_sample)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words(
		"--db %s export 1 --format speedscope --kind oncpu --role target", fixture.path);
	_cleanup_free_ char *first = NULL;

	ck_assert_int_eq(ran.status, 0);
	/* the capture begins 2 s before the trigger; the first sample is 1,990 ms before it, the next 10 ms later */
	first = export_fixture_ask(&fixture,
				   "SELECT json_extract(?1, '$.profiles[0].weights[0]') || ' ' || "
				   "json_extract(?1, '$.profiles[0].samples[0]') || ' ' || "
				   "json_extract(?1, '$.profiles[0].weights[2]') || ' ' || "
				   "json_extract(?1, '$.profiles[0].weights[1]')",
				   ran.out);
	ck_assert_str_eq(first, "10000000 [] 21276595 21276595");
}
END_TEST

/* ---- hostile names ---- */

/* These have tests of their own. */
static bool is_binary(const char *format)
{
	return !strcmp(format, "pprof") || !strcmp(format, "perfetto");
}

/* Plain text, but for a tab before a frame of perf-script and CR LF of CSV; in JSON characters may be invisible where rows are written as they are. */
static void check_text(const char *format, const char *text)
{
	bool of_rows = !strcmp(format, "json");

	while (*text) {
		unsigned int code = 0, length = escape_utf8(text, &code);

		HOLDS(length);
		HOLDS(code == '\n' || !escape_is_deceptive(code) || (of_rows && code >= 0xa0) ||
		      (code == '\t' && !strcmp(format, "perf-script")) ||
		      (code == '\r' && !strcmp(format, "csv")));
		text += length;
	}
}

START_TEST(hostile_names_are_plain_text_in_every_format)
{
	const char *format = formats[_i];

	export_fixture_make_hostile(&fixture);
	if (!is_binary(format)) {
		_cleanup_command_ran_ struct command_ran ran =
			command_run_words("--db %s export 1 --format %s", fixture.path, format);
		_cleanup_free_ char *valid = NULL;

		ck_assert_msg(!ran.status, "%s", ran.err);
		check_text(format, ran.out);
		ck_assert_ptr_null(strstr(ran.out, "<script>\n"));
		valid = export_fixture_ask(&fixture, "SELECT json_valid(?1)", ran.out);
		ck_assert_str_eq(valid, *ran.out == '{' ? "1" : "0");
	}
}
END_TEST

START_TEST(a_name_cannot_be_a_field_of_perf_script)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	const char *line;

	export_fixture_run(&fixture, "UPDATE thread SET thread = '# a 1/2 [000] 3.5: 7 x:' || thread_id;"
				     "UPDATE frame_row SET function = '(deleted) (evil' || frame_id || ')';"
				     "UPDATE module SET path = '/x (deleted)/y)(z' || module_id");
	ran = command_run_words("--db %s export 1 --format perf-script --role target", fixture.path);
	ck_assert_msg(!ran.status, "%s", ran.err);
	line = strstr(ran.out, "#\n") + 2;
	/* readers take a line that begins with # for a comment, and the first number behind blanks for an id */
	ck_assert_msg(!strncmp(line, "?               4242/4242 [", 27), "%.60s", line);
	/* they skip a function that begins with a parenthesis, and find the module between the last ones */
	ck_assert(strstr(ran.out, " \\x28deleted) (evil"));
	ck_assert(strstr(ran.out, "(/x \\x28deleted\\x29/y\\x29\\x28z2)\n"));
}
END_TEST

/* ---- damage ---- */

static const struct {
	const char *damage, *part;
} damages[] = {
	{ "UPDATE sample_row SET times = '0,1],[x'", "no array of numbers" },
	{ "UPDATE sample_row SET times = '1,0],[1,0],[1,0],[1,0],[1,0],[1,0]', samples = 1 WHERE class = 1",
	  "far larger" },
	{ "UPDATE sample_row SET samples = 9223372036854775807, times = NULL", "far larger" },
	{ "DROP TABLE killed", "no such table" },
	{ "DROP VIEW other_sample", "no such table" },
};

START_TEST(damage_is_refused)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };

	export_fixture_run(&fixture, damages[_i].damage);
	ran = command_run_words("--db %s export 1 --format perfetto", fixture.path);
	ck_assert_int_eq(ran.status, EXIT_FAILED);
	ck_assert_msg(strstr(ran.err, damages[_i].part), "'%s' is not in: %s", damages[_i].part, ran.err);
}
END_TEST

static const char *const absurdities[] = {
	"UPDATE sample_row SET second = iif(class = 1, 9223372036854775807, -9223372036854775807 - 1)",
	"UPDATE sample_row SET times = '-9223372036854775808,9223372036854775807,9223372036854775807' WHERE class BETWEEN 4 AND 7 AND samples > 0",
	"UPDATE sample_row SET times = '9223372036854775807,-9223372036854775808,5' WHERE class BETWEEN 4 AND 7 AND samples > 0",
	"UPDATE sample_row SET times = '1,2,-9223372036854775808' WHERE class BETWEEN 4 AND 7 AND samples > 0",
	"UPDATE sample_row SET weight_ns = 4611686018427387904 WHERE class = 4",
	"UPDATE sample_row SET samples = -5, times = NULL, weight_ns = -9",
	"UPDATE capture SET triggered_at = 9223372036854775807, began_at = -9223372036854775807, ended_at = NULL, hz = 0",
	"UPDATE capture SET triggered_at = -9223372036854775807, began_at = 9223372036854775807, ended_at = 9223372036854775807",
	"UPDATE frame_row SET offset = -1 - frame_id, function_offset = -9223372036854775807, line = -1, inlined = 9223372036854775807",
	"UPDATE frame_row SET module_id = 90 + frame_id",
	"UPDATE process SET tgid = -1; UPDATE thread SET tid = 9223372036854775807",
	"DELETE FROM process; DELETE FROM stack_node; DELETE FROM run; DELETE FROM module",
	"UPDATE pressure SET at = 9223372036854775807 WHERE some_us > 1000000; UPDATE killed SET at = -9223372036854775807",
	"UPDATE thread_state SET second = -9223372036854775807, seconds = 9223372036854775807; UPDATE thread_look SET looks = 0",
	"DELETE FROM sample_row",
};

START_TEST(absurd_numbers_are_written_without_harm)
{
	export_fixture_run(&fixture, absurdities[_i]);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		_cleanup_command_ran_ struct command_ran ran =
			command_run_words("--db %s export 1 --format %s", fixture.path, formats[i]);
		_cleanup_free_ char *valid = NULL;

		ck_assert_msg(ran.status == 0, "%s: %s", formats[i], ran.err);
		if (is_binary(formats[i]))
			continue; /* NULs end the text */
		valid = export_fixture_ask(&fixture, "SELECT json_valid(?1)", ran.out);
		ck_assert_msg(*ran.out != '{' || !strcmp(valid, "1"), "%s: %s", formats[i], ran.out);
	}
}
END_TEST

/* ---- size ---- */

#define LARGE_ROWS 10000U

/* Of CPU time: what other programs run delays it. */
START_TEST(a_large_capture_takes_less_than_a_second)
{
	struct store_fixture store = { 0 };
	struct dice dice = dice_new(21);
	struct capture *capture;

	store_fixture_start(&store);
	capture = large_capture(&dice, LARGE_ROWS);
	expect_commit(&store, capture);
	capture_free(capture);
	ck_assert_int_ge(number(&store, "SELECT count(*) FROM sample_row"), LARGE_ROWS);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		clock_t began = clock(), took;
		_cleanup_command_ran_ struct command_ran ran =
			command_run_words("--db %s export --format %s", store.path, formats[i]);

		took = clock() - began;
		ck_assert_msg(!ran.status, "%s: %s", formats[i], ran.err);
		ck_assert_msg(SANITIZED || took < CLOCKS_PER_SEC * (clock_t)patience(), "%s took %ld ms",
			      formats[i], (long)(took * 1000 / CLOCKS_PER_SEC));
	}
	store_fixture_free(&store);
}
END_TEST

/* ---- the file ---- */

START_TEST(a_file_is_whole_or_not_there)
{
	_cleanup_output_file_ struct output_file output = { 0 };
	_cleanup_free_ char *path = path_join(fixture.directory, "out");
	_cleanup_free_ char *unfinished = NULL, *said = NULL;
	struct stat at;
	int saved;

	/* given up */
	ck_assert_int_eq(output_file_make(&output, path), 0);
	unfinished = path_join(fixture.directory, output.unfinished);
	fputs("half", output.file);
	ck_assert_int_eq(stat(unfinished, &at), 0);
	output_file_end(&output);
	ck_assert_int_lt(stat(unfinished, &at), 0);
	ck_assert_int_lt(stat(path, &at), 0);
	/* finished, in place of another */
	file_put(path, "before", 6);
	ck_assert_int_eq(output_file_make(&output, path), 0);
	fputs("after that", output.file);
	ck_assert_int_eq(output_file_finish(&output), 0);
	ck_assert_int_eq(stat(path, &at), 0);
	ck_assert_int_eq(at.st_size, 10);
	ck_assert_int_eq(at.st_mode & 0777, 0600);
	output_file_end(&output);
	ck_assert_int_lt(stat(unfinished, &at), 0);
	/* what is no file is written as it is */
	ck_assert_int_eq(output_file_make(&output, "/dev/null"), 0);
	ck_assert_ptr_null(output.unfinished);
	ck_assert_int_eq(output_file_finish(&output), 0);
	output_file_end(&output);
	ck_assert_int_eq(stat("/dev/null", &at), 0);
	ck_assert(S_ISCHR(at.st_mode));
	/* full */
	saved = log_divert();
	ck_assert_int_eq(output_file_make(&output, "/dev/full"), 0);
	fputs("too much", output.file);
	ck_assert_int_eq(output_file_finish(&output), -ENOSPC);
	said = log_diverted(saved);
	ck_assert_msg(strstr(said, "cannot write '/dev/full': No space left on device; make room"), "%s",
		      said);
}
END_TEST

START_TEST(a_file_is_written_by_the_command)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 }, there = { 0 };
	_cleanup_free_ char *bytes = NULL;
	char path[256];
	size_t count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/1.csv", fixture.directory);
	ran = command_run_words("--db %s export 1 --format csv -o %s", fixture.path, path);
	ck_assert_msg(!ran.status, "%s", ran.err);
	ck_assert_str_eq(ran.out, "");
	there = command_run_words("--db %s export 1 --format csv", fixture.path);
	file = fopen(path, "re");
	ck_assert(file && getdelim(&bytes, &count, '\0', file) > 0);
	fclose(file);
	ck_assert_str_eq(bytes, there.out);
	expect_command_fails("cannot write '/nonexistent/x'",
			     "--db %s export 1 --format csv -o /nonexistent/x", fixture.path);
}
END_TEST

SUITE(export)
{
	Suite *suite = suite_create("export");
	TCase *tests = tcase_create("export");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, mistakes_on_the_command_line_are_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(tests, every_format_has_its_name);
	tcase_add_loop_test(tests, sums_are_those_of_the_database, 0, ARRAY_SIZE(sums));
	tcase_add_test(tests, perf_script_and_csv_have_a_record_for_each);
	tcase_add_loop_test(tests, no_field_of_csv_is_a_formula, 0, ARRAY_SIZE(csv_fields));
	tcase_add_test(tests, no_stack_of_csv_is_a_formula);
	tcase_add_test(tests, folded_is_what_the_command_folded_prints);
	tcase_add_test(tests, speedscope_leaves_gaps_where_there_was_no_sample);
	tcase_add_loop_test(tests, hostile_names_are_plain_text_in_every_format, 0, ARRAY_SIZE(formats));
	tcase_add_test(tests, a_name_cannot_be_a_field_of_perf_script);
	tcase_add_loop_test(tests, damage_is_refused, 0, ARRAY_SIZE(damages));
	tcase_add_loop_test(tests, absurd_numbers_are_written_without_harm, 0, ARRAY_SIZE(absurdities));
	tcase_add_test(tests, a_large_capture_takes_less_than_a_second);
	tcase_add_test(tests, a_file_is_whole_or_not_there);
	tcase_add_test(tests, a_file_is_written_by_the_command);
	suite_add_tcase(suite, tests);
	return suite;
}
