/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows what the line of totals says of a second, and that it is found again by the second's begin. */
#include "report/live/machine_load.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

static bool is_near(float value, double wanted)
{
	return value > wanted - 0.001 && value < wanted + 0.001;
}

START_TEST(a_second_is_what_lies_between_two_readings)
{
	/* 2 CPUs, which idled for 0.5 s of a second of both */
	const struct load_reading before = { .now_ns = 1000000000,
					     .cpu = { .cpus = 2, .idle_ns = 7000000000 },
					     .disk = { true, 4096, 8192 },
					     .psi_us = { 100, 200, 300 },
					     .has_psi = { true, true, true } },
				  after = { .now_ns = 3000000000,
					    .cpu = { .cpus = 2, .idle_ns = 8000000000 },
					    .disk = { true, 8192, 20480 },
					    .psi_us = { 500100, 200, 5000300 },
					    .has_psi = { true, true, true } };
	const struct machine_load load = machine_load_between(&before, &after);

	ck_assert(is_near(load.cpu, 0.75));
	ck_assert(is_near((float)load.disk_bytes, 8192));
	ck_assert(is_near(load.psi[PSI_CPU], 0.25));
	ck_assert(is_near(load.psi[PSI_MEMORY], 0));
	/* the clocks of the two differ */
	ck_assert(is_near(load.psi[PSI_IO], 1));
}
END_TEST

START_TEST(what_was_not_read_or_has_fallen_is_not_known)
{
	const struct load_reading before = { .now_ns = 1,
					     .cpu = { .cpus = 2, .idle_ns = 5 },
					     .disk = { true, 4096, 4096 },
					     .psi_us = { 7, 7, 7 },
					     .has_psi = { true, true } },
				  after = { .now_ns = 1000000001,
					    .cpu = { .cpus = 1, .idle_ns = 6 },
					    .disk = { true, 0, 0 },
					    .psi_us = { 6, 8, 8 },
					    .has_psi = { true, false, true } };
	const struct machine_load load = machine_load_between(&before, &after);

	ck_assert(load.cpu < 0);
	ck_assert(load.disk_bytes < 0);
	for (int i = 0; i < LOAD_RESOURCES; i++)
		ck_assert(load.psi[i] < 0);
}
END_TEST

START_TEST(memory_in_use_is_what_is_not_available)
{
	ck_assert(is_near(machine_load_memory("MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable:  250 kB\n"),
			  0.75));
	ck_assert(machine_load_memory("MemTotal: 1000 kB\n") < 0);
	ck_assert(machine_load_memory("MemTotal: 0 kB\nMemAvailable: 0 kB\n") < 0);
	ck_assert(machine_load_memory("MemTotal: 10 kB\nMemAvailable: 11 kB\n") < 0);
	ck_assert(machine_load_memory("") < 0);
}
END_TEST

START_TEST(seconds_are_noted_and_found_by_their_begin)
{
	struct machine_loads *loads = calloc(1, sizeof(*loads));

	ck_assert_ptr_nonnull(loads);
	machine_load_note(loads, 1);
	ck_assert_ptr_null(machine_load_find(loads, 1));
	for (int64_t second = 2; second < (int64_t)HISTORY_SECONDS + 4; second++)
		machine_load_note(loads, second);
	ck_assert_ptr_null(machine_load_find(loads, 3));
	for (int64_t second = 4; second < (int64_t)HISTORY_SECONDS + 4; second++) {
		const struct machine_load *load = machine_load_find(loads, second);

		ck_assert_ptr_nonnull(load);
		/* of this machine */
		ck_assert(load->cpu >= 0 && load->cpu <= 1);
		ck_assert(load->memory > 0 && load->memory < 1);
	}
	free(loads);
}
END_TEST

SUITE(machine_load)
{
	Suite *suite = suite_create("machine_load");
	TCase *seconds = tcase_create("seconds");

	tcase_add_test(seconds, a_second_is_what_lies_between_two_readings);
	tcase_add_test(seconds, what_was_not_read_or_has_fallen_is_not_known);
	tcase_add_test(seconds, memory_in_use_is_what_is_not_available);
	tcase_add_test(seconds, seconds_are_noted_and_found_by_their_begin);
	suite_add_tcase(suite, seconds);
	return suite;
}
