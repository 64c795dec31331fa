/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that averages, shares and sparklines of groups are those of the looks, and that memory is bounded. */
#include "common/base/cleanup.h"
#include "report/live/thread_history.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000LL

/* A thread that differs from others by what the tests group by. */
struct made {
	const char *tid, *state, *syscall, *comm, *cgroup;
};

static void look(struct thread_history *history, const struct made *threads, uint32_t count, int64_t at_ns)
{
	struct thread_line *made = calloc(count + 1UL, sizeof(*made));
	const struct thread_lines lines = {
		.lines = made, .count = count, .malformed = 1, .at_ns = at_ns, .looks = 1
	};

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t column = 0; column < THREAD_COLUMNS; column++)
			made[i].values[column] = THREAD_NONE;
		made[i].times = 1;
		made[i].values[THREAD_TID] = threads[i].tid;
		made[i].values[THREAD_STATE] = threads[i].state;
		made[i].values[THREAD_SYSCALL] = threads[i].syscall;
		made[i].values[THREAD_COMM] = threads[i].comm;
		made[i].values[THREAD_CGROUP] = threads[i].cgroup;
	}
	ck_assert_int_eq(thread_history_add(history, &lines), 0);
	free(made);
}

static const struct thread_view by_comm = {
	.columns = { THREAD_STATE, THREAD_COMM }, .columns_count = 2, .window = 1, .sort = 2
};

static struct thread_groups group(const struct thread_history *history, const struct thread_view *view,
				  uint32_t last)
{
	struct thread_groups groups;

	ck_assert_int_eq(thread_history_group(history, view, last, &groups), 0);
	return groups;
}

static double cell_of_first(const struct thread_groups *groups, uint32_t cell)
{
	return thread_groups_cell(groups, &groups->groups[0], cell, cell + 1);
}

static const struct made busy[] = {
	{ "1", "D", "read", "dd", "/" },
	{ "2", "D", "read", "dd", "/" },
	{ "3", "queued", "-", "cc1", "/system.slice/build.service" },
	{ "4", "S", "futex", "idle", "/" },
};

/* Two looks in the first second: at the second one only thread 3 is active. Then one look with all. */
static struct thread_history *two_seconds(void)
{
	struct thread_history *history = calloc(1, sizeof(*history));

	look(history, busy, 4, SECOND);
	look(history, busy + 2, 2, SECOND + 1);
	ck_assert_int_eq(thread_history_end_second(history), 0);
	look(history, busy, 4, 2 * SECOND);
	ck_assert_int_eq(thread_history_end_second(history), 0);
	return history;
}

START_TEST(averages_are_threads_at_a_look)
{
	struct thread_history *history = two_seconds();
	struct thread_groups groups = group(history, &by_comm, 0);

	ck_assert_uint_eq(history->seconds_count, 2);
	ck_assert_uint_eq(history->malformed, 3);
	ck_assert_int_eq(history->seconds[0].at_ns, SECOND);
	ck_assert_uint_eq(groups.looks, 2);
	ck_assert_uint_eq(groups.count, 2);
	/* both have 1 thread at a look: the order is that of the texts */
	ck_assert_str_eq(groups.groups[0].values[0], "D");
	ck_assert_str_eq(groups.groups[0].values[1], "dd");
	ck_assert_double_eq_tol(groups.groups[0].average, 1, 1e-9);
	ck_assert_double_eq_tol(groups.groups[0].share, 0.5, 1e-9);
	ck_assert_str_eq(groups.groups[1].values[0], "queued");
	ck_assert_double_eq_tol(groups.all, 3, 1e-9);
	ck_assert_double_eq_tol(groups.states[ACTIVITY_DISK], 1, 1e-9);
	ck_assert_double_eq_tol(groups.states[ACTIVITY_QUEUED], 1, 1e-9);
	ck_assert_double_eq_tol(groups.states[ACTIVITY_RUNNING], 0, 1e-9);
	thread_groups_free(&groups);
	/* the second after it: the most first */
	groups = group(history, &by_comm, 1);
	ck_assert_double_eq_tol(groups.groups[0].average, 2, 1e-9);
	ck_assert_double_eq_tol(groups.groups[0].share, 2.0 / 3, 1e-9);
	ck_assert_double_eq_tol(cell_of_first(&groups, THREAD_CELLS - 1), 2, 1e-9);
	ck_assert_double_eq_tol(cell_of_first(&groups, THREAD_CELLS - 2), 1, 1e-9);
	ck_assert_double_eq_tol(cell_of_first(&groups, THREAD_CELLS - 3), -1, 1e-9);
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
}
END_TEST

START_TEST(a_window_is_an_average_over_its_looks)
{
	struct thread_history *history = two_seconds();
	struct thread_view view = by_comm;
	struct thread_groups groups;

	view.window = 5;
	groups = group(history, &view, 1);
	ck_assert_uint_eq(groups.looks, 3);
	ck_assert_double_eq_tol(groups.groups[0].average, 4.0 / 3, 1e-9);
	ck_assert_double_eq_tol(groups.average, 4.0 / 3 + 1, 1e-9);
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
}
END_TEST

START_TEST(states_filters_and_units)
{
	struct thread_history *history = two_seconds();
	struct thread_view view = by_comm;
	struct thread_groups groups;
	const char *word;

	view.all_states = true;
	groups = group(history, &view, 1);
	ck_assert_uint_eq(groups.count, 3);
	thread_groups_free(&groups);
	/* a word on the state shows it, whatever the default is */
	view.all_states = false;
	ck_assert_int_eq(thread_filter_read(&view.filter, "state=S", &word), 0);
	groups = group(history, &view, 1);
	ck_assert_uint_eq(groups.count, 1);
	ck_assert_str_eq(groups.groups[0].values[1], "idle");
	thread_groups_free(&groups);
	ck_assert_int_eq(thread_filter_read(&view.filter, "unit=build.service", &word), 0);
	view.columns[1] = THREAD_UNIT;
	groups = group(history, &view, 1);
	ck_assert_uint_eq(groups.count, 1);
	ck_assert_str_eq(groups.groups[0].values[1], "build.service");
	ck_assert_double_eq_tol(groups.all, 1, 1e-9);
	thread_groups_free(&groups);
	ck_assert_int_eq(thread_filter_read(&view.filter, "", &word), 0);
	view.exact[THREAD_COMM] = (char[]){ "dd" };
	view.columns[1] = THREAD_TID;
	view.sort = 1;
	view.is_reversed = true;
	groups = group(history, &view, 1);
	ck_assert_uint_eq(groups.count, 2);
	ck_assert_str_eq(groups.groups[0].values[1], "2");
	ck_assert_str_eq(groups.groups[1].values[1], "1");
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
}
END_TEST

START_TEST(no_second_no_groups)
{
	struct thread_history *history = calloc(1, sizeof(*history));
	struct thread_groups groups = group(history, &by_comm, 0);

	ck_assert_uint_eq(groups.count, 0);
	ck_assert_int_eq(thread_history_end_second(history), 0);
	ck_assert_uint_eq(history->seconds_count, 0);
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
}
END_TEST

/* Threads that live for one look each, as in a storm of short programs. */
START_TEST(names_that_come_and_go_take_bounded_memory)
{
	enum { THREADS = 2000, SECONDS = 300 };
	struct thread_history *history = calloc(1, sizeof(*history));
	struct made *threads = calloc(THREADS, sizeof(*threads));
	char(*names)[16] = calloc(THREADS, sizeof(*names));
	struct thread_view view = by_comm;
	struct thread_groups groups;
	uint32_t kinds_most = 0;

	for (uint32_t second = 0; second < SECONDS; second++) {
		for (uint32_t i = 0; i < THREADS; i++) {
			snprintf(names[i], sizeof(names[i]), "%u", second * THREADS + i + 1);
			threads[i] = (struct made){ names[i], "running", "-", names[i], "/" };
		}
		look(history, threads, THREADS, second * SECOND);
		ck_assert_int_eq(thread_history_end_second(history), 0);
		kinds_most = history->kinds_count > kinds_most ? history->kinds_count : kinds_most;
	}
	ck_assert_uint_le(kinds_most, HISTORY_KINDS_MAX + THREADS);
	ck_assert_uint_le(history->names.count, HISTORY_KINDS_MAX + THREADS + 16);
	ck_assert_uint_gt(history->seconds_count, 20);
	ck_assert_int_eq(history->seconds[history->seconds_count - 1].at_ns, (SECONDS - 1) * SECOND);
	/* and what is left is right */
	view.columns_count = view.sort = 1;
	for (uint32_t i = 0; i < history->seconds_count; i++) {
		groups = group(history, &view, i);
		ck_assert_uint_eq(groups.count, 1);
		ck_assert_double_eq_tol(groups.average, THREADS, 1e-9);
		thread_groups_free(&groups);
	}
	view.columns_count = view.sort = 2;
	groups = group(history, &view, history->seconds_count - 1);
	ck_assert_str_eq(groups.groups[0].values[1], "598001");
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
	free(threads);
	free(names);
}
END_TEST

START_TEST(the_oldest_seconds_go)
{
	struct thread_history *history = calloc(1, sizeof(*history));

	for (uint32_t second = 0; second < HISTORY_SECONDS + 5; second++) {
		look(history, busy, 4, second * SECOND);
		ck_assert_int_eq(thread_history_end_second(history), 0);
	}
	ck_assert_uint_eq(history->seconds_count, HISTORY_SECONDS);
	ck_assert_int_eq(history->seconds[0].at_ns, 5 * SECOND);
	ck_assert_uint_eq(history->entries_count, 4ULL * HISTORY_SECONDS);
	thread_history_free(history);
	free(history);
}
END_TEST

SUITE(thread_history)
{
	Suite *suite = suite_create("thread_history");
	TCase *groups = tcase_create("groups"), *memory = tcase_create("memory");

	tcase_add_test(groups, averages_are_threads_at_a_look);
	tcase_add_test(groups, a_window_is_an_average_over_its_looks);
	tcase_add_test(groups, states_filters_and_units);
	tcase_add_test(groups, no_second_no_groups);
	tcase_add_test(memory, names_that_come_and_go_take_bounded_memory);
	tcase_add_test(memory, the_oldest_seconds_go);
	suite_add_tcase(suite, groups);
	suite_add_tcase(suite, memory);
	return suite;
}
