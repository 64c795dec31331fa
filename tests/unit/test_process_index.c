/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the index finds each process of an array by id and start time together, whatever else the
 * elements hold.
 */
#include "common/base/process_index.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#define PROCESSES 1000U

/* The members lie apart, and in the other order than in most arrays. */
struct element {
	char name[3];
	uint64_t started_ns;
	uint16_t between;
	uint32_t tgid;
};

START_TEST(id_and_start_time_together_are_found)
{
	struct element elements[PROCESSES] = { 0 };
	struct process_array array = PROCESS_ARRAY(elements);
	struct process_index index = { 0 };

	HOLDS(process_index_find(&index, array, 1, 1) == HASH_INDEX_NONE);
	/* ten lives of each process id, at times that other ids have, too */
	for (uint32_t i = 0; i < PROCESSES; i++) {
		elements[i].tgid = i / 10;
		elements[i].started_ns = i % 10;
		HOLDS(process_index_add(&index, i / 10, i % 10, i) == 0);
	}
	for (uint32_t i = 0; i < PROCESSES; i++)
		HOLDS(process_index_find(&index, array, i / 10, i % 10) == i);
	HOLDS(process_index_find(&index, array, 5, 10) == HASH_INDEX_NONE);
	HOLDS(process_index_find(&index, array, PROCESSES, 1) == HASH_INDEX_NONE);
	for (uint32_t i = 0; i < PROCESSES; i += 2)
		process_index_remove(&index, i / 10, i % 10, i);
	for (uint32_t i = 0; i < PROCESSES; i++)
		HOLDS(process_index_find(&index, array, i / 10, i % 10) == (i % 2 ? i : HASH_INDEX_NONE));
	process_index_clear(&index);
	HOLDS(process_index_find(&index, array, 0, 1) == HASH_INDEX_NONE);
	process_index_clear(&index);
}
END_TEST

/* Where one element is at another's place, a process with a foreign identity is not found there. */
START_TEST(the_array_decides)
{
	struct element elements[1] = { { .tgid = 1, .started_ns = 1 } };
	struct process_index index = { 0 };

	ck_assert_int_eq(process_index_add(&index, 2, 2, 0), 0);
	ck_assert_uint_eq(process_index_find(&index, PROCESS_ARRAY(elements), 2, 2), HASH_INDEX_NONE);
	elements[0] = (struct element){ .tgid = 2, .started_ns = 2 };
	ck_assert_uint_eq(process_index_find(&index, PROCESS_ARRAY(elements), 2, 2), 0);
	process_index_clear(&index);
}
END_TEST

SUITE(process_index)
{
	Suite *suite = suite_create("process_index");
	TCase *cases = tcase_create("processes");

	tcase_add_test(cases, id_and_start_time_together_are_found);
	tcase_add_test(cases, the_array_decides);
	suite_add_tcase(suite, cases);
	return suite;
}
