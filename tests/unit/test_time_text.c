/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that times are read as RFC 3339 and durations have them, that nothing else is, and how they are written. */
#include "common/base/cleanup.h"
#include "report/text/time_text.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <errno.h>

#define NOW 1790000000000000000LL
#define MIN 60000000000LL

static const struct {
	const char *text;
	int64_t ns; /* 0: it is no time */
} times[] = {
	{ "1h", NOW - 60 * MIN },
	{ "90s", NOW - 3 * MIN / 2 },
	{ "1.5h", NOW - 90 * MIN },
	{ "7d", NOW - 7 * 24 * 60 * MIN },
	{ "0s", NOW },
	{ "2026-09-21T14:13:20Z", NOW },
	{ "2026-09-21t14:13:20z", NOW },
	{ "2026-09-21 14:13:20Z", NOW },
	{ "2026-09-21T16:13:20+02:00", NOW },
	{ "2026-09-21T08:43:20-05:30", NOW },
	{ "2026-09-21T14:13:20.25Z", NOW + 250000000 },
	{ "2026-09-21T14:13:20.1234567899Z", NOW + 123456789 },
	{ "2024-02-29T00:00:00Z", 1709164800000000000LL },
	{ "2016-12-31T23:59:60Z", 1483228799000000000LL },
	{ "", 0 },
	{ "1", 0 },
	{ "h", 0 },
	{ "-1h", 0 },
	{ "now", 0 },
	{ "2026-09-21", 0 },
	{ "2026-09-21T14:13:20", 0 }, /* of which clock? */
	{ "2026-09-21T14:13Z", 0 },
	{ "2026-09-21T14:13:20.Z", 0 },
	{ "2026-09-21T14:13:20ZZ", 0 },
	{ "2026-09-21T14:13:20+0200", 0 },
	{ "2026-09-21T14:13:20+24:00", 0 },
	{ "2026-13-01T00:00:00Z", 0 },
	{ "2026-00-01T00:00:00Z", 0 },
	{ "2026-04-31T00:00:00Z", 0 },
	{ "2023-02-29T00:00:00Z", 0 },
	{ "2026-09-21T24:00:00Z", 0 },
	{ "2026-09-21T14:60:00Z", 0 },
	{ "2026-09-21T14:13:61Z", 0 },
	{ "20260921T141320Z", 0 },
};

START_TEST(times_are_read)
{
	int64_t ns = 1;
	int result = time_text_read(times[_i].text, NOW, &ns);

	ck_assert_msg(result == (times[_i].ns ? 0 : -EINVAL), "'%s' gave %d", times[_i].text, result);
	ck_assert_msg(ns == (times[_i].ns ? times[_i].ns : 1), "'%s' is %lld", times[_i].text, (long long)ns);
}
END_TEST

START_TEST(times_that_no_clock_has)
{
	int64_t ns = 1;

	ck_assert_int_eq(time_text_read("9999-01-01T00:00:00Z", NOW, &ns), -ERANGE);
	ck_assert_int_eq(time_text_read("0001-01-01T00:00:00Z", NOW, &ns), -ERANGE);
	ck_assert_int_eq(time_text_read("999999999999d", NOW, &ns), -ERANGE);
	ck_assert_int_eq(time_text_read("200000d", -NOW, &ns), -ERANGE);
	ck_assert_int_eq(ns, 1);
}
END_TEST

START_TEST(times_are_written)
{
	char text[TIME_TEXT_BYTES];

	ck_assert_str_eq(time_text_write(NOW + 999999999, text), "2026-09-21T14:13:20Z");
	ck_assert_str_eq(time_text_write(0, text), "1970-01-01T00:00:00Z");
	ck_assert_str_eq(time_text_write(INT64_MAX, text), "2262-04-11T23:47:16Z");
}
END_TEST

START_TEST(durations_are_written)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 250000000, "250 ms" },          { 1000000000, "1 s" },
		{ 59 * MIN / 60, "59 s" },        { MIN, "1 min" },
		{ 110 * MIN / 60, "1 min 50 s" }, { 60 * MIN, "1 h" },
		{ 125 * MIN + 1, "2 h 5 min" },   { 60 * MIN + MIN / 60, "1 h" },
		{ 7 * 24 * 60 * MIN, "7 d" },     { (7 * 24 + 4) * 60 * MIN, "7 d 4 h" },
	};
	char text[TIME_TEXT_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(time_text_write_duration(cases[i].ns, text), cases[i].text);
}
END_TEST

SUITE(time_text)
{
	Suite *suite = suite_create("time_text");
	TCase *texts = tcase_create("texts");

	tcase_add_loop_test(texts, times_are_read, 0, ARRAY_SIZE(times));
	tcase_add_test(texts, times_that_no_clock_has);
	tcase_add_test(texts, times_are_written);
	tcase_add_test(texts, durations_are_written);
	suite_add_tcase(suite, texts);
	return suite;
}
