/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the table knows each announced process with its latest values until it is forgotten: random
 * announcements, exits, walks and forgetting are compared with an array.
 */
#include "common/base/cleanup.h"
#include "consumer/host/targets.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static struct target_process process_make(uint32_t tgid, uint64_t started_ns)
{
	return (struct target_process){
		.tgid = tgid, .started_ns = started_ns, .pattern_id = 1, .comm = "comm"
	};
}

START_TEST(a_process_is_its_pid_and_its_start)
{
	struct target_process first = process_make(1, 100), second = process_make(1, 200);
	struct targets targets = { 0 };

	second.uid = 7;
	ck_assert_ptr_null(targets_find(&targets, 1, 100));
	ck_assert_int_eq(targets_put(&targets, &first), 0);
	ck_assert_int_eq(targets_put(&targets, &second), 0);
	ck_assert_uint_eq(targets.count, 2);
	ck_assert_uint_eq(targets.live, 2);
	ck_assert_uint_eq(targets_find(&targets, 1, 200)->uid, 7);
	ck_assert_uint_eq(targets_find(&targets, 1, 100)->uid, 0);
	ck_assert_ptr_null(targets_find(&targets, 1, 300));
	ck_assert_ptr_null(targets_find(&targets, 2, 100));
	targets_free(&targets);
	targets_free(&targets);
}
END_TEST

START_TEST(a_new_announcement_replaces_the_values)
{
	struct target_process process = process_make(1, 100);
	struct targets targets = { 0 };

	ck_assert_int_eq(targets_put(&targets, &process), 0);
	strcpy(process.comm, "renamed");
	process.cgroup_id = 5;
	ck_assert_int_eq(targets_put(&targets, &process), 0);
	ck_assert_uint_eq(targets.count, 1);
	ck_assert_uint_eq(targets.live, 1);
	ck_assert_str_eq(targets_find(&targets, 1, 100)->comm, "renamed");
	ck_assert_uint_eq(targets_find(&targets, 1, 100)->cgroup_id, 5);
	targets_free(&targets);
}
END_TEST

START_TEST(a_process_had_a_name_with_each_program)
{
	static const char *const names[] = { "sh", "env", "python3", "app", "worker", "last" };
	struct target_process process = process_make(1, 100);
	struct targets targets = { 0 };

	for (uint32_t program = 0; program < ARRAY_SIZE(names); program++) {
		process.program = 10 + program;
		strcpy(process.comm, "launcher");
		ck_assert_int_eq(targets_put(&targets, &process), 0);
		strcpy(process.comm, names[program]); /* renamed: the name that it had last counts */
		ck_assert_int_eq(targets_put(&targets, &process), 0);
		targets_leave(&targets, 1, 100, 5);
	}
	process = *targets_find(&targets, 1, 100);
	for (uint32_t program = 1; program < ARRAY_SIZE(names); program++)
		ck_assert_str_eq(targets_comm_of(&process, 10 + program), names[program]);
	/* too long ago, and not announced yet */
	ck_assert_ptr_null(targets_comm_of(&process, 10));
	ck_assert_ptr_null(targets_comm_of(&process, 99));
	targets_free(&targets);
}
END_TEST

/* A process that has exited is known until it is forgotten; a new announcement revives it. */
START_TEST(an_exit_does_not_forget_the_process)
{
	struct target_process process = process_make(1, 100);
	struct targets targets = { 0 };

	ck_assert_int_eq(targets_put(&targets, &process), 0);
	targets_leave(&targets, 1, 999, 50); /* another process */
	ck_assert_uint_eq(targets.live, 1);
	targets_leave(&targets, 1, 100, 50);
	ck_assert_uint_eq(targets.live, 0);
	targets_leave(&targets, 1, 100, 70); /* the time of the first exit counts */
	ck_assert_uint_eq(targets.live, 0);
	ck_assert_uint_eq(targets_find(&targets, 1, 100)->gone_ns, 50);
	targets_forget(&targets, 50);
	ck_assert_ptr_nonnull(targets_find(&targets, 1, 100));
	ck_assert_int_eq(targets_put(&targets, &process), 0);
	ck_assert_uint_eq(targets.live, 1);
	targets_forget(&targets, UINT64_MAX);
	ck_assert_ptr_nonnull(targets_find(&targets, 1, 100));
	targets_leave(&targets, 1, 100, 80);
	targets_forget(&targets, 81);
	ck_assert_ptr_null(targets_find(&targets, 1, 100));
	ck_assert_uint_eq(targets.count, 0);
	targets_free(&targets);
}
END_TEST

/* A user whose processes end in a storm loses the oldest of his own; others keep theirs. */
START_TEST(users_share_the_room_for_ended_processes)
{
	struct target_process process;
	struct targets targets = { 0 };

	for (uint32_t i = 0; i < 1000; i++) {
		process = process_make(1000 + i, 1);
		process.uid = 7;
		HOLDS(targets_put(&targets, &process) == 0);
		targets_leave(&targets, 1000 + i, 1, 5000 + i);
	}
	for (uint32_t i = 0; i < 30; i++) {
		process = process_make(i, 1);
		process.uid = i % 3;
		HOLDS(targets_put(&targets, &process) == 0);
		if (i < 20)
			targets_leave(&targets, i, 1, 10 + i);
	}
	ck_assert_int_eq(targets_forget_most(&targets, 1020), 0);
	ck_assert_uint_eq(targets.count, 1030);
	ck_assert_int_eq(targets_forget_most(&targets, 100), 0);
	ck_assert_uint_eq(targets.count, 110);
	ck_assert_uint_eq(targets.live, 10);
	for (uint32_t i = 0; i < 30; i++)
		ck_assert_ptr_nonnull(targets_find(&targets, i, 1));
	for (uint32_t i = 0; i < 1000; i++)
		HOLDS((targets_find(&targets, 1000 + i, 1) != NULL) == (i >= 920));
	ck_assert_int_eq(targets_forget_most(&targets, 0), 0);
	ck_assert_uint_eq(targets.count, 10);
	targets_free(&targets);
}
END_TEST

/* ---- random ---- */

#define PIDS 400U
#define STARTS 3U
#define KNOWN (PIDS * STARTS)

struct reference {
	struct target_process processes[KNOWN];
	bool known[KNOWN];
};

static uint32_t at_of(uint32_t tgid, uint64_t started_ns)
{
	return tgid * STARTS + (uint32_t)started_ns;
}

static void check_all(const struct targets *targets, const struct reference *reference)
{
	uint32_t count = 0, live = 0;

	for (uint32_t i = 0; i < KNOWN; i++) {
		const struct target_process *found = targets_find(targets, i / STARTS, i % STARTS);

		HOLDS((found != NULL) == reference->known[i]);
		HOLDS(!found || !memcmp(found, &reference->processes[i], sizeof(*found)));
		count += reference->known[i];
		live += reference->known[i] && !reference->processes[i].gone_ns;
	}
	HOLDS(targets->count == count && targets->live == live && targets->index.count == count);
}

static void leave_unseen(struct reference *reference, uint32_t walk, uint64_t now_ns)
{
	for (uint32_t i = 0; i < KNOWN; i++)
		if (reference->known[i] && !reference->processes[i].gone_ns &&
		    reference->processes[i].walk != walk)
			reference->processes[i].gone_ns = now_ns;
}

static void forget(struct reference *reference, uint64_t before_ns)
{
	for (uint32_t i = 0; i < KNOWN; i++)
		if (reference->known[i] && reference->processes[i].gone_ns &&
		    reference->processes[i].gone_ns < before_ns)
			reference->known[i] = false;
}

START_TEST(random_lives)
{
	struct reference *reference = calloc(1, sizeof(*reference));
	struct dice dice = dice_new(170 + (uint64_t)_i);
	struct targets targets = { 0 };
	uint32_t walk = 1;

	for (uint64_t now_ns = 1; now_ns < 20000; now_ns++) {
		uint32_t tgid = dice_below(&dice, PIDS), started = dice_below(&dice, STARTS),
			 at = at_of(tgid, started);
		struct target_process process = process_make(tgid, started);
		uint64_t before_ns;

		switch (dice_below(&dice, 100)) {
		case 0:
			targets_leave_unseen(&targets, walk, now_ns);
			leave_unseen(reference, walk, now_ns);
			walk++;
			break;
		case 1:
			before_ns = now_ns - dice_below(&dice, (uint32_t)now_ns);
			targets_forget(&targets, before_ns);
			forget(reference, before_ns);
			break;
		case 2 ... 40:
			targets_leave(&targets, tgid, started, now_ns);
			if (reference->known[at] && !reference->processes[at].gone_ns)
				reference->processes[at].gone_ns = now_ns;
			break;
		default:
			process.walk = walk;
			process.uid = dice_below(&dice, 1000);
			HOLDS(targets_put(&targets, &process) == 0);
			reference->processes[at] = process;
			reference->known[at] = true;
			break;
		}
		if (now_ns % 50 == 0)
			check_all(&targets, reference);
	}
	check_all(&targets, reference);
	targets_free(&targets);
	free(reference);
}
END_TEST

START_TEST(there_is_a_limit)
{
	struct targets targets = { 0 };
	struct target_process process;

	for (uint32_t i = 0; i < 1U << 20; i++) {
		process = process_make(i, 1);
		HOLDS(targets_put(&targets, &process) == 0);
	}
	process = process_make(1U << 20, 1);
	ck_assert_int_eq(targets_put(&targets, &process), -ENOSPC);
	process = process_make(5, 1);
	ck_assert_int_eq(targets_put(&targets, &process), 0);
	targets_leave_unseen(&targets, 99, 10);
	ck_assert_uint_eq(targets.live, 0);
	targets_forget(&targets, 11);
	ck_assert_uint_eq(targets.count, 0);
	process = process_make(1U << 20, 1);
	ck_assert_int_eq(targets_put(&targets, &process), 0);
	targets_free(&targets);
}
END_TEST

SUITE(targets)
{
	Suite *suite = suite_create("targets");
	TCase *targets = tcase_create("targets");

	tcase_add_test(targets, a_process_is_its_pid_and_its_start);
	tcase_add_test(targets, a_new_announcement_replaces_the_values);
	tcase_add_test(targets, a_process_had_a_name_with_each_program);
	tcase_add_test(targets, an_exit_does_not_forget_the_process);
	tcase_add_test(targets, users_share_the_room_for_ended_processes);
	tcase_add_loop_test(targets, random_lives, 0, 3);
	tcase_add_test(targets, there_is_a_limit);
	suite_add_tcase(suite, targets);
	return suite;
}
