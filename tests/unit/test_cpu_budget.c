/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows how much CPU time there is for what has a budget, and when there is more again. */
#include "common/base/clock.h"
#include "consumer/process/cpu_budget.h"
#include "tests/unit/suites.h"

#define BEGAN (1000 * CLOCK_SECOND_NS)

START_TEST(a_share_of_the_machine)
{
	/* 5 % of four CPUs is 0.2 s in each second, and 4 s are saved up */
	struct cpu_budget budget = { .ppm = 50000, .cpus = 4 };

	ck_assert(cpu_budget_has_time(&budget, BEGAN));
	cpu_budget_take(&budget, 4 * CLOCK_SECOND_NS - 1);
	ck_assert(cpu_budget_has_time(&budget, BEGAN));
	cpu_budget_take(&budget, 1);
	ck_assert(!cpu_budget_has_time(&budget, BEGAN));
	/* more than there was: it has to be earned */
	cpu_budget_take(&budget, CLOCK_SECOND_NS);
	ck_assert(!cpu_budget_has_time(&budget, BEGAN + 4 * CLOCK_SECOND_NS));
	ck_assert(cpu_budget_has_time(&budget, BEGAN + 6 * CLOCK_SECOND_NS));
	/* in small steps as in one */
	cpu_budget_take(&budget, CLOCK_SECOND_NS);
	for (uint64_t ms = 6000; ms <= 9000; ms++)
		ck_assert(!cpu_budget_has_time(&budget, BEGAN + ms * 1000000));
}
END_TEST

START_TEST(no_more_is_saved_up)
{
	struct cpu_budget budget = { .ppm = 100000, .cpus = 1 };

	cpu_budget_has_time(&budget, BEGAN);
	ck_assert(cpu_budget_has_time(&budget, BEGAN + 1000000 * CLOCK_SECOND_NS));
	cpu_budget_take(&budget, 2 * CLOCK_SECOND_NS);
	ck_assert(!cpu_budget_has_time(&budget, BEGAN + 1000000 * CLOCK_SECOND_NS));
}
END_TEST

START_TEST(less_may_be_saved_up)
{
	/* 1 % of a CPU: 0.1 s in ten seconds */
	struct cpu_budget budget = { .ppm = 10000, .cpus = 1, .saved_s = 10 };

	ck_assert(cpu_budget_has_time(&budget, BEGAN));
	cpu_budget_take(&budget, CLOCK_SECOND_NS / 10);
	ck_assert(!cpu_budget_has_time(&budget, BEGAN));
	ck_assert(cpu_budget_has_time(&budget, BEGAN + 100 * CLOCK_SECOND_NS));
	cpu_budget_take(&budget, CLOCK_SECOND_NS / 10);
	ck_assert(!cpu_budget_has_time(&budget, BEGAN + 100 * CLOCK_SECOND_NS));
}
END_TEST

START_TEST(nothing_is_nothing)
{
	struct cpu_budget budget = { .ppm = 0, .cpus = 64 };

	for (uint64_t s = 0; s < 10000; s += 100)
		ck_assert(!cpu_budget_has_time(&budget, BEGAN + s * CLOCK_SECOND_NS));
}
END_TEST

SUITE(cpu_budget)
{
	Suite *suite = suite_create("cpu_budget");
	TCase *cases = tcase_create("budget");

	tcase_add_test(cases, a_share_of_the_machine);
	tcase_add_test(cases, no_more_is_saved_up);
	tcase_add_test(cases, less_may_be_saved_up);
	tcase_add_test(cases, nothing_is_nothing);
	suite_add_tcase(suite, cases);
	return suite;
}
