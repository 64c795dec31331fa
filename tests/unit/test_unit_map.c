/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, with random allocations and releases, that no unit is allocated twice, or again before readers of
 * the old table are gone; and that free room is found.
 */
#include "common/base/clock.h"
#include "consumer/unwind/unit_map.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>

#define UNITS 300U
#define PIECES 64U

struct piece {
	uint32_t first, count;
};

START_TEST(no_unit_is_allocated_twice)
{
	struct dice dice = dice_new(201);
	uint64_t free_from_ns[UNITS] = { 0 }, now_ns = 1;
	struct piece pieces[PIECES] = { 0 };
	bool taken[UNITS] = { false };
	struct unit_map map;

	ck_assert_int_eq(unit_map_init(&map, UNITS), 0);
	for (int i = 0; i < 20000; i++) {
		struct piece *piece = &pieces[dice_below(&dice, PIECES)];

		now_ns += dice_below(&dice, CLOCK_SECOND_NS / 8);
		if (piece->count) {
			unit_map_release(&map, piece->first, piece->count, now_ns);
			for (uint32_t unit = piece->first; unit < piece->first + piece->count; unit++) {
				taken[unit] = false;
				free_from_ns[unit] = now_ns + CLOCK_SECOND_NS;
			}
			piece->count = 0;
			continue;
		}
		piece->count = 1 + (uint32_t)dice_below(&dice, 20);
		if (unit_map_allocate(&map, piece->count, now_ns, &piece->first)) {
			piece->count = 0;
			continue;
		}
		ck_assert_uint_le(piece->first + piece->count, UNITS);
		for (uint32_t unit = piece->first; unit < piece->first + piece->count; unit++) {
			ck_assert(!taken[unit] && free_from_ns[unit] <= now_ns);
			taken[unit] = true;
		}
	}
	unit_map_free(&map);
}
END_TEST

START_TEST(all_units_can_be_allocated)
{
	struct unit_map map;
	uint32_t first;

	ck_assert_int_eq(unit_map_init(&map, UNITS), 0);
	ck_assert_int_eq(unit_map_allocate(&map, UNITS + 1, 1, &first), -ENOSPC);
	ck_assert_uint_eq(unit_map_room(&map, 1), UNITS);
	ck_assert_int_eq(unit_map_allocate(&map, UNITS, 1, &first), 0);
	ck_assert_uint_eq(first, 0);
	ck_assert_uint_eq(unit_map_room(&map, 1), 0);
	ck_assert_int_eq(unit_map_allocate(&map, 1, 1, &first), -ENOSPC);
	unit_map_release(&map, 0, UNITS, 1);
	ck_assert_int_eq(unit_map_allocate(&map, 1, CLOCK_SECOND_NS, &first), -ENOSPC);
	for (uint32_t i = 0; i < UNITS; i++)
		ck_assert_int_eq(unit_map_allocate(&map, 1, CLOCK_SECOND_NS + 1, &first), 0);
	ck_assert_int_eq(unit_map_allocate(&map, 1, CLOCK_SECOND_NS + 1, &first), -ENOSPC);
	unit_map_free(&map);
}
END_TEST

/* A hole is found wherever it is, and one that is too small is not used. */
START_TEST(a_hole_is_found)
{
	for (uint32_t hole = 0; hole + 70 <= UNITS; hole += 13) {
		struct unit_map map;
		uint32_t first;

		ck_assert_int_eq(unit_map_init(&map, UNITS), 0);
		ck_assert_int_eq(unit_map_allocate(&map, UNITS, 1, &first), 0);
		unit_map_release(&map, hole, 70, 1);
		ck_assert_int_eq(unit_map_allocate(&map, 71, CLOCK_SECOND_NS + 1, &first), -ENOSPC);
		ck_assert_int_eq(unit_map_allocate(&map, 70, CLOCK_SECOND_NS + 1, &first), 0);
		ck_assert_uint_eq(first, hole);
		unit_map_free(&map);
	}
}
END_TEST

SUITE(unit_map)
{
	Suite *suite = suite_create("unit_map");
	TCase *cases = tcase_create("units");

	tcase_add_test(cases, no_unit_is_allocated_twice);
	tcase_add_test(cases, all_units_can_be_allocated);
	tcase_add_test(cases, a_hole_is_found);
	suite_add_tcase(suite, cases);
	return suite;
}
