/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that what the kernel counts of programs is read whole, and that it is known whether it counts.
 */
#include "consumer/host/program_costs.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

struct programs {
	uint32_t count;
	uint64_t runs;
	bool are_counted;
};

static void iterate(void *user, enum pin_iterator iterator, FILE *out)
{
	struct programs *programs = user;

	ck_assert_int_eq(iterator, PIN_PROGRAMS);
	for (uint32_t i = 0; i < programs->count; i++) {
		const struct program_cost cost = { .header = { RECORD_PROGRAM, sizeof(cost) },
						   .name = { "walk_programs" },
						   .runs = programs->runs,
						   .missed = i };

		ck_assert_uint_eq(fwrite(&cost, sizeof(cost), 1, out), 1);
	}
	programs->runs += programs->are_counted;
}

static int read_costs(struct program_costs *costs, struct programs *programs)
{
	struct fake_kernel kernel;
	int result;

	fake_kernel_make(&kernel, 1, 16);
	kernel.iterate = iterate;
	kernel.user = programs;
	result = program_costs_read(costs, &kernel.objects);
	fake_kernel_free(&kernel);
	return result;
}

START_TEST(whether_the_kernel_counts)
{
	const struct {
		uint64_t runs;
		bool are_counted;
	} all[] = { { 0, false }, { 5, false }, { 5, true } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct programs programs = { 3, all[i].runs, all[i].are_counted };
		struct program_costs costs;

		ck_assert_int_eq(read_costs(&costs, &programs), 0);
		ck_assert_uint_eq(costs.count, 3);
		ck_assert_int_eq(costs.are_counted, all[i].are_counted);
		ck_assert_uint_eq(program_costs_missed(&costs), 3);
	}
}
END_TEST

START_TEST(what_is_no_record_is_refused)
{
	struct program_cost record = { .header = { RECORD_PROGRAM, sizeof(record) } };
	struct programs programs = { OWN_PROGRAMS_MAX + 1, 1, true };
	struct program_costs costs = { 0 };

	memset(&record.name, 'x', sizeof(record.name));
	ck_assert_int_eq(program_costs_add(&costs, (const char *)&record, sizeof(record) - 1), 0);
	ck_assert_int_eq(program_costs_add(&costs, (const char *)&record, sizeof(record)), sizeof(record));
	ck_assert_uint_eq(strlen(costs.each[0].name.text), sizeof(record.name) - 1);
	record.header.type = RECORD_TASK;
	ck_assert_int_eq(program_costs_add(&costs, (const char *)&record, sizeof(record)), -EBADMSG);
	ck_assert_int_eq(read_costs(&costs, &programs), -EBADMSG);
	ck_assert_uint_eq(costs.count, 0);
}
END_TEST

SUITE(program_costs)
{
	Suite *suite = suite_create("program_costs");
	TCase *tests = tcase_create("program_costs");

	tcase_add_test(tests, whether_the_kernel_counts);
	tcase_add_test(tests, what_is_no_record_is_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
