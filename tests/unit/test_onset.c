/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows since when a resource was short, by the waiting of the targets before the trigger. */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/capture/onset.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#define MS 1000000ULL
#define ROWS_MOST 8

struct onset_case {
	const char *what;
	enum psi_resource resource;
	uint32_t history_s;
	struct capture_row rows[ROWS_MOST]; /* process 0 is a target, process 1 is not */
	uint32_t before_s;
	bool at_least;
};

#define WAITS(when, ms)                                                                                      \
	{                                                                                                    \
		.second = (when), .stall = STALL_CPU, .weight_ns = (ms)*MS                                   \
	}

/* The threshold is 400 ms in 2 s, so that 100 ms of a second count. */
static const struct onset_case onset_cases[] = {
	{ "no row", PSI_CPU, 10, { { 0 } }, 0, false },
	{ "the last two seconds", PSI_CPU, 10, { WAITS(-2, 100), WAITS(-1, 900), WAITS(-3, 99) }, 2, false },
	{ "threads add up", PSI_CPU, 10, { WAITS(-1, 60), WAITS(-1, 60) }, 1, false },
	{ "a pause ends it", PSI_CPU, 10, { WAITS(-1, 500), WAITS(-3, 500), WAITS(-4, 500) }, 1, false },
	{ "all of the history", PSI_CPU, 2, { WAITS(-1, 500), WAITS(-2, 500), WAITS(-3, 500) }, 2, true },
	{ "after the trigger", PSI_CPU, 10, { WAITS(0, 500), WAITS(1, 500) }, 0, false },
	{ "another resource", PSI_IO, 10, { WAITS(-1, 500) }, 0, false },
	{ "both resources",
	  PSI_MEMORY,
	  10,
	  { { .second = -1, .stall = STALL_MEMORY | STALL_CPU, .weight_ns = 500 * MS } },
	  1,
	  false },
	{ "another process",
	  PSI_CPU,
	  10,
	  { { .process = 1, .second = -1, .stall = STALL_CPU, .weight_ns = 500 * MS } },
	  0,
	  false },
	{ "interrupts have no waiting threads", PSI_IRQ, 10, { WAITS(-1, 500) }, 0, false },
};

START_TEST(onsets)
{
	const struct onset_case *one = &onset_cases[_i];
	struct capture_process processes[] = { { .role = USAGE_TARGET }, { .role = USAGE_OTHER } };
	struct capture_row rows[ROWS_MOST];
	struct capture capture = {
		.trigger = { .psi = { .resource = one->resource, .stall_us = 400000, .window_us = 2000000 },
			     .triggered_ns = 100 * CLOCK_SECOND_NS,
			     .wanted_history_ns = one->history_s * CLOCK_SECOND_NS },
		.offcpu_from_ns = (100 - one->history_s) * CLOCK_SECOND_NS,
		.processes = processes,
		.processes_count = ARRAY_SIZE(processes),
		.rows = rows
	};
	struct onset onset;

	while (capture.rows_count < ROWS_MOST && one->rows[capture.rows_count].weight_ns) {
		rows[capture.rows_count] = one->rows[capture.rows_count];
		capture.rows_count++;
	}
	onset = onset_find(&capture);
	ck_assert_msg(onset.before_s == one->before_s && onset.at_least == one->at_least, "%s: %u s%s",
		      one->what, onset.before_s, onset.at_least ? " at least" : "");
}
END_TEST

SUITE(onset)
{
	Suite *suite = suite_create("onset");
	TCase *tests = tcase_create("onset");

	tcase_add_loop_test(tests, onsets, 0, ARRAY_SIZE(onset_cases));
	suite_add_tcase(suite, tests);
	return suite;
}
