/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how often users may ask: a burst, then at a rate; one user does not use up what the others have; many users together
 * are bounded, too; and root has a budget whatever the others use.
 */
#include "consumer/ask_limit.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#define START 1000000000000ULL

/* How many of so many requests of the user at once are allowed. */
static uint32_t ask(struct ask_limit *limit, uint32_t uid, uint32_t times, uint64_t now_ns)
{
	uint32_t allowed = 0;

	for (uint32_t i = 0; i < times; i++)
		allowed += ask_allowed(limit, uid, now_ns);
	return allowed;
}

START_TEST(a_burst_and_then_a_rate)
{
	struct ask_limit limit = ASK_LIMIT;
	uint32_t later = 0;

	ck_assert_uint_eq(ask(&limit, 1000, 200, START), ASK_BURST);
	ck_assert_uint_eq(ask(&limit, 1000, 200, START + ASK_EVERY_NS - 1), 0);
	ck_assert_uint_eq(ask(&limit, 1000, 200, START + ASK_EVERY_NS), 1);
	for (uint32_t i = 2; i < 100; i++)
		later += ask(&limit, 1000, 3, START + i * ASK_EVERY_NS);
	ck_assert_uint_eq(later, 98);
	/* a budget that was not used is saved up to the burst */
	ck_assert_uint_eq(ask(&limit, 1000, 200, START + 100000 * ASK_EVERY_NS), ASK_BURST);
}
END_TEST

START_TEST(one_user_leaves_the_others_theirs)
{
	struct ask_limit limit = ASK_LIMIT;

	ck_assert_uint_eq(ask(&limit, 0, 200, START), ASK_BURST);
	ck_assert_uint_eq(ask(&limit, 1000, 200, START), ASK_BURST);
	ck_assert_uint_eq(ask(&limit, 0, 200, START), 0);
	ck_assert_uint_eq(ask(&limit, 1000, 200, START), 0);
}
END_TEST

/* A user whose budget made room for another one's has it whole again: all together, nobody gains by that. */
START_TEST(many_users_together_are_bounded)
{
	struct ask_limit limit = ASK_LIMIT;
	uint32_t allowed = 0;

	for (uint32_t uid = 1; uid <= 1000; uid++)
		allowed += ask(&limit, uid, 3, START);
	ck_assert_uint_eq(allowed, ASK_BURST * ASK_ALL);
	allowed = 0;
	for (uint32_t uid = 1; uid <= 1000; uid++)
		allowed += ask(&limit, uid, 3, START + ASK_EVERY_NS);
	ck_assert_uint_eq(allowed, ASK_ALL);
}
END_TEST

START_TEST(users_who_use_up_the_budget_of_all_leave_root_its_own)
{
	struct ask_limit limit = ASK_LIMIT;

	for (uint32_t uid = 1000; uid < 1000 + ASK_ALL; uid++)
		ck_assert_uint_eq(ask(&limit, uid, ASK_BURST, START), ASK_BURST);
	ck_assert_uint_eq(ask(&limit, 2000, 1, START), 0);
	ck_assert_uint_eq(ask(&limit, 0, 200, START), ASK_BURST);
}
END_TEST

/* A refused request costs nothing. */
START_TEST(what_is_refused_is_not_charged)
{
	struct ask_limit limit = ASK_LIMIT;

	ask(&limit, 1000, 1000000, START);
	ck_assert_uint_eq(ask(&limit, 1000, 1, START + ASK_EVERY_NS), 1);
	ck_assert_uint_eq(ask(&limit, 1000, 20, START + ASK_EVERY_NS + ASK_BURST * ASK_EVERY_NS), ASK_BURST);
}
END_TEST

SUITE(ask_limit)
{
	Suite *suite = suite_create("ask_limit");
	TCase *limit = tcase_create("limit");

	tcase_add_test(limit, a_burst_and_then_a_rate);
	tcase_add_test(limit, one_user_leaves_the_others_theirs);
	tcase_add_test(limit, many_users_together_are_bounded);
	tcase_add_test(limit, users_who_use_up_the_budget_of_all_leave_root_its_own);
	tcase_add_test(limit, what_is_refused_is_not_charged);
	suite_add_tcase(suite, limit);
	return suite;
}
