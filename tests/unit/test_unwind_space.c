/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a table is in the maps as it was compiled, wherever there was room for it; that a table without
 * room leaves nothing behind; and when the room of a retired table is given back.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/unwind_table.h"
#include "consumer/unwind/unwind_space.h"
#include "tests/unit/fake_unwind.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

struct fixture {
	struct fake_maps *fake;
	struct unwind_space space;
	struct unwind_table table; /* of `elf` */
	int elf, symbolizer;
	pid_t child;
};

static void open_fixture(struct fixture *fixture, const struct unwind_space_sizes *sizes)
{
	struct unwind_maps maps;

	fixture->fake = fake_maps_new();
	maps = fake_maps_of(fixture->fake);
	ck_assert_int_eq(unwind_space_init(&fixture->space, &maps, sizes), 0);
	fixture->elf = symbols_open("symbols");
	ck_assert_int_eq(unwind_table_compile(fixture->elf, &fixture->table), 0);
	fixture->child = fake_symbolizer_start(&fixture->symbolizer);
}

static void close_fixture(struct fixture *fixture)
{
	fake_symbolizer_abandon(fixture->child, fixture->symbolizer);
	unwind_table_free(&fixture->table);
	unwind_space_free(&fixture->space);
	close(fixture->elf);
	free(fixture->fake);
}

static int take(void *user, struct table_message *message, size_t bytes)
{
	return unwind_reception_take(user, message, bytes);
}

static int receive(struct fixture *fixture, struct unwind_place *ret_place, bool *ret_usable)
{
	struct unwind_reception *reception = unwind_reception_new(&fixture->space);
	int result = fake_table_receive(fixture->symbolizer, fixture->elf, take, reception);

	*ret_usable = table_is_answer(unwind_reception_stream(reception), result);
	unwind_reception_end(reception, result ? NULL : ret_place);
	return result;
}

/* All room, once the rest of what was given back is over. */
static void check_all_free(struct fixture *fixture, const struct unwind_space_sizes *sizes)
{
	uint64_t later_ns = clock_monotonic_ns() + 2 * CLOCK_SECOND_NS;

	ck_assert_uint_eq(unit_map_room(&fixture->space.chunks, later_ns), sizes->chunks);
	ck_assert_uint_eq(unit_map_room(&fixture->space.pages, later_ns), sizes->pages);
}

static const struct unwind_rule *rule_at(const struct unwind_rule *rules, uint32_t number, uint32_t distance)
{
	return &rules[unwind_table_step(rules, number, distance)];
}

static void check_page(const struct fixture *fixture, const struct unwind_place *place, uint32_t page)
{
	const struct unwind_page *compiled = &fixture->table.pages[page],
				 *written = &fixture->fake->pages[place->page_at + page];

	HOLDS(written->rows == compiled->rows);
	for (uint32_t i = 0; i < compiled->rows; i++) {
		uint32_t from = compiled->first_row + i, to = written->first_row + i;
		const struct unwind_row *
			one = &fixture->table.chunks[from / UNWIND_CHUNK_ROWS].rows[from % UNWIND_CHUNK_ROWS],
		       *other = &fixture->fake->rows[to / UNWIND_CHUNK_ROWS].rows[to % UNWIND_CHUNK_ROWS];

		HOLDS(one->at == other->at);
		for (uint32_t at = 0; at < UINT8_MAX; at++)
			HOLDS(!memcmp(rule_at(fixture->table.rules, one->rule, at),
				      rule_at(fixture->fake->rules, other->rule, at),
				      sizeof(struct unwind_rule)));
	}
}

START_TEST(each_row_is_found_through_its_page)
{
	const struct unwind_space_sizes sizes = { FAKE_CHUNKS, FAKE_PAGES, FAKE_RULES };
	struct fixture fixture;
	struct unwind_place places[2];
	bool usable;
	uint32_t rules;

	open_fixture(&fixture, &sizes);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(receive(&fixture, &places[i], &usable), 0);
		ck_assert(usable);
		ck_assert_uint_eq(places[i].rows, fixture.table.rows);
		ck_assert_uint_eq(places[i].pages, fixture.table.pages_count);
		ck_assert_uint_eq(places[i].first_page, fixture.table.first_page);
		if (!i)
			rules = fixture.space.rules.count;
	}
	ck_assert_uint_ge(rules, 2);
	ck_assert_uint_eq(fixture.space.rules.count, rules); /* shared by both */
	ck_assert_uint_eq(unwind_space_bytes(&fixture.space),
			  2 * fixture.table.chunks_count * sizeof(struct unwind_chunk));
	for (int i = 0; i < 2; i++)
		for (uint32_t page = 0; page < fixture.table.pages_count; page++)
			check_page(&fixture, &places[i], page);
	for (int i = 0; i < 2; i++) {
		unwind_space_release(&fixture.space, &places[i]);
		ck_assert_ptr_null(places[i].chunks);
		unwind_space_release(&fixture.space, &places[i]); /* is nowhere */
	}
	check_all_free(&fixture, &sizes);
	close_fixture(&fixture);
}
END_TEST

/* Too little of one map, each in turn. */
START_TEST(a_table_without_room_leaves_nothing_behind)
{
	const struct unwind_space_sizes sizes[] = { { 0, FAKE_PAGES, FAKE_RULES },
						    { FAKE_CHUNKS, 0, FAKE_RULES },
						    { FAKE_CHUNKS, FAKE_PAGES, 1 } };
	struct unwind_place place = { .page_at = 77 };
	struct fixture fixture;
	bool usable;

	open_fixture(&fixture, &sizes[_i]);
	ck_assert_int_eq(receive(&fixture, &place, &usable), -ENOSPC);
	ck_assert(!usable); /* it goes on sending */
	ck_assert_uint_eq(place.page_at, 77);
	ck_assert(fixture.space.rules_full == (_i == 2));
	check_all_free(&fixture, &sizes[_i]);
	unwind_space_forget_rules(&fixture.space);
	ck_assert(!fixture.space.rules_full);
	ck_assert_uint_eq(fixture.space.rules.count, 1);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_write_that_fails_leaves_nothing_behind)
{
	const struct unwind_space_sizes sizes = { FAKE_CHUNKS, FAKE_PAGES, FAKE_RULES };
	struct unwind_place place;
	struct fixture fixture;
	bool usable;

	open_fixture(&fixture, &sizes);
	fixture.fake->refuses = true;
	ck_assert_int_eq(receive(&fixture, &place, &usable), -ENOMEM);
	check_all_free(&fixture, &sizes);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_retired_table_stays_until_the_end_of_the_next_pass)
{
	const struct unwind_space_sizes sizes = { FAKE_CHUNKS, FAKE_PAGES, FAKE_RULES };
	struct unwind_place place, nowhere = { 0 };
	struct fixture fixture;
	bool usable;

	open_fixture(&fixture, &sizes);
	ck_assert_int_eq(receive(&fixture, &place, &usable), 0);
	ck_assert(!unwind_space_retire(&fixture.space, &nowhere, 5));
	ck_assert(unwind_space_retire(&fixture.space, &place, 5));
	ck_assert_ptr_null(place.chunks);
	unwind_space_sweep(&fixture.space, 5);
	ck_assert_uint_eq(unit_map_room(&fixture.space.pages, clock_monotonic_ns() + 2 * CLOCK_SECOND_NS),
			  FAKE_PAGES - fixture.table.pages_count);
	unwind_space_sweep(&fixture.space, 6);
	check_all_free(&fixture, &sizes);
	/* what is still retired at the end is freed with the space */
	ck_assert_int_eq(receive(&fixture, &place, &usable), 0);
	ck_assert(unwind_space_retire(&fixture.space, &place, 7));
	close_fixture(&fixture);
}
END_TEST

SUITE(unwind_space)
{
	Suite *suite = suite_create("unwind_space");
	TCase *cases = tcase_create("tables");

	tcase_add_test(cases, each_row_is_found_through_its_page);
	tcase_add_loop_test(cases, a_table_without_room_leaves_nothing_behind, 0, 3);
	tcase_add_test(cases, a_write_that_fails_leaves_nothing_behind);
	tcase_add_test(cases, a_retired_table_stays_until_the_end_of_the_next_pass);
	suite_add_tcase(suite, cases);
	return suite;
}
