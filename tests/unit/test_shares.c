/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how places are divided: an owner has half of what the others leave, who comes with nothing finds a place, the owner
 * that has most makes way, and root and rules that have nothing come first.
 */
#include "consumer/process/shares.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

static const struct share_owner root = { .kind = SHARE_OF_ROOT }, alice = { SHARE_OF_USER, 1000, false },
				bob = { SHARE_OF_USER, 1001, false }, carol = { SHARE_OF_USER, 1002, false },
				noisy = { SHARE_OF_RULE, 1, false }, honest = { SHARE_OF_RULE, 2, false },
				third = { SHARE_OF_RULE, 3, false }, fourth = { SHARE_OF_RULE, 4, false };

/* As those of captures. */
static const struct shares of_work = { .total = 8, .of_users = 4, .reserve = 2 };

static uint64_t holders;

/* Takes so many places, while that is allowed without anybody's making way. Returns how many it got. */
static uint32_t take(struct shares *shares, const struct share_owner *owner, uint32_t times)
{
	uint32_t taken = 0;
	uint64_t loser;

	while (taken < times && shares_allow(shares, owner, &loser) && !loser) {
		shares_take(shares, owner, ++holders);
		taken++;
	}
	return taken;
}

static const struct share_owner *owner_of(const struct shares *shares, uint64_t holder)
{
	for (uint32_t i = 0; i < shares->count; i++)
		if (shares->places[i].holder == holder)
			return &shares->places[i].owner;
	return NULL;
}

START_TEST(an_owner_has_half_of_what_the_others_leave)
{
	struct shares shares = of_work;

	ck_assert_uint_eq(take(&shares, &noisy, 100), 4);
	ck_assert_uint_eq(take(&shares, &honest, 100), 2);
	ck_assert_uint_eq(take(&shares, &third, 100), 1);
	ck_assert_uint_eq(take(&shares, &fourth, 100), 1);
	ck_assert_uint_eq(shares.count, 8);
}
END_TEST

START_TEST(a_rule_that_is_alone_has_all)
{
	struct shares shares = of_work;
	struct share_owner alone = noisy;

	alone.is_alone = true;
	ck_assert_uint_eq(take(&shares, &alone, 100), 8);
}
END_TEST

START_TEST(users_share_their_part_and_leave_the_rest_to_rules)
{
	struct shares shares = of_work;
	uint64_t loser;

	ck_assert_uint_eq(take(&shares, &alice, 100), 2);
	ck_assert_uint_eq(take(&shares, &bob, 100), 1);
	ck_assert_uint_eq(take(&shares, &carol, 100), 1);
	ck_assert(!shares_allow(&shares, &bob, &loser));
	ck_assert_uint_eq(take(&shares, &noisy, 100), 2);
	ck_assert_uint_eq(take(&shares, &honest, 100), 1);
}
END_TEST

START_TEST(who_has_most_makes_way_with_its_newest_for_who_has_nothing)
{
	struct share_owner dave = { SHARE_OF_USER, 1003, false };
	struct shares shares = of_work;
	uint64_t loser, newest;

	take(&shares, &alice, 100);
	newest = holders;
	take(&shares, &bob, 100);
	take(&shares, &carol, 100);
	ck_assert(shares_allow(&shares, &dave, &loser));
	ck_assert_uint_eq(loser, newest);
	shares_make_way(&shares, loser);
	shares_take(&shares, &dave, ++holders);
	/* it still occupies its place, and is nobody's: nobody else has two */
	ck_assert_uint_eq(shares.count, 5);
	ck_assert(!shares_allow(&shares, &alice, &loser));
	shares_give(&shares, newest);
	ck_assert_uint_eq(shares.count, 4);
	ck_assert_ptr_null(owner_of(&shares, newest));
}
END_TEST

START_TEST(what_waits_to_be_written_makes_no_way)
{
	struct shares shares = of_work;
	uint64_t loser;

	take(&shares, &alice, 2);
	shares_fix(&shares, holders);
	take(&shares, &bob, 1);
	take(&shares, &carol, 1);
	ck_assert(shares_allow(&shares, &(struct share_owner){ SHARE_OF_USER, 1003, false }, &loser));
	ck_assert_uint_eq(loser, holders - 3);
}
END_TEST

START_TEST(a_rule_that_has_nothing_finds_a_place_when_all_are_taken)
{
	struct shares shares = of_work;
	uint64_t loser;

	take(&shares, &root, 4);
	take(&shares, &noisy, 2);
	take(&shares, &honest, 1);
	take(&shares, &third, 1);
	ck_assert_uint_eq(shares.count, 8);
	ck_assert(!shares_allow(&shares, &noisy, &loser));
	ck_assert(!shares_allow(&shares, &alice, &loser));
	for (uint32_t i = 0; i < 2; i++) {
		struct share_owner fresh = { SHARE_OF_RULE, 10 + i, false };

		ck_assert(shares_allow(&shares, &fresh, &loser));
		ck_assert(share_is_of(owner_of(&shares, loser), &root));
		shares_make_way(&shares, loser);
		shares_take(&shares, &fresh, ++holders);
	}
	/* the reserve is taken */
	ck_assert(!shares_allow(&shares, &fourth, &loser));
	ck_assert_uint_eq(shares.count, 10);
}
END_TEST

/* But not one whose captures wait because it has many. */
START_TEST(a_rule_of_which_one_waits_finds_a_place_when_all_are_taken)
{
	struct shares shares = of_work;
	uint64_t loser, waiting, others;

	take(&shares, &root, 4);
	take(&shares, &noisy, 2);
	others = holders;
	take(&shares, &honest, 1);
	waiting = holders;
	take(&shares, &third, 1);
	ck_assert_uint_eq(shares.count, 8);
	ck_assert(!shares_allow(&shares, &honest, &loser));
	shares_fix(&shares, others);
	shares_fix(&shares, others - 1);
	shares_fix(&shares, waiting);
	ck_assert(!shares_allow(&shares, &noisy, &loser));
	ck_assert(shares_allow(&shares, &honest, &loser));
	ck_assert_uint_eq(loser, 0);
	shares_take(&shares, &honest, ++holders);
	ck_assert(!shares_allow(&shares, &honest, &loser));
	ck_assert_uint_eq(shares_held_with(&shares, waiting), 2);
}
END_TEST

START_TEST(root_is_refused_by_no_other)
{
	struct share_owner alone = noisy;
	struct shares shares = of_work;
	uint64_t loser;

	alone.is_alone = true;
	take(&shares, &alice, 2);
	take(&shares, &bob, 1);
	take(&shares, &carol, 1);
	take(&shares, &alone, 100);
	ck_assert_uint_eq(shares.count, 8);
	ck_assert(shares_allow(&shares, &root, &loser));
	ck_assert(share_is_of(owner_of(&shares, loser), &noisy));
	shares_make_way(&shares, loser);
	shares_take(&shares, &root, ++holders);
	ck_assert(shares_allow(&shares, &root, &loser));
	ck_assert_uint_ne(loser, 0);
}
END_TEST

/* Views: who makes way is gone at once. */
START_TEST(a_view_makes_way_at_once)
{
	struct shares shares = { .total = 4, .at_once = true };
	uint64_t loser;

	ck_assert_uint_eq(take(&shares, &alice, 100), 2);
	ck_assert_uint_eq(take(&shares, &bob, 100), 1);
	ck_assert_uint_eq(take(&shares, &carol, 100), 1);
	ck_assert(!shares_allow(&shares, &bob, &loser));
	ck_assert(shares_allow(&shares, &root, &loser));
	ck_assert(share_is_of(owner_of(&shares, loser), &alice));
	shares_give(&shares, loser);
	shares_take(&shares, &root, ++holders);
	/* nobody has more than one, and root's stays */
	ck_assert(!shares_allow(&shares, &(struct share_owner){ SHARE_OF_USER, 1003, false }, &loser));
	ck_assert(shares_allow(&shares, &root, &loser));
	ck_assert(!share_is_of(owner_of(&shares, loser), &root));
}
END_TEST

/* Connections: a flood closes its own oldest, and no one else's. */
START_TEST(a_flood_of_one_user_makes_way_for_itself)
{
	struct shares shares = { .total = 16, .at_once = true, .oldest_first = true };
	uint64_t loser, oldest = holders + 2;

	ck_assert_uint_eq(take(&shares, &bob, 1), 1);
	ck_assert_uint_eq(take(&shares, &alice, 100), 8);
	for (int i = 0; i < 100; i++) {
		ck_assert(shares_allow(&shares, &alice, &loser));
		ck_assert_uint_eq(loser, oldest++);
		shares_give(&shares, loser);
		shares_take(&shares, &alice, ++holders);
	}
	ck_assert(shares_allow(&shares, &carol, &loser));
	ck_assert_uint_eq(loser, 0);
}
END_TEST

SUITE(shares)
{
	Suite *suite = suite_create("shares");
	TCase *work = tcase_create("work"), *once = tcase_create("at once");

	tcase_add_test(work, an_owner_has_half_of_what_the_others_leave);
	tcase_add_test(work, a_rule_that_is_alone_has_all);
	tcase_add_test(work, users_share_their_part_and_leave_the_rest_to_rules);
	tcase_add_test(work, who_has_most_makes_way_with_its_newest_for_who_has_nothing);
	tcase_add_test(work, what_waits_to_be_written_makes_no_way);
	tcase_add_test(work, a_rule_that_has_nothing_finds_a_place_when_all_are_taken);
	tcase_add_test(work, a_rule_of_which_one_waits_finds_a_place_when_all_are_taken);
	tcase_add_test(work, root_is_refused_by_no_other);
	suite_add_tcase(suite, work);
	tcase_add_test(once, a_view_makes_way_at_once);
	tcase_add_test(once, a_flood_of_one_user_makes_way_for_itself);
	suite_add_tcase(suite, once);
	return suite;
}
