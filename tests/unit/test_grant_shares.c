/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how the requests for files that bourdon-grant answers are shared: no target takes more than its part,
 * all of them no more than all, and who waits comes before who comes later, in whatever order they ask. Users
 * share alike, however many targets each has. Targets for which bourdon-grant hangs keep only themselves from it.
 */
#include "common/base/cleanup.h"
#include "consumer/symbols/grant_shares.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#define BEGAN_NS (1000 * CLOCK_SECOND_NS)

/* A user's target asks so many times. Returns how many requests may be sent. */
static uint32_t ask_of(struct grant_shares *shares, uint32_t uid, uint32_t tgid, uint32_t times,
		       uint64_t now_ns)
{
	const struct grant_target target = { tgid, uid, tgid };
	uint32_t sent = 0;

	for (uint32_t i = 0; i < times; i++)
		sent += grant_shares_take(shares, &target, now_ns);
	return sent;
}

/* All of one user. */
static uint32_t ask(struct grant_shares *shares, uint32_t tgid, uint32_t times, uint64_t now_ns)
{
	return ask_of(shares, 0, tgid, times, now_ns);
}

START_TEST(one_target)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	const struct grant_target same_id = { 7, 0, 1 };

	ck_assert_uint_eq(ask(shares, 7, 5000, BEGAN_NS), GRANT_SHARE.burst);
	ck_assert_uint_eq(grant_shares_put_off(shares), 5000 - GRANT_SHARE.burst);
	ck_assert(!grant_shares_are_spent(shares, BEGAN_NS));
	ck_assert_uint_eq(ask(shares, 7, 5000, BEGAN_NS + CLOCK_SECOND_NS), GRANT_SHARE.per_second);
	/* what it has used up is no other's, not even of a process with the same id */
	ck_assert_uint_eq(ask(shares, 8, 1, BEGAN_NS + CLOCK_SECOND_NS), 1);
	ck_assert(grant_shares_take(shares, &same_id, BEGAN_NS + CLOCK_SECOND_NS));
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
	ck_assert_uint_eq(ask(shares, 9999, 1, now_ns), 0);
	now_ns += 20 * CLOCK_SECOND_NS;
	ck_assert_uint_eq(ask(shares, 9999, 1, now_ns), 1);
	ck_assert_uint_eq(shares->count, GRANT_SHARES_MAX);
}
END_TEST

/* ---- users ---- */

/* So many targets of uid 65533, which have used up all requests, and wait. */
static void crowd(struct grant_shares *shares, uint32_t count, uint64_t now_ns)
{
	for (uint32_t i = 0; i < count; i++)
		ask_of(shares, 65533, 1000 + i, 300, now_ns);
	ck_assert(grant_shares_are_spent(shares, now_ns));
}

/* The crowd asks first, each tenth of a second. Each file of another user's target comes next. */
START_TEST(users_come_in_turn)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint32_t got = 0, rounds = 0, crowd_got = 0;
	uint64_t now_ns = BEGAN_NS;

	crowd(shares, 900, now_ns);
	for (; got < 20 && rounds < 100; rounds++) {
		now_ns += CLOCK_SECOND_NS / 10;
		for (uint32_t i = 0; i < 900; i++)
			crowd_got += ask_of(shares, 65533, 1000 + i, 1, now_ns);
		got += ask_of(shares, 0, 7, 20 - got, now_ns);
	}
	ck_assert_uint_eq(got, 20);
	ck_assert_uint_le(rounds, 22);
	/* it takes no more than it needs */
	ck_assert_uint_ge(crowd_got, 40);
}
END_TEST

/* A user's many targets leave room for one of another user, which takes the place of one of them. */
START_TEST(a_user_with_few_targets_finds_room)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint64_t now_ns = BEGAN_NS + CLOCK_SECOND_NS / 10;

	crowd(shares, 2 * GRANT_SHARES_MAX, BEGAN_NS);
	ck_assert_uint_eq(shares->count, GRANT_SHARES_MAX);
	ck_assert_uint_eq(ask_of(shares, 65533, 1, 1, BEGAN_NS), 0);
	ck_assert_uint_eq(ask_of(shares, 0, 7, 1, BEGAN_NS), 0);
	ck_assert_uint_eq(ask_of(shares, 65533, 1, 1, now_ns), 0);
	ck_assert_uint_eq(ask_of(shares, 0, 7, 1, now_ns), 1);
	ck_assert_uint_eq(shares->count, GRANT_SHARES_MAX);
	ck_assert_uint_eq(shares->users_count, 2);
	ck_assert_uint_eq(shares->users[0].shares + shares->users[1].shares, GRANT_SHARES_MAX);
}
END_TEST

/* ---- targets for which bourdon-grant hangs ---- */

START_TEST(a_target_that_hangs)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint64_t now_ns = BEGAN_NS;

	for (uint64_t pause_s = 1; pause_s <= 64; pause_s *= 2) {
		uint64_t expected_ns = (pause_s < 32 ? pause_s : 32) * CLOCK_SECOND_NS;

		ck_assert_uint_eq(ask(shares, 7, 1, now_ns), 1);
		grant_shares_note_hung(shares, now_ns);
		ck_assert_uint_eq(ask(shares, 7, 1, now_ns + expected_ns - 1), 0);
		ck_assert_uint_eq(ask(shares, 8, 1, now_ns + expected_ns - 1), 1);
		now_ns += expected_ns;
	}
	/* a minute later it counts as new */
	now_ns += 64 * CLOCK_SECOND_NS;
	ck_assert_uint_eq(ask(shares, 7, 1, now_ns), 1);
	grant_shares_note_hung(shares, now_ns);
	ck_assert_uint_eq(ask(shares, 7, 1, now_ns + CLOCK_SECOND_NS), 1);
	ck_assert_uint_eq(grant_shares_put_off(shares), 0);
}
END_TEST

/* A hundred of them cost little more than one does. Other users go on. */
START_TEST(a_user_whose_targets_hang)
{
	_cleanup_free_ struct grant_shares *shares = calloc(1, sizeof(*shares));
	uint32_t hung = 0;

	for (uint64_t now_ns = BEGAN_NS; now_ns < BEGAN_NS + 300 * CLOCK_SECOND_NS;
	     now_ns += CLOCK_SECOND_NS) {
		for (uint32_t tgid = 1; tgid <= 100; tgid++) {
			if (!ask_of(shares, 65533, tgid, 1, now_ns))
				continue;
			grant_shares_note_hung(shares, now_ns);
			hung++;
		}
		ck_assert_uint_eq(ask_of(shares, 0, 777, 1, now_ns), 1);
	}
	/* at 0 s twice, at 1, 3, 7, 15, 31, 63, and each 32 s later */
	ck_assert_uint_eq(hung, 15);
}
END_TEST

SUITE(grant_shares)
{
	Suite *suite = suite_create("grant_shares");
	TCase *tests = tcase_create("grant_shares");

	tcase_add_test(tests, one_target);
	tcase_add_test(tests, all_targets);
	tcase_add_test(tests, the_last_in_the_list);
	tcase_add_test(tests, equal_parts);
	tcase_add_test(tests, targets_that_end);
	tcase_add_test(tests, no_room);
	tcase_add_test(tests, users_come_in_turn);
	tcase_add_test(tests, a_user_with_few_targets_finds_room);
	tcase_add_test(tests, a_target_that_hangs);
	tcase_add_test(tests, a_user_whose_targets_hang);
	suite_add_tcase(suite, tests);
	return suite;
}
