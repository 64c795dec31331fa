/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a capture adds up where its processes grew their memory, apart from all samples, stays within its limits, and that
 * the database says the same.
 */
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

/* The process has got so much at one of two stacks. */
static struct sample growth_make(uint32_t tgid, uint64_t time_ns, uint64_t bytes, int user_depth)
{
	struct sample sample = sample_make(tgid, time_ns, 2, user_depth, 100);

	sample.kind = SAMPLE_GROWTH;
	sample.weight_ns = bytes;
	return sample;
}

START_TEST(bytes_add_up_by_process_and_stack_and_are_no_samples)
{
	const struct sample slots[] = {
		growth_make(10, TRIGGERED, 2 * MIB, 3),          sample_make(10, TRIGGERED + 1, 2, 3, 100),
		growth_make(10, TRIGGERED + SECOND, 3 * MIB, 3), growth_make(10, TRIGGERED + 2, MIB, 4),
		growth_make(11, TRIGGERED + 3, MIB, 3),
	};
	_cleanup_capture_ struct capture *capture = capture_make(slots, ARRAY_SIZE(slots));
	const struct growth_row *rows = capture->growths.rows;

	ck_assert_uint_eq(capture->growths.count, 3);
	ck_assert_uint_eq(capture->processes[rows[0].process].tgid, 10);
	ck_assert_uint_eq(rows[0].samples, 2);
	ck_assert_uint_eq(rows[0].bytes, 5 * MIB);
	ck_assert_uint_eq(rows[1].process, rows[0].process);
	ck_assert_uint_eq(capture->stacks.stacks[rows[1].stack].user_depth, 4);
	ck_assert_uint_eq(rows[1].bytes, MIB);
	ck_assert_uint_eq(capture->processes[rows[2].process].tgid, 11);
	/* the sample has the stack of the first */
	ck_assert_uint_eq(capture->rows_count, 1);
	ck_assert_uint_eq(capture->rows[0].stack, rows[0].stack);
	ck_assert_uint_eq(capture->rows[0].samples, 1);
	ck_assert_uint_eq(capture->taken, 1);
	ck_assert_uint_eq(capture->events_count, 1);
	ck_assert_uint_eq(capture->losses[LOSS_GROWTH], 0);
}
END_TEST

/* Growth is in the off-CPU ring, so it counts from where that is whole: history begins 4 s before the trigger. */
START_TEST(growth_counts_within_the_capture)
{
	const struct sample slots[] = {
		growth_make(1, TRIGGERED - 4 * SECOND - 1, MIB, 3),
		growth_make(2, TRIGGERED - 4 * SECOND, MIB, 3),
		growth_make(3, TRIGGERED + 5 * SECOND - 1, MIB, 3),
		growth_make(4, TRIGGERED + 5 * SECOND, MIB, 3),
	};
	_cleanup_capture_ struct capture *capture = capture_make(slots, ARRAY_SIZE(slots));

	ck_assert_uint_eq(capture->growths.count, 2);
	ck_assert_uint_eq(capture->processes_count, 2);
	ck_assert_uint_eq(capture->processes[0].tgid, 2);
	ck_assert_uint_eq(capture->processes[1].tgid, 3);
}
END_TEST

START_TEST(of_a_process_to_which_the_rule_does_not_apply_nothing_is_kept)
{
	const struct sample slots[] = { growth_make(666, TRIGGERED, MIB, 3),
					growth_make(666, TRIGGERED + 1, MIB, 3) };
	_cleanup_capture_ struct capture *capture = capture_make(slots, ARRAY_SIZE(slots));

	ck_assert_uint_eq(capture->growths.count, 0);
	ck_assert_uint_eq(capture->processes_count, 0);
	ck_assert_uint_eq(capture->stacks.count, 0);
	ck_assert_uint_eq(capture->losses[LOSS_GROWTH], 0);
	ck_assert_uint_eq(capture->losses[LOSS_UNKNOWN_PROCESS], 0);
}
END_TEST

START_TEST(too_many_rows_are_a_counted_loss)
{
	const uint32_t most = 8192, count = most + 10;
	struct sample *slots = calloc(count, sizeof(*slots));
	_cleanup_capture_ struct capture *capture = NULL;

	for (uint32_t i = 0; i < count; i++) {
		slots[i] = growth_make(1, TRIGGERED, MIB, 3);
		slots[i].user_frames[0] = i;
	}
	capture = capture_make(slots, count);
	ck_assert_uint_eq(capture->growths.count, most);
	ck_assert_uint_eq(capture->losses[LOSS_GROWTH], 10);
	/* no samples are missing by that */
	ck_assert_uint_eq(capture->losses[LOSS_CAPTURE_FULL], 0);
	free(slots);
}
END_TEST

START_TEST(the_database_says_who_grew_where)
{
	const struct sample slots[] = {
		growth_make(10, TRIGGERED, 2 * MIB, 3),
		growth_make(10, TRIGGERED + 1, MIB, 3),
		growth_make(11, TRIGGERED + 2, 7 * MIB, 4),
	};
	_cleanup_capture_ struct capture *capture = capture_make(slots, ARRAY_SIZE(slots));
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(
		&fixture,
		"SELECT capture_id, tgid, g.samples, bytes, function, position FROM growth_stack g "
		"JOIN process USING(process_id) JOIN stack_frame s USING(stack_id) JOIN frame USING(frame_id) "
		"WHERE position IN (0, 5) ORDER BY tgid, position",
		"1|10|2|3145728|kernel_100|0\n"
		"1|11|1|7340032|kernel_100|0\n"
		"1|11|1|7340032|user_103|5\n");
	expect_rows(&fixture, "SELECT sample_count, interval_count, process_count, stack_count FROM capture",
		    "0|0|0|0\n");
	expect_count(&fixture, "sample_row", 0);
	expect_rows(&fixture, "SELECT events, unit FROM loss WHERE reason = 'growth-lost'", "0|event\n");
	store_fixture_free(&fixture);
}
END_TEST

/* Two stacks of the capture, whose addresses differ, may have the same frames. */
START_TEST(stacks_with_the_same_frames_are_one_row)
{
	struct sample slots[] = { growth_make(10, TRIGGERED, MIB, 3),
				  growth_make(10, TRIGGERED + 1, 2 * MIB, 3) };
	_cleanup_capture_ struct capture *capture = NULL;
	struct store_fixture fixture;
	struct resolved resolved;

	slots[1].user_frames[2] = slots[1].user_frames[1];
	capture = capture_make(slots, ARRAY_SIZE(slots));
	resolve_by_hand(capture, false, "", &resolved);
	for (uint32_t i = 0; i < resolved.depths[0]; i++)
		resolved.of_stack_frame[capture->stacks.stacks[1].first + i] =
			resolved.of_stack_frame[capture->stacks.stacks[0].first + i];
	store_fixture_start(&fixture);
	expect_commit_resolved(&fixture, capture, &resolved);
	expect_rows(&fixture, "SELECT count(*), sum(samples), sum(bytes) FROM growth_stack", "1|2|3145728\n");
	resolved_free(&resolved);
	store_fixture_free(&fixture);
}
END_TEST

SUITE(growths)
{
	Suite *suite = suite_create("growths");
	TCase *capture = tcase_create("capture"), *store = tcase_create("store");

	tcase_add_test(capture, bytes_add_up_by_process_and_stack_and_are_no_samples);
	tcase_add_test(capture, growth_counts_within_the_capture);
	tcase_add_test(capture, of_a_process_to_which_the_rule_does_not_apply_nothing_is_kept);
	tcase_add_test(capture, too_many_rows_are_a_counted_loss);
	tcase_add_test(store, the_database_says_who_grew_where);
	tcase_add_test(store, stacks_with_the_same_frames_are_one_row);
	suite_add_tcase(suite, capture);
	suite_add_tcase(suite, store);
	return suite;
}
