/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that processes with the same mappings share a layout, that a layout lives as long as its last user,
 * and that its room is used again.
 */
#include "common/base/clock.h"
#include "consumer/unwind/unwind_layouts.h"
#include "tests/unit/fake_unwind.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <unistd.h>

#define ROOM 10U

struct fixture {
	struct fake_maps *fake;
	struct unwind_layouts *layouts;
};

static void open_fixture(struct fixture *fixture)
{
	struct unwind_maps maps;

	fixture->fake = fake_maps_new();
	maps = fake_maps_of(fixture->fake);
	ck_assert_int_eq(unwind_layouts_new(&fixture->layouts, &maps, ROOM), 0);
}

static void close_fixture(struct fixture *fixture)
{
	unwind_layouts_free(fixture->layouts);
	free(fixture->fake);
}

/* `count` mappings that start at `begins`. */
static struct unwind_layout *acquire(const struct fixture *fixture, uint64_t begins, uint32_t count)
{
	struct unwind_mapping mappings[ROOM + 1] = { 0 };

	for (uint32_t i = 0; i < count; i++)
		mappings[i] = (struct unwind_mapping){ .begins = begins + i, .ends = begins + i + 1 };
	return unwind_layouts_acquire(fixture->layouts, mappings, count, UINT64_MAX);
}

START_TEST(the_same_mappings_are_one_layout)
{
	struct unwind_layout *one, *other, *empty;
	struct fixture fixture;

	open_fixture(&fixture);
	one = acquire(&fixture, 100, 3);
	ck_assert_ptr_nonnull(one);
	ck_assert_ptr_eq(acquire(&fixture, 100, 3), one);
	ck_assert_uint_eq(fixture.fake->writes, 1);
	ck_assert_uint_eq(one->users, 2);
	other = acquire(&fixture, 100, 4); /* begins alike */
	ck_assert_ptr_nonnull(other);
	ck_assert_ptr_ne(other, one);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(fixture.fake->mappings[one->first + i].begins, 100 + i);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_uint_eq(fixture.fake->mappings[other->first + i].begins, 100 + i);
	/* without mappings it needs no room, and nothing is written */
	empty = acquire(&fixture, 0, 0);
	ck_assert_ptr_nonnull(empty);
	ck_assert_ptr_eq(acquire(&fixture, 1, 0), empty);
	ck_assert_uint_eq(fixture.fake->writes, 2);
	unwind_layout_release(NULL);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_layout_lives_as_long_as_its_last_user)
{
	struct unwind_layout *layout;
	struct fixture fixture;

	open_fixture(&fixture);
	layout = acquire(&fixture, 100, ROOM);
	ck_assert_ptr_eq(acquire(&fixture, 100, ROOM), layout);
	ck_assert_ptr_null(acquire(&fixture, 200, 1)); /* no room */
	unwind_layout_release(layout);
	unwind_layouts_sweep(fixture.layouts);
	ck_assert_ptr_eq(acquire(&fixture, 100, ROOM), layout);
	unwind_layout_release(layout);
	unwind_layout_release(layout);
	/* until the sweep it can be had again */
	ck_assert_ptr_eq(acquire(&fixture, 100, ROOM), layout);
	unwind_layout_release(layout);
	unwind_layouts_sweep(fixture.layouts);
	ck_assert_ptr_null(acquire(&fixture, 200, 1)); /* a program may still read there */
	usleep(1100000);
	layout = acquire(&fixture, 200, ROOM);
	ck_assert_ptr_nonnull(layout);
	ck_assert_uint_eq(fixture.fake->mappings[layout->first].begins, 200);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_write_that_fails_takes_no_room)
{
	struct fixture fixture;

	open_fixture(&fixture);
	fixture.fake->refuses = true;
	ck_assert_ptr_null(acquire(&fixture, 100, ROOM));
	fixture.fake->refuses = false;
	usleep(1100000);
	ck_assert_ptr_nonnull(acquire(&fixture, 100, ROOM));
	close_fixture(&fixture);
}
END_TEST

SUITE(unwind_layouts)
{
	Suite *suite = suite_create("unwind_layouts");
	TCase *cases = tcase_create("layouts");

	tcase_add_test(cases, the_same_mappings_are_one_layout);
	tcase_add_test(cases, a_layout_lives_as_long_as_its_last_user);
	tcase_add_test(cases, a_write_that_fails_takes_no_room);
	suite_add_tcase(suite, cases);
	return suite;
}
