/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the page of `bourdon report`: its policy allows its own script and style, its data are those of SQL, and no name is
 * more than data. What a browser makes of it is in tests/e2e/page.bats.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/page_fixture.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <sqlite3.h>
#include <string.h>

static char *directory, *path;

static void set_up(void)
{
	directory = directory_make();
	path = path_join(directory, "bourdon.db");
	page_fixture_write(path);
}

static void tear_down(void)
{
	directory_remove(directory);
	free(path);
	free(directory);
}

/* The page that "bourdon report" with these words writes; the caller frees it. */
static char *page_of(const char *words)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words("--db %s report %s", path, words);

	ck_assert_msg(!ran.status, "%s: %s", words, ran.err);
	return TAKE_PTR(ran.out);
}

static void assert_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "'%s' is not in:\n%.3000s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "'%s' is in:\n%.3000s", part, text);
}

/* What is between the first `begin` and the `end` behind it; the caller frees it. */
static char *between(const char *text, const char *begin, const char *end)
{
	const char *from = strstr(text, begin), *to;

	ck_assert_msg(from, "no %s", begin);
	from += strlen(begin);
	to = strstr(from, end);
	ck_assert_msg(to, "no %s", end);
	return strndup(from, (size_t)(to - from));
}

static char *data_of(const char *page)
{
	return between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
}

/* The first column of the first row of a query, in which ?1 is the data. The caller frees it. */
static char *ask(const char *data, const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3 *sqlite;
	char *answer;

	ck_assert_int_eq(sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
		      sqlite3_errmsg(sqlite));
	sqlite3_bind_text(statement, 1, data, -1, SQLITE_STATIC);
	ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(sqlite));
	answer = strdup(sqlite3_column_text(statement, 0) ? (const char *)sqlite3_column_text(statement, 0)
							  : "NULL");
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
	return answer;
}

static void assert_asked(const char *data, const char *sql, const char *expected)
{
	_cleanup_free_ char *answer = ask(data, sql);

	ck_assert_msg(!strcmp(answer, expected), "%s: %s, not %s", sql, answer, expected);
}

/* Asserts that both queries have the same answer. */
static void assert_same(const char *data, const char *of_page, const char *of_database)
{
	_cleanup_free_ char *expected = ask(data, of_database);

	assert_asked(data, of_page, expected);
}

/* ---- the policy ---- */

static void assert_allowed(const char *page, const char *directive, const char *begin, const char *end)
{
	_cleanup_free_ char *text = between(page, begin, end), *wanted = NULL;
	char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx context;

	sha256_init(&context);
	sha256_update(&context, strlen(text), (const uint8_t *)text);
	sha256_digest(&context, sizeof(digest), digest);
	base64_encode_raw(encoded, sizeof(digest), digest);
	ck_assert_int_gt(asprintf(&wanted, "; %s 'sha256-%s'", directive, encoded), 0);
	assert_has(page, wanted);
	ck_assert_uint_gt(strlen(text), 1000);
}

START_TEST(the_policy_allows_one_script_and_one_style)
{
	_cleanup_free_ char *page = page_of("1");

	assert_has(
		page,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-");
	assert_allowed(page, "script-src", "<script>", "</script>");
	assert_allowed(page, "style-src", "<style>", "</style>");
	assert_has_not(page, "unsafe-");
}
END_TEST

START_TEST(the_page_names_no_other_place)
{
	static const char *const places[] = { "http:",   "https:", "src=",    "url(",
					      "@import", "<link",  "<iframe", "style=\"" };
	_cleanup_free_ char *page = page_of("1"), *data = data_of(page);

	assert_has_not(data, "http");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		assert_has_not(page, places[i]);
}
END_TEST

/* Each mark of page.html is replaced. */
START_TEST(the_page_has_all_its_parts)
{
	static const char *const marks[] = { "@POLICY@", "@TITLE@", "@STYLE@", "@SCRIPT@", "@DATA@" };
	_cleanup_free_ char *page = page_of("1");

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		assert_has_not(page, marks[i]);
	assert_has(page, "<title>Capture 1: io pressure on host · bourdon</title>");
}
END_TEST

/* ---- data ---- */

START_TEST(the_data_have_the_sums_of_the_database)
{
	_cleanup_free_ char *page = page_of("1"), *data = data_of(page);

	assert_asked(data, "SELECT json_valid(?1)", "1");
	assert_same(data, "SELECT sum(value) FROM json_each(?1, '$.samples.counts')",
		    "SELECT sum(samples) FROM sample_row WHERE capture_id = 1");
	assert_same(
		data, "SELECT sum(value) FROM json_each(?1, '$.samples.weights')",
		"SELECT sum(w) FROM (SELECT sum(weight_ns) AS w FROM sample WHERE capture_id = 1 UNION ALL "
		"SELECT sum(weight_ns) FROM other_sample WHERE capture_id = 1)");
	assert_same(data, "SELECT count(*) FROM json_each(?1, '$.samples.seconds')",
		    "SELECT count(*) FROM sample_row WHERE capture_id = 1");
	assert_same(data, "SELECT sum(value) FROM json_each(?1, '$.samples.group_rows')",
		    "SELECT count(*) FROM sample_row WHERE capture_id = 1");
	assert_same(
		data, "SELECT count(*) FROM json_each(?1, '$.samples.nodes')",
		"SELECT count(*) FROM (SELECT DISTINCT stack_id, thread_id, class FROM sample_row WHERE capture_id = 1)");
}
END_TEST

/* On CPU two numbers for each sample, off CPU three. */
START_TEST(the_data_have_all_times)
{
	_cleanup_free_ char *page = page_of("1"), *data = data_of(page);

	assert_asked(data, "SELECT sum(value) FROM json_each(?1, '$.samples.times_counts')", "23");
	assert_asked(data, "SELECT count(*) FROM json_each(?1, '$.samples.times')", "49");
	/* the only row of its class, so its times stand together */
	assert_asked(data, "SELECT instr(json_extract(?1, '$.samples.times'), '100,130,-1') > 0", "1");
	assert_asked(data, "SELECT instr(json_extract(?1, '$.samples.times'), '-100,700,0,800,900,1') > 0",
		     "1");
}
END_TEST

START_TEST(a_parent_stands_before_its_children)
{
	_cleanup_free_ char *page = page_of("1"), *data = data_of(page);

	assert_asked(data, "SELECT count(*) FROM json_each(?1, '$.parents') WHERE key > 0 AND value >= key",
		     "0");
	assert_same(data, "SELECT json_array_length(?1, '$.parents')",
		    "SELECT json_array_length(?1, '$.node_frames')");
	assert_same(data, "SELECT json_array_length(?1, '$.functions')",
		    "SELECT json_array_length(?1, '$.frame_kinds')");
	assert_asked(
		data,
		"SELECT max(value) < json_array_length(?1, '$.functions') FROM json_each(?1, '$.node_frames')",
		"1");
}
END_TEST

START_TEST(another_capture_shares_the_tree)
{
	_cleanup_free_ char *page = page_of("1 --against 2"), *data = data_of(page);

	assert_asked(data, "SELECT json_extract(?1, '$.against.capture.capture_id')", "2");
	assert_asked(data, "SELECT sum(value) FROM json_each(?1, '$.against.samples.counts')", "1");
	assert_asked(
		data,
		"SELECT json_extract(?1, '$.against.samples.nodes[0]') = json_array_length(?1, '$.parents') - 1",
		"1");
}
END_TEST

START_TEST(the_data_have_what_why_says)
{
	_cleanup_command_ran_ struct command_ran why = command_run_words("--db %s --json why 1", path);
	_cleanup_free_ char *page = page_of("1"), *data = data_of(page),
			    *said = ask(data, "SELECT json_extract(?1, '$.why')"), *expected = NULL;

	ck_assert_int_eq(why.status, EXIT_DONE);
	expected = ask(why.out, "SELECT replace(json(?1), '<', '\\u003c')");
	ck_assert_str_eq(said, expected);
}
END_TEST

/* ---- hostile names ---- */

START_TEST(names_are_data_and_nothing_else)
{
	_cleanup_free_ char *page = page_of("2 --against 2"), *data = data_of(page),
			    *title = between(page, "<title>", "</title>");

	ck_assert_ptr_null(strchr(data, '<'));
	assert_asked(data, "SELECT json_valid(?1)", "1");
	/* they are there */
	assert_asked(
		data,
		"SELECT count(*) FROM json_each(?1, '$.functions') WHERE value = '<script>alert(1)</script>&amp;'",
		"2");
	assert_asked(
		data,
		"SELECT count(*) FROM json_each(?1, '$.functions') WHERE value = ']]></title></svg><svg onload=alert(1)>'",
		"1");
	assert_has(title, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;");
	/* the page's own two elements, of which none has a name in it */
	assert_has(strstr(page, "id=\"data\">"), "</script>\n<script>(() => {");
	assert_has(page, "})();\n</script>\n</body>");
}
END_TEST

START_TEST(what_hides_or_turns_text_is_escaped)
{
	_cleanup_free_ char *page = page_of("2"), *data = data_of(page);

	assert_asked(data,
		     "SELECT count(*) FROM json_each(?1, '$.functions') WHERE value = '\\x1b]0;owned\\x07'",
		     "1");
	assert_asked(
		data,
		"SELECT count(*) FROM json_each(?1, '$.functions') WHERE value = '\\xe2\\x80\\xaegpj.exe\\xe2\\x80\\x8b'",
		"1");
	assert_asked(
		data,
		"SELECT count(*) FROM json_each(?1, '$.functions') WHERE value LIKE '<!--<script>\\x0a@DATA@@SCRIPT@'",
		"1");
	/* text that looks like an escape of JSON is no escape */
	assert_asked(data, "SELECT count(*) FROM json_each(?1, '$.functions') WHERE value LIKE '%\\u003c\\'",
		     "1");
}
END_TEST

/* ---- the command ---- */

START_TEST(mistakes_are_refused)
{
	static const struct {
		const char *words, *says;
		int status;
	} mistakes[] = {
		{ "1 --against 7", "no capture 7", EXIT_FAILED },
		{ "1 --against x", "'x' is not a capture's ID", EXIT_USAGE },
		{ "9", "no capture 9", EXIT_FAILED },
		{ "1 -o", "option -o needs FILE", EXIT_USAGE },
		{ "1 -o /nowhere/page.html", "cannot write '/nowhere/page.html'", EXIT_FAILED },
		{ "1 --icicle", "'report' takes no --icicle", EXIT_USAGE },
	};
	_cleanup_command_ran_ struct command_ran ran =
		command_run_words("--db %s report %s", path, mistakes[_i].words);

	ck_assert_int_eq(ran.status, mistakes[_i].status);
	ck_assert_msg(strstr(ran.err, mistakes[_i].says), "'%s' is not in: %s", mistakes[_i].says, ran.err);
	ck_assert_str_eq(ran.out, "");
}
END_TEST

/* A column that is no list of times stops the report, and nothing is written. */
START_TEST(damaged_times_are_refused)
{
	static const char *const damages[] = {
		"UPDATE sample_row SET times = '1,0],[' WHERE times IS NOT NULL",
		"UPDATE sample_row SET times = '99999999999999999999,0'",
		"UPDATE sample_row SET times = '<script>'"
	};
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sqlite, damages[_i], NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sqlite);
	ran = command_run_words("--db %s report 1", path);
	ck_assert_int_eq(ran.status, EXIT_FAILED);
	assert_has(ran.err, "is damaged");
	ck_assert_str_eq(ran.out, "");
}
END_TEST

SUITE(page)
{
	Suite *suite = suite_create("page");
	TCase *tests = tcase_create("page");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, the_policy_allows_one_script_and_one_style);
	tcase_add_test(tests, the_page_names_no_other_place);
	tcase_add_test(tests, the_page_has_all_its_parts);
	tcase_add_test(tests, the_data_have_the_sums_of_the_database);
	tcase_add_test(tests, the_data_have_all_times);
	tcase_add_test(tests, a_parent_stands_before_its_children);
	tcase_add_test(tests, another_capture_shares_the_tree);
	tcase_add_test(tests, the_data_have_what_why_says);
	tcase_add_test(tests, names_are_data_and_nothing_else);
	tcase_add_test(tests, what_hides_or_turns_text_is_escaped);
	tcase_add_loop_test(tests, mistakes_are_refused, 0, 6);
	tcase_add_loop_test(tests, damaged_times_are_refused, 0, 3);
	suite_add_tcase(suite, tests);
	return suite;
}
