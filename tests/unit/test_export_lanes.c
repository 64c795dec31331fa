/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of lanes: a thread's samples in the order of time, whatever names it had, with and without times of their own. */
#include "common/base/cleanup.h"
#include "report/export/export_lanes.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <string.h>

static struct export_fixture fixture;
static struct database database;
static struct profile profile;
static struct lanes lanes;

static void set_up(void)
{
	export_fixture_make(&fixture);
	database = (struct database){ .path = fixture.path };
}

static void tear_down(void)
{
	lanes_free(&lanes);
	profile_free(&profile);
	database_close(&database);
	export_fixture_free(&fixture);
}

static void make(void)
{
	ck_assert_int_eq(database_open(fixture.path, &database), 0);
	ck_assert_int_eq(profile_load(&database, 1, PROFILE_OF_ALL, &profile), 0);
	ck_assert_int_eq(lanes_make(&profile, &lanes), 0);
}

static const struct lane *lane_of(int64_t process_id, int64_t tid)
{
	for (uint32_t i = 0; i < lanes.count; i++)
		if (lanes.lanes[i].tid == tid &&
		    profile.processes[lanes.lanes[i].process].process_id == process_id)
			return &lanes.lanes[i];
	ck_abort_msg("no lane of thread %lld", (long long)tid);
	return NULL;
}

START_TEST(a_thread_is_one_lane_in_the_order_of_time)
{
	const struct lane *lane;

	make();
	/* the second program of a process is another process; a thread that was renamed is the same */
	ck_assert_uint_eq(lanes.count, 5);
	lane = lane_of(1, 4243);
	ck_assert(!lane->is_main && lane_of(1, 4242)->is_main && lane_of(4, 4242)->is_main);
	ck_assert_str_eq(profile_text(&profile, lane_of(2, 5000)->role), "other");
	ck_assert_str_eq(profile_text(&profile, lane_of(3, 7)->role), "kernel");
	for (uint32_t i = 0; i < lanes.count; i++) {
		const struct lane_event *events = lanes.events + lanes.lanes[i].first;

		ck_assert(!i || lanes.lanes[i].process != lanes.lanes[i - 1].process ||
			  !lanes.lanes[i].is_main);
		for (uint32_t k = 1; k < lanes.lanes[i].count; k++)
			ck_assert_int_le(events[k - 1].begin_ms, events[k].begin_ms);
	}
	lane = lane_of(1, 4242);
	ck_assert_uint_eq(lane->count, 8);
	/* the oldest is an interval that began before the capture did; then two samples, with their CPUs */
	ck_assert_int_eq(lanes.events[lane->first].begin_ms, -9000);
	ck_assert_int_eq(lanes.events[lane->first].end_ms, 1100);
	ck_assert_int_eq(lanes.events[lane->first].ns,
			 500000000); /* not its length: seconds before have theirs */
	ck_assert_int_eq(lanes.events[lane->first + 1].begin_ms, -1990);
	ck_assert_int_eq(lanes.events[lane->first + 1].cpu, 0);
	ck_assert_int_eq(lanes.events[lane->first + 2].cpu, 1);
}
END_TEST

START_TEST(samples_without_times_are_spread_over_their_second)
{
	const struct lane *lane;
	uint32_t samples = 0, events = 0;

	make();
	lane = lane_of(1, 4243);
	for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
		const struct lane_event *event = &lanes.events[i];

		if (profile.samples[event->sample].samples != 20)
			continue;
		ck_assert_int_ge(event->begin_ms, 1000);
		ck_assert_int_lt(event->begin_ms, 2000);
		ck_assert_int_eq(event->cpu, -1);
		samples += event->count;
		events++;
	}
	ck_assert_uint_eq(samples, 20);
	ck_assert_uint_eq(events, 16);
}
END_TEST

START_TEST(intervals_without_times_last_as_long_as_on_average)
{
	const struct lane *lane;
	uint32_t found = 0;

	export_fixture_run(&fixture, "UPDATE sample_row SET times = NULL WHERE class = 4");
	make();
	lane = lane_of(1, 4243);
	for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
		const struct lane_event *event = &lanes.events[i];

		if (strcmp(profile_text(&profile, profile.samples[event->sample].stall), "io") != 0)
			continue;
		ck_assert_int_eq(event->end_ms - event->begin_ms, 75);
		found += event->count;
	}
	ck_assert_uint_eq(found, 2);
}
END_TEST

START_TEST(more_samples_than_a_capture_has_are_refused)
{
	export_fixture_run(
		&fixture,
		"UPDATE sample_row SET samples = 9223372036854775807, times = NULL WHERE class = 1");
	ck_assert_int_eq(database_open(fixture.path, &database), 0);
	ck_assert_int_eq(profile_load(&database, 1, PROFILE_OF_ALL, &profile), 0);
	ck_assert_int_eq(lanes_make(&profile, &lanes), -E2BIG);
}
END_TEST

SUITE(export_lanes)
{
	Suite *suite = suite_create("export_lanes");
	TCase *tests = tcase_create("export_lanes");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_thread_is_one_lane_in_the_order_of_time);
	tcase_add_test(tests, samples_without_times_are_spread_over_their_second);
	tcase_add_test(tests, intervals_without_times_last_as_long_as_on_average);
	tcase_add_test(tests, more_samples_than_a_capture_has_are_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
