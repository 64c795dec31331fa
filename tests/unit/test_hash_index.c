/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the index finds what was added and not removed, in any order and with any number of equal
 * hashes: random operations are compared with an array.
 */
#include "common/base/cleanup.h"
#include "common/base/hash_index.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

#define POSITIONS 2000U

static bool is_position(const void *user, uint32_t position)
{
	return position == *(const uint32_t *)user;
}

static bool is_anything(const void *user, uint32_t position)
{
	(void)user;
	(void)position;
	return true;
}

START_TEST(an_empty_index_finds_nothing)
{
	struct hash_index index = { 0 };

	ck_assert_uint_eq(hash_index_find(&index, 0, is_anything, NULL), HASH_INDEX_NONE);
	hash_index_remove(&index, 0, 0);
	ck_assert_int_eq(hash_index_add(&index, 5, 0), 0);
	ck_assert_uint_eq(hash_index_find(&index, 5, is_anything, NULL), 0);
	ck_assert_uint_eq(hash_index_find(&index, 6, is_anything, NULL), HASH_INDEX_NONE);
	/* the same slot, another hash */
	ck_assert_uint_eq(hash_index_find(&index, 5 + 64, is_anything, NULL), HASH_INDEX_NONE);
	hash_index_remove(&index, 5, 1);
	ck_assert_uint_eq(index.count, 1);
	hash_index_remove(&index, 5, 0);
	ck_assert_uint_eq(index.count, 0);
	ck_assert_uint_eq(hash_index_find(&index, 5, is_anything, NULL), HASH_INDEX_NONE);
	hash_index_free(&index);
	hash_index_free(&index);
}
END_TEST

/* The hashes of a run: all equal, adjacent at the end of the table, few, or any. */
static uint32_t hash_of(int spread, struct dice *dice)
{
	switch (spread) {
	case 0:
		return 0xffffffff;
	case 1:
		return 0xffffffffU - dice_below(dice, 8);
	case 2:
		return dice_below(dice, 50) * 64;
	default:
		return (uint32_t)dice_roll(dice);
	}
}

struct reference {
	bool there[POSITIONS];
	uint32_t hashes[POSITIONS], count;
};

static void check_all(const struct hash_index *index, const struct reference *reference)
{
	HOLDS(index->count == reference->count);
	for (uint32_t i = 0; i < POSITIONS; i++)
		HOLDS(hash_index_find(index, reference->hashes[i], is_position, &i) ==
		      (reference->there[i] ? i : HASH_INDEX_NONE));
}

START_TEST(random_operations_against_an_array)
{
	struct dice dice = dice_new(10 + (uint64_t)_i);
	struct reference reference = { .count = 0 };
	struct hash_index index = { 0 };
	uint32_t used = _i ? POSITIONS : 300; /* with equal hashes each search visits the whole table */

	for (uint32_t i = 0; i < 40 * used; i++) {
		uint32_t at = dice_below(&dice, used);
		/* grows, then shrinks, then both */
		bool adds = dice_below(&dice, 10) < (i < 15 * used ? 8 : i < 30 * used ? 2 : 5);

		if (adds && !reference.there[at]) {
			reference.hashes[at] = hash_of(_i, &dice);
			HOLDS(hash_index_add(&index, reference.hashes[at], at) == 0);
			reference.there[at] = true;
			reference.count++;
		} else if (!adds) {
			hash_index_remove(&index, reference.hashes[at], at);
			reference.count -= reference.there[at];
			reference.there[at] = false;
		}
		HOLDS(hash_index_find(&index, reference.hashes[at], is_position, &at) ==
		      (reference.there[at] ? at : HASH_INDEX_NONE));
		if (i % 997 == 0)
			check_all(&index, &reference);
	}
	check_all(&index, &reference);
	hash_index_free(&index);
}
END_TEST

struct element {
	uint8_t other;
	char key[3]; /* at an odd address */
	uint64_t behind;
};

/* Each finds its own: in an array of structures, and in one of pointers to them. */
START_TEST(elements_are_found_by_their_key)
{
	struct element elements[] = { { 1, "ab", 2 }, { 1, "ac", 2 }, { 3, "bb", 4 } }, *pointers[3];
	struct hash_index index = { 0 }, of_pointers = { 0 };

	ck_assert_uint_eq(hash_index_find_key(&index, HASH_KEYS(elements, key), "ab"), HASH_INDEX_NONE);
	for (uint32_t i = 0; i < 3; i++) {
		pointers[i] = &elements[i];
		ck_assert_int_eq(hash_index_add_key(&index, HASH_KEYS(elements, key), i), 0);
		ck_assert_int_eq(hash_index_add_key(&of_pointers, HASH_KEYS_OF(pointers, key), i), 0);
	}
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(hash_index_find_key(&index, HASH_KEYS(elements, key), elements[i].key), i);
		ck_assert_uint_eq(
			hash_index_find_key(&of_pointers, HASH_KEYS_OF(pointers, key), elements[i].key), i);
	}
	ck_assert_uint_eq(hash_index_find_key(&index, HASH_KEYS(elements, key), "bc"), HASH_INDEX_NONE);
	ck_assert_uint_eq(hash_index_find_key(&of_pointers, HASH_KEYS_OF(pointers, key), "a\0"),
			  HASH_INDEX_NONE);
	hash_index_free(&index);
	hash_index_free(&of_pointers);
}
END_TEST

SUITE(hash_index)
{
	Suite *suite = suite_create("hash_index");
	TCase *index = tcase_create("index");

	tcase_add_test(index, an_empty_index_finds_nothing);
	tcase_add_loop_test(index, random_operations_against_an_array, 0, 4);
	tcase_add_test(index, elements_are_found_by_their_key);
	suite_add_tcase(suite, index);
	return suite;
}
