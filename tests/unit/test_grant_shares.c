/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how the requests for files that bourdon-grant answers are shared: no target takes more than its part,
 * all of them no more than all, and who waits comes before who comes later, in whatever order they ask.
 */
#include "common/cleanup.h"
#include "consumer/symbols/grant_shares.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#define BEGAN_NS (1000 * CLOCK_SECOND_NS)

/* A target asks so many times. Returns how many requests may be sent. */
static uint32_t ask(struct grant_shares *shares, uint32_t tgid, uint32_t times, uint64_t now_ns)
{
	uint32_t sent = 0;

	for (uint32_t i = 0; i < times; i++)
		sent += grant_shares_take(shares, tgid, tgid, now_ns);
	return sent;
}

START_TEST(one_target)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));

	ck_assert_uint_eq(ask(shares, 7, 5000, BEGAN_NS), GRANT_SHARE.burst);
	ck_assert_uint_eq(grant_shares_put_off(shares), 5000 - GRANT_SHARE.burst);
	ck_assert(!grant_shares_are_spent(shares, BEGAN_NS));
	ck_assert_uint_eq(ask(shares, 7, 5000, BEGAN_NS + CLOCK_SECOND_NS), GRANT_SHARE.per_second);
	/* what it has used up is no other's, not even of a process with the same id */
	ck_assert_uint_eq(ask(shares, 8, 1, BEGAN_NS + CLOCK_SECOND_NS), 1);
	ck_assert(grant_shares_take(shares, 7, 1, BEGAN_NS + CLOCK_SECOND_NS));
}
END_TEST

START_TEST(all_targets)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint32_t sent = 0;

	for (uint32_t second = 0; second <= 60; second++) {
		for (uint32_t tgid = 1; tgid <= 40; tgid++)
			sent += ask(shares, tgid, 500, BEGAN_NS + second * CLOCK_SECOND_NS);
		ck_assert_uint_eq(sent, GRANT_ASKED.burst + second * GRANT_ASKED.per_second);
		ck_assert(grant_shares_are_spent(shares, BEGAN_NS + second * CLOCK_SECOND_NS));
	}
}
END_TEST

/* Forty greedy targets ask first, each second. One that needs a few files, and asks last, gets each in turn. */
START_TEST(the_last_in_the_list)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint32_t got = 0, second = 0;

	for (; got < 5; second++) {
		uint64_t now_ns = BEGAN_NS + second * CLOCK_SECOND_NS;

		for (uint32_t tgid = 1; tgid <= 40; tgid++)
			ask(shares, tgid, 500, now_ns);
		if (second >= 10)
			got += ask(shares, 99, 5 - got, now_ns);
		/* one file for each of 41 targets takes two seconds at 32 a second */
		ck_assert_uint_le(second, 10 + 5 * 2);
	}
	/* it takes a share only as long as it waits */
	for (uint32_t later = 0; later < 20; later++, second++) {
		uint32_t sent = 0;

		for (uint32_t tgid = 1; tgid <= 40; tgid++)
			sent += ask(shares, tgid, 500, BEGAN_NS + second * CLOCK_SECOND_NS);
		ck_assert_uint_eq(sent, GRANT_ASKED.per_second);
	}
}
END_TEST

/* Over a minute, each of many greedy targets gets as much as the others, whoever asks first. */
START_TEST(equal_parts)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint32_t got[64] = { 0 }, least = UINT32_MAX, most = 0;

	for (uint32_t second = 0; second < 120; second++)
		for (uint32_t i = 0; i < ARRAY_SIZE(got); i++)
			got[i] += ask(shares, i + 1, 300, BEGAN_NS + second * CLOCK_SECOND_NS);
	for (uint32_t i = 2; i < ARRAY_SIZE(got); i++) { /* the first two had the burst */
		least = got[i] < least ? got[i] : least;
		most = got[i] > most ? got[i] : most;
	}
	ck_assert_uint_ge(least, 55);
	ck_assert_uint_le(most, 65);
}
END_TEST

/* Targets that ended while they waited hold the others back for 10 s at most. */
START_TEST(targets_that_end)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint64_t now_ns = BEGAN_NS + CLOCK_SECOND_NS;

	for (uint32_t tgid = 1; tgid <= 900; tgid++)
		ask(shares, tgid, 100, BEGAN_NS);
	ck_assert_uint_eq(ask(shares, 999, 1, now_ns), 0);
	ck_assert_uint_eq(ask(shares, 999, 1, now_ns + 5 * CLOCK_SECOND_NS), 1);
	ck_assert_uint_eq(ask(shares, 998, 1, now_ns + 10 * CLOCK_SECOND_NS), 1);
}
END_TEST

/* Targets beyond those that can be remembered are put off; when others have got what they wanted there is room. */
START_TEST(no_room)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint64_t now_ns = BEGAN_NS;

	for (uint32_t tgid = 1; tgid <= 3 * GRANT_SHARES_MAX; tgid++)
		ask(shares, tgid, 2, now_ns);
	ck_assert(!grant_shares_take(shares, 9999, 1, now_ns));
	now_ns += 20 * CLOCK_SECOND_NS;
	ck_assert(grant_shares_take(shares, 9999, 1, now_ns));
	ck_assert_uint_eq(shares->count, GRANT_SHARES_MAX);
}
END_TEST

Suite *grant_shares_suite(void)
{
	Suite *suite = suite_create("grant_shares");
	TCase *tests = tcase_create("grant_shares");

	tcase_add_test(tests, one_target);
	tcase_add_test(tests, all_targets);
	tcase_add_test(tests, the_last_in_the_list);
	tcase_add_test(tests, equal_parts);
	tcase_add_test(tests, targets_that_end);
	tcase_add_test(tests, no_room);
	suite_add_tcase(suite, tests);
	return suite;
}
