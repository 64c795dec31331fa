/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that of the pieces that hold an address the one that begins last is found, compared with a plain
 * search.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/pieces.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static const struct piece *find(const struct pieces *pieces, uint64_t address)
{
	struct span span = SPAN_ALL;
	const struct piece *found = pieces_find(pieces, address, &span);

	HOLDS(span.begins <= address && (address < span.ends || address == UINT64_MAX));
	return found;
}

START_TEST(the_innermost)
{
	struct pieces pieces = { .list = NULL };

	ck_assert_ptr_null(find(&pieces, 0));
	ck_assert_int_eq(pieces_add(&pieces, 100, 200, 1), 0);
	ck_assert_int_eq(pieces_add(&pieces, 120, 130, 2), 0);
	ck_assert_int_eq(pieces_add(&pieces, 100, 110, 3), 0);
	ck_assert_int_eq(pieces_add(&pieces, 100, 110, 9), 0);
	ck_assert_int_eq(pieces_add(&pieces, 150, 150, 4), 0);
	ck_assert_int_eq(pieces_add(&pieces, 160, 150, 5), 0);
	ck_assert_int_eq(pieces_add(&pieces, UINT64_MAX - 1, UINT64_MAX, 6), 0);
	pieces_sort(&pieces);
	ck_assert_uint_eq(pieces.count, 5);
	ck_assert_ptr_null(find(&pieces, 99));
	ck_assert_uint_eq(find(&pieces, 100)->owner, 3); /* of equal pieces the first owner counts */
	ck_assert_uint_eq(find(&pieces, 110)->owner, 1);
	ck_assert_uint_eq(find(&pieces, 129)->owner, 2);
	ck_assert_uint_eq(find(&pieces, 130)->owner, 1);
	ck_assert_uint_eq(find(&pieces, 150)->owner, 1);
	ck_assert_ptr_null(find(&pieces, 200));
	ck_assert_uint_eq(find(&pieces, UINT64_MAX - 1)->owner, 6);
	ck_assert_ptr_null(find(&pieces, UINT64_MAX));
	pieces_free(&pieces);
}
END_TEST

START_TEST(against_a_search)
{
	struct dice dice = dice_new(250);

	for (int round = 0; round < 200; round++) {
		struct pieces pieces = { .list = NULL };
		uint32_t count = dice_below(&dice, 40);

		for (uint32_t i = 0; i < count; i++) {
			uint64_t begins = dice_below(&dice, 60);

			HOLDS(!pieces_add(&pieces, begins, begins + 1 + dice_below(&dice, 30), i));
		}
		pieces_sort(&pieces);
		for (uint64_t address = 0; address < 100; address++) {
			const struct piece *found = find(&pieces, address);
			uint64_t latest = 0;
			bool held = false;

			for (size_t i = 0; i < pieces.count; i++)
				if (pieces.list[i].begins <= address && address < pieces.list[i].ends) {
					held = true;
					if (pieces.list[i].begins > latest)
						latest = pieces.list[i].begins;
				}
			HOLDS(held == (found != NULL));
			HOLDS(!found || (found->begins == latest && address < found->ends));
		}
		pieces_free(&pieces);
	}
}
END_TEST

/* And no larger one: the next address on either side begins or ends a piece. */
START_TEST(all_addresses_of_a_span_have_one_answer)
{
	struct dice dice = dice_new(251);

	for (int round = 0; round < 200; round++) {
		struct pieces pieces = { .list = NULL };
		bool is_edge[128] = { false };
		uint32_t count = dice_below(&dice, 12);

		for (uint32_t i = 0; i < count; i++) {
			uint64_t begins = dice_below(&dice, 60), ends = begins + 1 + dice_below(&dice, 30);

			HOLDS(!pieces_add(&pieces, begins, ends, i));
			is_edge[begins] = is_edge[ends] = true;
		}
		pieces_sort(&pieces);
		for (uint64_t address = 0; address < 100; address++) {
			struct span span = SPAN_ALL;
			const struct piece *found = pieces_find(&pieces, address, &span);

			HOLDS(!span.begins || is_edge[span.begins]);
			HOLDS(span.ends == UINT64_MAX || is_edge[span.ends]);
			for (uint64_t other = span.begins; other < span.ends && other < 100; other++) {
				struct span same = SPAN_ALL;

				HOLDS(pieces_find(&pieces, other, &same) == found);
				HOLDS(!memcmp(&same, &span, sizeof(same)));
			}
		}
		pieces_free(&pieces);
	}
}
END_TEST

SUITE(pieces)
{
	Suite *suite = suite_create("pieces");
	TCase *pieces = tcase_create("pieces");

	tcase_add_test(pieces, the_innermost);
	tcase_add_test(pieces, against_a_search);
	tcase_add_test(pieces, all_addresses_of_a_span_have_one_answer);
	suite_add_tcase(suite, pieces);
	return suite;
}
