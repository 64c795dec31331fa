/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the usage of a process is summed over its threads, that two walks are told apart, and that a
 * capture has a row for each process that stands out by some measure, and one for all others.
 */
#include "consumer/capture/capture_usage.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static void meet(struct usage *usage, uint32_t tgid, uint64_t cpu_ns, uint64_t rss_bytes)
{
	struct task_record record = { .tgid = tgid,
				      .uid = 1000,
				      .started_ns = 10 * tgid,
				      .cgroup_id = 5,
				      .comm = "process",
				      .usage = { .cpu_ns = cpu_ns },
				      .rss_bytes = rss_bytes };

	usage_walk_process(usage, &record);
}

static void meet_thread(struct usage *usage, uint32_t tgid, uint64_t cpu_ns)
{
	struct thread_record record = { .tgid = tgid,
					.started_ns = 10 * tgid,
					.usage = { .cpu_ns = cpu_ns } };

	usage_walk_thread(usage, &record);
}

static const struct usage_process *process_of(const struct usage *usage, uint32_t tgid)
{
	for (uint32_t i = 0; i < usage->count; i++)
		if (usage->processes[i].tgid == tgid)
			return &usage->processes[i];
	return NULL;
}

START_TEST(threads_add_up_in_any_order)
{
	struct usage usage;

	usage_init(&usage);
	for (unsigned int walk = 1; walk <= 2; walk++) {
		usage_walk_begin(&usage);
		meet_thread(&usage, 7, 100 * walk);
		meet(&usage, 7, 10 * walk, 4096);
		meet_thread(&usage, 7, walk);
		usage_walk_end(&usage, walk, UINT32_MAX);
		ck_assert_uint_eq(usage.count, 1);
		ck_assert_uint_eq(usage.processes[0].sums.task.cpu_ns, 111 * walk);
		ck_assert_str_eq(usage.processes[0].comm, "process");
		ck_assert_uint_eq(usage.walked_ns, walk);
	}
	usage_free(&usage);
}
END_TEST

START_TEST(an_ended_process_is_forgotten_unless_a_capture_needs_it)
{
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage);
	for (uint32_t tgid = 1; tgid <= 500; tgid++)
		meet(&usage, tgid, tgid, 0);
	usage_walk_end(&usage, 1, UINT32_MAX);
	usage_walk_begin(&usage);
	for (uint32_t tgid = 2; tgid <= 500; tgid += 2)
		meet(&usage, tgid, tgid + 1, 0);
	usage_walk_end(&usage, 2, 0);
	ck_assert_uint_eq(usage.count, 500);
	ck_assert_uint_eq(process_of(&usage, 3)->sums.task.cpu_ns, 3);
	usage_walk_begin(&usage);
	for (uint32_t tgid = 2; tgid <= 500; tgid += 2)
		meet(&usage, tgid, tgid + 2, 0);
	usage_walk_end(&usage, 3, UINT32_MAX);
	ck_assert_uint_eq(usage.count, 250);
	ck_assert_ptr_null(process_of(&usage, 3));
	/* the index still finds each process: no process has two entries */
	usage_walk_begin(&usage);
	meet(&usage, 500, 9, 0);
	ck_assert_uint_eq(usage.count, 250);
	ck_assert_uint_eq(process_of(&usage, 500)->sums.task.cpu_ns, 9);
	usage_free(&usage);
}
END_TEST

START_TEST(a_capture_keeps_what_ended_after_its_walk)
{
	struct usage usage;

	usage_init(&usage);
	for (uint32_t walk = 1; walk <= 4; walk++) {
		usage_walk_begin(&usage);
		meet(&usage, 100, 1, 0);
		meet(&usage, walk, 1, 0); /* each is met once */
		usage_walk_end(&usage, walk, 2);
	}
	/* no walk after the second met processes 1 and 2 */
	ck_assert_uint_eq(usage.count, 3);
	ck_assert_uint_eq(usage.ended, 1);
	ck_assert_ptr_null(process_of(&usage, 2));
	ck_assert_ptr_nonnull(process_of(&usage, 3));
	ck_assert_ptr_nonnull(process_of(&usage, 4));
	usage_free(&usage);
}
END_TEST

/* Processes 1 to 100 of 110 have ended; the higher the number, the more CPU time. */
static void end_a_hundred(struct usage *usage)
{
	usage_walk_begin(usage);
	for (uint32_t tgid = 1; tgid <= 110; tgid++)
		meet(usage, tgid, tgid < 60 ? 7 : tgid, 0);
	usage_walk_end(usage, 2, 0);
	usage_walk_begin(usage);
	for (uint32_t tgid = 101; tgid <= 110; tgid++)
		meet(usage, tgid, tgid, 0);
	usage_walk_end(usage, 3, 0);
	ck_assert_uint_eq(usage->ended, 100);
}

START_TEST(too_many_ended_processes_lose_those_that_ran_least)
{
	struct usage usage;

	usage_init(&usage);
	end_a_hundred(&usage);
	ck_assert(!usage_choose(&usage, 100));
	ck_assert(usage_choose(&usage, 99));
	usage_sweep(&usage);
	ck_assert_uint_eq(usage.ended, 49);
	ck_assert_uint_eq(usage.count, 59);
	ck_assert_ptr_nonnull(process_of(&usage, 100));
	ck_assert_ptr_nonnull(process_of(&usage, 101));
	/* of those with equal times, the latest stay */
	ck_assert_ptr_nonnull(process_of(&usage, 59));
	ck_assert_ptr_nonnull(process_of(&usage, 52));
	ck_assert_ptr_null(process_of(&usage, 51));
	ck_assert(!usage_choose(&usage, 99));
	ck_assert(usage_choose(&usage, 1));
	usage_sweep(&usage);
	ck_assert_uint_eq(usage.ended, 0);
	ck_assert_uint_eq(usage.count, 10);
	usage_free(&usage);
}
END_TEST

static bool describe(void *user, const struct usage_process *process, const char **ret_cgroup)
{
	(void)user;
	*ret_cgroup = process->tgid % 2 ? "/odd" : NULL;
	return process->tgid == 1;
}

static const struct usage_row *row_of(const struct capture_usage *taken, uint32_t tgid)
{
	for (uint32_t i = 0; i < taken->count; i++)
		if (taken->rows[i].process.tgid == tgid)
			return &taken->rows[i];
	return NULL;
}

START_TEST(a_capture_has_the_usage_since_the_walk_before_it)
{
	struct capture_usage taken;
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage);
	meet(&usage, 1, 1000, 4096);
	meet(&usage, 2, 5000, 0);
	meet(&usage, 3, 100, 0); /* ended before the capture; kept because a capture may need it */
	usage_walk_end(&usage, 100, UINT32_MAX);
	usage_walk_begin(&usage);
	meet(&usage, 1, 1100, 4096);
	meet(&usage, 2, 5500, 0);
	usage_walk_end(&usage, 200, 0);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	usage_walk_begin(&usage);
	meet(&usage, 1, 1150, 8192);
	meet(&usage, 2, 5400, 0); /* a sum that shrank is not used */
	meet(&usage, 9, 77, 0);   /* started during the capture */
	usage_walk_end(&usage, 300, 0);
	ck_assert_int_eq(capture_usage_end(&taken, &usage, describe, NULL), 0);
	ck_assert_uint_eq(taken.before.walked_ns, 200);
	ck_assert_uint_eq(taken.to_ns, 300);
	ck_assert_uint_eq(taken.count, 3);
	ck_assert_uint_eq(row_of(&taken, 1)->process.sums.task.cpu_ns, 50);
	ck_assert_uint_eq(row_of(&taken, 1)->process.sums.rss_bytes, 8192);
	ck_assert_int_eq(row_of(&taken, 1)->role, USAGE_TARGET);
	ck_assert_str_eq(row_of(&taken, 1)->cgroup, "/odd");
	ck_assert_uint_eq(row_of(&taken, 9)->process.sums.task.cpu_ns, 77);
	ck_assert_int_eq(row_of(&taken, 9)->role, USAGE_OTHER);
	ck_assert_ptr_eq(row_of(&taken, 9)->cgroup, row_of(&taken, 1)->cgroup); /* one copy for the cgroup */
	ck_assert_ptr_null(row_of(&taken, 2));
	ck_assert_int_eq(taken.rows[2].role, USAGE_REST);
	capture_usage_free(&taken);
	usage_free(&usage);
}
END_TEST

/* A sum that a capture had before it began does not count in it, and no sum counts twice. */
START_TEST(what_is_settled_counts_in_the_rest)
{
	struct capture_usage taken, later;
	uint64_t others_ns = 0;
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage);
	meet(&usage, 1, 3, 0); /* the target had used 3 ns before, and 7 in all */
	usage_walk_end(&usage, 1, 0);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	end_a_hundred(&usage);
	ck_assert_int_eq(capture_usage_begin(&later, &usage), 0);
	ck_assert_uint_eq(later.before.count, 110);
	ck_assert(usage_choose(&usage, 20));
	capture_usage_settle(&taken, &usage, describe, NULL);
	capture_usage_settle(&later, &usage, describe, NULL);
	usage_sweep(&usage);
	ck_assert_int_eq(capture_usage_end(&taken, &usage, describe, NULL), 0);
	ck_assert_int_eq(capture_usage_end(&later, &usage, describe, NULL), 0);
	ck_assert_uint_eq(taken.rest_targets.task.cpu_ns, 4);
	ck_assert_uint_eq(taken.count, 20 + 1);
	for (uint32_t i = 0; i < taken.count; i++)
		others_ns += taken.rows[i].process.sums.task.cpu_ns;
	for (uint32_t tgid = 1; tgid <= 110; tgid++)
		others_ns -= tgid < 60 ? 7 : tgid;
	ck_assert_uint_eq(others_ns + 3, 0);
	ck_assert_uint_eq(later.count, 1); /* nothing ran after its walk */
	ck_assert_uint_eq(later.rest_others.task.cpu_ns, 0);
	ck_assert_uint_eq(taken.before.count, 0); /* its memory is given back */
	ck_assert_uint_eq(taken.before.walked_ns, 1);
	capture_usage_free(&taken);
	capture_usage_free(&later);
	usage_free(&usage);
}
END_TEST

START_TEST(the_first_hundred_of_each_measure_and_the_rest)
{
	uint64_t cpu_ns = 0, rss_bytes = 0;
	struct capture_usage taken;
	struct usage usage;

	usage_init(&usage);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	usage_walk_begin(&usage);
	/* those with the most CPU time have the least memory, and sixty-one are equal at the limit */
	for (uint32_t tgid = 1; tgid <= 1000; tgid++)
		meet(&usage, tgid, tgid > 814 && tgid < 875 ? 950 : tgid, 2000 - tgid);
	usage_walk_end(&usage, 1, 0);
	ck_assert_int_eq(capture_usage_end(&taken, &usage, describe, NULL), 0);
	ck_assert_uint_eq(taken.count, 2 * USAGE_ROWS_A_MEASURE + 1);
	ck_assert_ptr_nonnull(row_of(&taken, 1000));
	ck_assert_ptr_nonnull(row_of(&taken, 1));
	ck_assert_ptr_null(row_of(&taken, 500));
	for (uint32_t i = 0; i < taken.count; i++) {
		cpu_ns += taken.rows[i].process.sums.task.cpu_ns;
		rss_bytes += taken.rows[i].process.sums.rss_bytes;
	}
	for (uint32_t tgid = 1; tgid <= 1000; tgid++) {
		cpu_ns -= tgid > 814 && tgid < 875 ? 950 : tgid;
		rss_bytes -= 2000 - tgid;
	}
	ck_assert_uint_eq(cpu_ns, 0);
	ck_assert_uint_eq(rss_bytes, 0);
	capture_usage_free(&taken);
	usage_free(&usage);
}
END_TEST

Suite *usage_suite(void)
{
	Suite *suite = suite_create("usage");
	TCase *walks = tcase_create("walks"), *rows = tcase_create("rows");

	tcase_add_test(walks, threads_add_up_in_any_order);
	tcase_add_test(walks, an_ended_process_is_forgotten_unless_a_capture_needs_it);
	tcase_add_test(walks, a_capture_keeps_what_ended_after_its_walk);
	tcase_add_test(walks, too_many_ended_processes_lose_those_that_ran_least);
	suite_add_tcase(suite, walks);
	tcase_add_test(rows, a_capture_has_the_usage_since_the_walk_before_it);
	tcase_add_test(rows, what_is_settled_counts_in_the_rest);
	tcase_add_test(rows, the_first_hundred_of_each_measure_and_the_rest);
	suite_add_tcase(suite, rows);
	return suite;
}
