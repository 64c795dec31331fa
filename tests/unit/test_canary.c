/* SPDX-License-Identifier: GPL-2.0-only */
/* Judges a canary that was not sampled by the CPU time that it received, at several rates. */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "loader/canary.h"
#include "tests/unit/suites.h"

#define MS (CLOCK_SECOND_NS / 1000)

static const struct judged {
	unsigned int hz;
	uint64_t ran_ns, waited_ns;
	enum grade expected;
} judged[] = {
	{ 47, 0, 0, GRADE_OK },
	{ 47, 424 * MS, 9999 * MS, GRADE_OK },
	/* twenty samples were due */
	{ 47, 426 * MS, 426 * MS, GRADE_FAILED },
	{ 47, 426 * MS, 60000 * MS, GRADE_FAILED },
	{ 1000, 20 * MS, 20 * MS, GRADE_FAILED },
	{ 1000, 19 * MS, 20 * MS, GRADE_OK },
	{ 1, 9999 * MS, 9999 * MS, GRADE_OK }, /* fewer than twenty in all that is waited */
	/* it got too little of ten seconds */
	{ 47, 0, 10000 * MS, GRADE_UNKNOWN },
	{ 47, 424 * MS, 10000 * MS, GRADE_UNKNOWN },
	{ 1, 10000 * MS, 10000 * MS, GRADE_UNKNOWN },
};

START_TEST(what_was_not_sampled_is_judged_by_its_cpu_time)
{
	const struct judged *one = &judged[_i];

	ck_assert_int_eq(canary_judge(one->hz, one->ran_ns, one->waited_ns), one->expected);
}
END_TEST

SUITE(canary)
{
	Suite *suite = suite_create("canary");
	TCase *judge = tcase_create("judge");

	tcase_add_loop_test(judge, what_was_not_sampled_is_judged_by_its_cpu_time, 0,
			    (int)ARRAY_SIZE(judged));
	suite_add_tcase(suite, judge);
	return suite;
}
