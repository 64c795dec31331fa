/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that `bourdon latency` has the percentiles of view latency_percentile and the events that were lost, that its order and its
 * choices are those that were asked for, that its JSON has the same numbers, and that damaged and hostile rows are no harm; and what
 * `why` says of latencies and of growth.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/model/database.h"
#include "report/model/latencies.h"
#include "report/model/query.h"
#include "report/text/format.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/latency_fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/why_fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *directory, *before;

static void set_up(void)
{
	directory = directory_make();
	before = getcwd(NULL, 0);
	ck_assert_int_eq(chdir(directory), 0);
	setenv("COLUMNS", "80", true);
	why_case_put("bourdon.db", &why_cases[0]);
}

static void set_up_rows(void)
{
	set_up();
	latency_put_all("bourdon.db");
}

static void tear_down(void)
{
	setenv("COLUMNS", "100", true); /* as main() has it for all suites */
	ck_assert_int_eq(chdir(before), 0);
	directory_remove(directory);
	free(directory);
	free(before);
}

static void assert_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "'%s' is not in:\n%.1500s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "'%s' is in:\n%.1500s", part, text);
}

/* Runs bourdon with these words on the database, successfully. */
static struct command_ran run(const char *words)
{
	struct command_ran ran = command_run_words("--db bourdon.db %s", words);

	ck_assert_msg(ran.status == EXIT_DONE, "'%s' gave %d: %s", words, ran.status, ran.err);
	return ran;
}

/* The first value of a statement whose ?1 is a text. */
static void expect_value(const char *sql, const char *text, const char *wanted)
{
	sqlite3_stmt *statement;
	sqlite3 *sqlite;
	const char *found;

	ck_assert_int_eq(sqlite3_open("bourdon.db", &sqlite), SQLITE_OK);
	ck_assert_msg(!sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), "%s", sqlite3_errmsg(sqlite));
	sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
	ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(sqlite));
	found = (const char *)sqlite3_column_text(statement, 0);
	ck_assert_msg(found && !strcmp(found, wanted), "%s gave '%s', not '%s'", sql, found ? found : "NULL",
		      wanted);
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
}

/* ---- numbers ---- */

/* Random histograms, in which p99 and p99.9 are in many places. */
static void put_random(struct dice *dice, const char *label)
{
	static const char *const spans[] = { "before", "during" };

	for (int i = 0; i < 30; i++)
		latency_put("bourdon.db", "runqueue", label, spans[dice_below(dice, 2)],
			    1ULL << dice_below(dice, 40), (int64_t)(1 + dice_below(dice, 3000)));
}

static void expect_as_the_view(const struct latency_metric *metric, const struct latency_label *label,
			       enum latency_span span)
{
	const struct latency_histogram *histogram = &label->spans[span];
	char sql[512], wanted[256];

	if (!histogram->count)
		return;
	snprintf(
		sql, sizeof(sql),
		"SELECT printf('%%d %%d %%d %%d %%d %%d %%d', count, p50_ns, p90_ns, p99_ns, p999_ns, max_ns, is_partial) FROM "
		"latency_percentile WHERE capture_id = 7 AND metric = '%s' AND span = '%s' AND label = ?1",
		metric->metric, latency_span_names[span]);
	snprintf(wanted, sizeof(wanted), "%lld %lld %lld %lld %lld %lld %d", (long long)histogram->count,
		 (long long)histogram->p50, (long long)histogram->p90, (long long)histogram->p99,
		 (long long)histogram->p999, (long long)histogram->most, metric->measured[span].is_partial);
	expect_value(sql, label->label, wanted);
}

START_TEST(percentiles_are_those_of_the_view)
{
	struct dice dice = dice_new(42);
	_cleanup_database_ struct database database = { 0 };
	_cleanup_latencies_ struct latencies latencies = { 0 };
	uint32_t compared = 0;

	for (int i = 0; i < 8; i++) {
		char label[16];

		snprintf(label, sizeof(label), "random %d", i);
		put_random(&dice, label);
	}
	ck_assert_int_eq(database_open("bourdon.db", &database), 0);
	ck_assert_int_eq(latencies_load(&database, 7, &latencies), 0);
	for (uint32_t i = 0; i < latencies.metrics_count; i++)
		for (uint32_t k = 0; k < latencies.metrics[i].labels_count; k++)
			for (enum latency_span span = 0; span < LATENCY_SPANS; span++, compared++)
				expect_as_the_view(&latencies.metrics[i], &latencies.metrics[i].labels[k],
						   span);
	ck_assert_uint_ge(compared, 32);
}
END_TEST

START_TEST(metrics_stand_in_the_order_of_groups)
{
	static const char *const names[] = { "runqueue",      "offcpu",     "block", "block.queue",
					     "block.service", "block.size", "lock",  "softirq" };
	_cleanup_database_ struct database database = { 0 };
	_cleanup_latencies_ struct latencies latencies = { 0 };

	ck_assert_int_eq(database_open("bourdon.db", &database), 0);
	ck_assert_int_eq(latencies_load(&database, 7, &latencies), 0);
	ck_assert_uint_eq(latencies.metrics_count, ARRAY_SIZE(names));
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_str_eq(latencies.metrics[i].metric, names[i]);
	ck_assert(latencies.metrics[0].measured[LATENCY_DURING].is_partial);
	ck_assert(!latencies.metrics[0].measured[LATENCY_BEFORE].is_partial);
	ck_assert(!latencies.metrics[7].measured[LATENCY_BEFORE].is_known);
}
END_TEST

/* ---- text ---- */

START_TEST(a_table_of_labels_and_the_bars_of_the_first)
{
	_cleanup_command_ran_ struct command_ran ran = run("latency 7");

	assert_has(ran.out, "capture 7 of rule web, 2026-11-25T00:50:33Z\n");
	assert_has(ran.out,
		   "\nblock: from the queue to the end of a request to a disk\n"
		   "  during: 590 events, 0 lost, 3 unpaired (0.5 %); 22 s\n"
		   "  before: 1000 events, 0 lost, 0 unpaired; 22 s\n"
		   "LABEL                     COUNT     P50     P90     P99   P99.9     MAX  P99 WAS\n"
		   "vda write mysql.serv…       590  1.05ms  92.3ms   436ms   436ms   436ms   3.15ms\n");
	assert_has(ran.out, "  during: 125612 events, 12 lost (<0.1 %), 0 unpaired; 22 s: partial\n");
	assert_has(ran.out, "softirq: in a soft interrupt\n  during: 0 events, 0 lost, 0 unpaired; 22 s\n"
			    "  before: not measured\n");
	/* bytes */
	assert_has(ran.out, "   18KiB");
	/* from its first octave to its last, whichever span they are of */
	assert_has(ran.out, "\n  nginx.service\n      FROM        TO    BEFORE   DURING\n");
	assert_has_not(ran.out, "\n  other\n");
}
END_TEST

START_TEST(bars_are_of_what_was_chosen)
{
	_cleanup_command_ran_ struct command_ran ran = run("latency 7 --metric runqueue,lock"),
						 labels = run("latency 7 --label nginx*"),
						 none = run("latency 7 --metric fork"),
						 no_label = run("latency 7 --label web");

	assert_has(ran.out, "\n  nginx.service\n");
	assert_has(ran.out, "\n  other\n");
	assert_has(ran.out, "\n  mutex ext4_file_write_iter\n");
	/* it has no row during the capture */
	assert_has_not(ran.out, "mmap_write_lock");
	assert_has_not(ran.out, "block");
	assert_has(labels.out, "\n  nginx.service\n");
	assert_has_not(labels.out, "other");
	assert_has_not(labels.out, "block");
	assert_has(none.out, "\nnothing that was asked for was measured in this capture\n");
	assert_has(no_label.out, "\nnothing that was asked for was measured in this capture\n");
}
END_TEST

START_TEST(a_bar_has_eighths)
{
	char bar[64];

	ck_assert_str_eq(format_fine_bar(0, 80, 10, bar, sizeof(bar)), "");
	ck_assert_str_eq(format_fine_bar(1, 1000000, 10, bar, sizeof(bar)), "▏");
	ck_assert_str_eq(format_fine_bar(20, 80, 10, bar, sizeof(bar)), "██▌");
	ck_assert_str_eq(format_fine_bar(80, 80, 10, bar, sizeof(bar)), "██████████");
	ck_assert_str_eq(format_fine_bar(160, 80, 3, bar, sizeof(bar)), "███");
	ck_assert_str_eq(format_fine_bar(5, 0, 3, bar, sizeof(bar)), "▏");
}
END_TEST

START_TEST(the_time_before_alone)
{
	_cleanup_command_ran_ struct command_ran ran = run("latency 7 --span before --metric lock,block");

	assert_has(ran.out, "rwsem write mmap_write_lock");
	assert_has_not(ran.out, "P99 WAS");
	assert_has_not(ran.out, "ext4_file_write_iter");
}
END_TEST

START_TEST(the_order_is_by_time_or_by_growth)
{
	_cleanup_command_ran_ struct command_ran by_time = { 0 }, by_growth = { 0 };
	const char *slow, *grown;

	latency_put("bourdon.db", "lock", "futex a", "during", 200000000, 1);
	latency_put("bourdon.db", "lock", "futex a", "before", 1000, 1);
	by_time = run("latency 7 --metric lock");
	slow = strstr(by_time.out, "mutex ext4");
	grown = strstr(by_time.out, "futex a");
	ck_assert_msg(slow && grown && slow < grown, "%s", by_time.out);
	by_growth = run("latency 7 --metric lock --by growth");
	slow = strstr(by_growth.out, "mutex ext4");
	grown = strstr(by_growth.out, "futex a");
	ck_assert_msg(slow && grown && slow > grown, "%s", by_growth.out);
}
END_TEST

START_TEST(a_limit_says_what_it_leaves_out)
{
	_cleanup_command_ran_ struct command_ran ran = run("latency 7 --metric runqueue --limit 1");

	assert_has(ran.out, "and 1 more label: --limit 2 shows all\n");
	assert_has_not(ran.out, "other");
}
END_TEST

START_TEST(every_line_fits_the_page)
{
	static const char *const columns[] = { "60", "80", "200" };

	latency_put("bourdon.db", "memory",
		    "direct reclaim a-very-long-name-of-a-unit-\033[31m-that-fits-no-page.service", "during",
		    1ULL << 38, 12345678);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 };
		char *rest;

		setenv("COLUMNS", columns[i], true);
		ran = run("latency 7 --label *");
		assert_has_not(ran.out, "\033");
		for (char *line = strtok_r(ran.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			ck_assert_msg(format_columns(line) <= (size_t)atoi(columns[i]) ||
					      (i == 0 && strstr(line, "  ")),
				      "%zu columns: %s", format_columns(line), line);
	}
}
END_TEST

/* ---- JSON ---- */

START_TEST(json_has_the_same_numbers)
{
	_cleanup_command_ran_ struct command_ran ran = run("latency 7 --json"),
						 before_alone = run(
							 "latency 7 --json --span before --metric runqueue");

	expect_value("SELECT json_extract(?1, '$.capture')", ran.out, "7");
	expect_value("SELECT count(*) FROM json_each(?1, '$.metrics')", ran.out, "15");
	expect_value(
		"SELECT count(*) FROM latency_percentile p WHERE capture_id = 7 AND NOT EXISTS (SELECT 1 FROM json_each(?1, "
		"'$.metrics') m, json_each(m.value, '$.labels') l WHERE m.value ->> 'metric' = p.metric AND l.value ->> 'span' = "
		"p.span AND l.value ->> 'label' = p.label AND l.value ->> 'count' = p.count AND l.value ->> 'p50_ns' = p.p50_ns AND "
		"l.value ->> 'p90_ns' = p.p90_ns AND l.value ->> 'p99_ns' = p.p99_ns AND l.value ->> 'p999_ns' = p.p999_ns AND "
		"l.value ->> 'max_ns' = p.max_ns AND m.value ->> 'is_partial' = p.is_partial)",
		ran.out, "0");
	expect_value(
		"SELECT count(*) FROM histogram h WHERE capture_id = 7 AND NOT EXISTS (SELECT 1 FROM json_each(?1, '$.metrics') m, "
		"json_each(m.value, '$.labels') l, json_each(l.value, '$.buckets') b WHERE m.value ->> 'metric' = h.metric AND "
		"l.value ->> 'span' = h.span AND l.value ->> 'label' = h.label AND b.value ->> 0 = h.lower_ns AND "
		"b.value ->> 1 = h.upper_ns AND b.value ->> 2 = h.count)",
		ran.out, "0");
	expect_value(
		"SELECT m.value ->> 'events' || ' ' || (m.value ->> 'unpaired') || ' ' || (m.value ->> 'unit') || ' ' || "
		"(m.value ->> 'wanted_ns') FROM json_each(?1, '$.metrics') m WHERE m.value ->> 'metric' = 'block' AND m.value ->> "
		"'span' = 'during'",
		ran.out, "590 3 ns 22000000000");
	expect_value(
		"SELECT group_concat(m.value ->> 'span') || json_array_length(?1, '$.metrics[0].labels') "
		"FROM json_each(?1, '$.metrics') m",
		before_alone.out, "before2");
}
END_TEST

/* ---- without rows, and with bad ones ---- */

START_TEST(a_capture_without_latencies_says_how_to_get_them)
{
	_cleanup_command_ran_ struct command_ran ran = run("latency 7"), json = run("latency 7 --json");

	ck_assert_str_eq(ran.out,
			 "capture 7 has no latencies: no group of them was on; a rule with 'probes =\n"
			 "block, lock' has those groups measured\n");
	ck_assert_str_eq(json.out, "{\"capture\": 7, \"metrics\": []}\n");
}
END_TEST

START_TEST(mistakes_are_refused)
{
	static const struct {
		const char *words, *problem;
		int status;
	} cases[] = {
		{ "latency 7 --metric disk", "'disk' is no metric: the metrics are runqueue, offcpu,",
		  EXIT_USAGE },
		{ "latency 7 --metric block,", "'' is no metric", EXIT_USAGE },
		{ "latency 7 --metric block.sizes", "'block.sizes' is no metric", EXIT_USAGE },
		{ "latency 7 --span now", "before or during", EXIT_USAGE },
		{ "latency 8", "no capture 8", EXIT_FAILED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_command_ran_ struct command_ran ran =
			command_run_words("--db bourdon.db %s", cases[i].words);

		ck_assert_int_eq(ran.status, cases[i].status);
		assert_has(ran.err, cases[i].problem);
	}
}
END_TEST

START_TEST(damaged_rows_are_left_out)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 }, json = { 0 }, why = { 0 };

	why_sql("bourdon.db",
		"PRAGMA ignore_check_constraints = ON;"
		"INSERT INTO histogram_label VALUES(900, 'new' || char(27) || '.metric', 'x'), (901, 'lock', 'y' || char(10));"
		"INSERT INTO histogram_row VALUES(7, 900, 'during', 5, 9223372036854775807, 9223372036854775807), "
		"(7, 900, 'during', 6, 9223372036854775807, 9223372036854775807), (7, 901, 'during', 511, 3, 4), "
		"(7, 901, 'during', -1, 3, 4), (7, 901, 'during', 99, -3, 4), (7, 901, 'after', 99, 3, 4);"
		"INSERT INTO latency_measured VALUES(7, 'fork', 'before', -9223372036854775807, 9223372036854775807, "
		"-9223372036854775808, 9223372036854775807, 9223372036854775807, 9223372036854775807, -5)");
	ran = run("latency 7");
	assert_has(ran.out, "new\\x1b.metric");
	assert_has_not(ran.out, "y\\x0a");
	json = run("latency 7 --json");
	expect_value("SELECT json_valid(?1)", json.out, "1");
	why = run("why 7 --section latency --json");
	expect_value("SELECT json_valid(?1)", why.out, "1");
}
END_TEST

/* ---- why ---- */

START_TEST(why_says_what_grew)
{
	_cleanup_command_ran_ struct command_ran ran = run("why 7 --section latency"),
						 json = run("why 7 --json");

	assert_has(ran.out, "which waits grew most since before the capture; 'bourdon latency' has all\n"
			    "  block vda write mysql.service: p99 3.15 ms -> 436 ms, of it 403 ms queued\n"
			    "  runqueue nginx.service: p99 328 µs -> 31.5 ms\n"
			    "  lock mutex ext4_file_write_iter: p99 none -> 41.9 ms\n"
			    "  partial: events were lost, or a part of the time was not measured\n");
	/* parts of requests are told with them; sleep is no latency, and 6 µs are none that anybody waits for */
	assert_has_not(ran.out, "service vda");
	assert_has_not(ran.out, "sleep");
	assert_has_not(ran.out, "other");
	expect_value(
		"SELECT json_array_length(?1, '$.latency') || (json_extract(?1, '$.latency[0].metric')) || "
		"json_extract(?1, '$.latency[0].queue_p99_ns')",
		json.out, "3block402653184");
}
END_TEST

START_TEST(why_says_where_the_time_of_requests_went)
{
	static const struct {
		const char *metric, *label;
		uint64_t ms;
	} during[] = {
		{ "request", "nginx.service:80", 410 },
		{ "request.unread", "nginx.service:80", 20 },
		/* its threads take several at once */
		{ "request.queued", "nginx.service:80 shared", 300 },
		{ "request.blocked", "nginx.service:80 shared", 90 },
		/* of another server */
		{ "request.on_cpu", "nginx.service:8080", 400 },
		{ "request.multiplexed", "nginx.service:443", 4000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(during); i++) {
		latency_put("bourdon.db", during[i].metric, during[i].label, "during", during[i].ms * 1000000,
			    500);
		latency_put_measured("bourdon.db", during[i].metric, "before", 500, 0, 0);
		latency_put_measured("bourdon.db", during[i].metric, "during", 500, 0, 0);
	}
	latency_put("bourdon.db", "request", "nginx.service:80", "before", 3000000, 500);
	_cleanup_command_ran_ struct command_ran ran = run("why 7 --section latency"),
						 json = run("why 7 --json");

	assert_has(ran.out, "  request nginx.service:80: p99 3.15 ms -> 436 ms, of it 302 ms queued\n");
	assert_has_not(ran.out, "multiplexed");
	expect_value("SELECT json_extract(?1, '$.latency[0].unread_p99_ns') || ' ' || "
		     "ifnull(json_extract(?1, '$.latency[0].on_cpu_p99_ns'), 'none')",
		     json.out, "20971520 none");
}
END_TEST

START_TEST(why_without_latencies_says_nothing_of_them)
{
	_cleanup_command_ran_ struct command_ran ran = run("why 7 --full"),
						 section = run("why 7 --section latency,growth_stacks");

	assert_has_not(ran.out, "latenc");
	assert_has_not(ran.out, "grew most");
	ck_assert_str_eq(section.out,
			 "latency: nothing in this capture\n\ngrowth_stacks: nothing in this capture\n");
}
END_TEST

START_TEST(who_grew_is_the_function_that_wanted_memory)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 }, json = { 0 };

	latency_put_growth("bourdon.db");
	ran = run("why 7 --section growth_stacks");
	json = run("why 7 --json");
	assert_has(ran.out, "40 MiB   93.0 %  nginx");
	assert_has(ran.out, "grow_list < main\n");
	assert_has(ran.out, "handle_request < main\n");
	/* without another function, the allocator is named */
	assert_has(ran.out, "malloc\n");
	expect_value(
		"SELECT json_extract(?1, '$.growth_stacks[0].function') || ' ' || json_extract(?1, "
		"'$.growth_stacks[0].bytes') || ' ' || json_extract(?1, '$.growth_stacks[0].tgid') || ' ' || "
		"json_extract(?1, '$.growth_stacks[0].stack_id') || ' ' || json_array_length(?1, '$.growth_stacks')",
		json.out, "grow_list 41943040 101 51 3");
}
END_TEST

SUITE(latency_report)
{
	Suite *suite = suite_create("latency_report");
	TCase *rows = tcase_create("rows"), *none = tcase_create("none");

	tcase_add_checked_fixture(rows, set_up_rows, tear_down);
	tcase_add_test(rows, percentiles_are_those_of_the_view);
	tcase_add_test(rows, metrics_stand_in_the_order_of_groups);
	tcase_add_test(rows, a_table_of_labels_and_the_bars_of_the_first);
	tcase_add_test(rows, bars_are_of_what_was_chosen);
	tcase_add_test(rows, a_bar_has_eighths);
	tcase_add_test(rows, the_time_before_alone);
	tcase_add_test(rows, the_order_is_by_time_or_by_growth);
	tcase_add_test(rows, a_limit_says_what_it_leaves_out);
	tcase_add_test(rows, every_line_fits_the_page);
	tcase_add_test(rows, json_has_the_same_numbers);
	tcase_add_test(rows, damaged_rows_are_left_out);
	tcase_add_test(rows, why_says_what_grew);
	tcase_add_test(rows, why_says_where_the_time_of_requests_went);
	suite_add_tcase(suite, rows);
	tcase_add_checked_fixture(none, set_up, tear_down);
	tcase_add_test(none, a_capture_without_latencies_says_how_to_get_them);
	tcase_add_test(none, mistakes_are_refused);
	tcase_add_test(none, why_without_latencies_says_nothing_of_them);
	tcase_add_test(none, who_grew_is_the_function_that_wanted_memory);
	suite_add_tcase(suite, none);
	return suite;
}
