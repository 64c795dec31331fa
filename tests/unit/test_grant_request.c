/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which texts are requests to bourdon-grant, that a written request reads back the same, and what its
 * counters count and limit.
 */
#include "common/base/cleanup.h"
#include "common/protocol/grant_counters.h"
#include "common/protocol/grant_request.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>

struct request_case {
	const char *text;
	int result;
	struct grant_request expected;
};

static const struct request_case request_cases[] = {
	{ "pressure 1 cpu 2000000\n", 0, { .cgroup_id = 1, .resource = PSI_CPU, .window_us = 2000000 } },
	{ "pressure 18446744073709551615 memory 500000\n",
	  0,
	  { .cgroup_id = UINT64_MAX, .resource = PSI_MEMORY, .window_us = 500000 } },
	{ "pressure 42 io 10000000\n", 0, { .cgroup_id = 42, .resource = PSI_IO, .window_us = 10000000 } },
	{ "pressure 42 irq 1000000\n", 0, { .cgroup_id = 42, .resource = PSI_IRQ, .window_us = 1000000 } },
	{ "", -EAGAIN, { 0 } },
	{ "pressure 1 cpu 2000000", -EAGAIN, { 0 } },
	{ "anything", -EAGAIN, { 0 } },
	{ "\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu 2000000\n\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu 2000000\nx", -EINVAL, { 0 } },
	{ "pressure 1 cpu 2000000 \n", -EINVAL, { 0 } },
	{ " pressure 1 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure  1 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure\t1 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu \n", -EINVAL, { 0 } },
	{ "pressure cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 0 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 01 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure +1 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure -1 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 0x1 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 18446744073709551616 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 99999999999999999999999 cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu 499999\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu 10000001\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu 2e6\n", -EINVAL, { 0 } },
	{ "pressure 1 cgroup 2000000\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu.pressure 2000000\n", -EINVAL, { 0 } },
	{ "pressure 1 ../cpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 1 CPU 2000000\n", -EINVAL, { 0 } },
	{ "pressure 1 cpucpu 2000000\n", -EINVAL, { 0 } },
	{ "pressure 1 cpu 2000000\r\n", -EINVAL, { 0 } },
	{ "elf 1 2 4096\n", 0, { .kind = GRANT_ELF, .tgid = 1, .started_ns = 2, .begins = 4096 } },
	{ "elf 4194304 18446744073709551615 18446744073709547520\n",
	  0,
	  { .kind = GRANT_ELF, .tgid = 4194304, .started_ns = UINT64_MAX, .begins = UINT64_MAX - 4095 } },
	{ "elf 1 0 0\n", 0, { .kind = GRANT_ELF, .tgid = 1 } },
	{ "elf 1 2 4096", -EAGAIN, { 0 } },
	{ "elf 0 2 4096\n", -EINVAL, { 0 } },
	{ "elf 4194305 2 4096\n", -EINVAL, { 0 } },
	{ "elf 4294967297 2 4096\n", -EINVAL, { 0 } }, /* is 1 if the upper half is lost */
	{ "elf -1 2 4096\n", -EINVAL, { 0 } },
	{ "elf 01 2 4096\n", -EINVAL, { 0 } },
	{ "elf self 2 4096\n", -EINVAL, { 0 } },
	{ "elf 1/../2 2 4096\n", -EINVAL, { 0 } },
	{ "elf ../1 2 4096\n", -EINVAL, { 0 } },
	{ "elf 1 -2 4096\n", -EINVAL, { 0 } },
	{ "elf 1 18446744073709551616 4096\n", -EINVAL, { 0 } },
	{ "elf 1 2 1\n", -EINVAL, { 0 } },
	{ "elf 1 2 4095\n", -EINVAL, { 0 } },
	{ "elf 1 2 -4096\n", -EINVAL, { 0 } },
	{ "elf 1 2 0x1000\n", -EINVAL, { 0 } },
	{ "elf 1 2 1000-2000\n", -EINVAL, { 0 } },
	{ "elf 1 2 18446744073709551616\n", -EINVAL, { 0 } },
	{ "elf 1 2\n", -EINVAL, { 0 } },
	{ "elf 1 2 \n", -EINVAL, { 0 } },
	{ "elf 1\n", -EINVAL, { 0 } },
	{ "elf\n", -EINVAL, { 0 } },
	{ "elf \n", -EINVAL, { 0 } },
	{ "elf  1 2 4096\n", -EINVAL, { 0 } },
	{ "elf 1  2 4096\n", -EINVAL, { 0 } },
	{ "elf 1 2 4096 \n", -EINVAL, { 0 } },
	{ "elf 1 2 4096 4096\n", -EINVAL, { 0 } },
	{ "elf 1 2 4096\nx", -EINVAL, { 0 } },
	{ "elf 1 2 4096\nelf 1 2 4096\n", -EINVAL, { 0 } },
	{ "elf /bin/true\n", -EINVAL, { 0 } },
	{ "elf 1 2 /bin/true\n", -EINVAL, { 0 } },
	{ "ELF 1 2 4096\n", -EINVAL, { 0 } },
	{ "elf1 2 4096\n", -EINVAL, { 0 } },
	{ "perf-map 1 2\n", 0, { .kind = GRANT_PERF_MAP, .tgid = 1, .started_ns = 2 } },
	{ "perf-map 4194304 18446744073709551615\n",
	  0,
	  { .kind = GRANT_PERF_MAP, .tgid = 4194304, .started_ns = UINT64_MAX } },
	{ "perf-map 1 2", -EAGAIN, { 0 } },
	{ "perf-map 0 2\n", -EINVAL, { 0 } },
	{ "perf-map 4194305 2\n", -EINVAL, { 0 } },
	{ "perf-map -1 2\n", -EINVAL, { 0 } },
	{ "perf-map 1 -2\n", -EINVAL, { 0 } },
	{ "perf-map 1 2 4096\n", -EINVAL, { 0 } },
	{ "perf-map 1 2 \n", -EINVAL, { 0 } },
	{ "perf-map 1\n", -EINVAL, { 0 } },
	{ "perf-map\n", -EINVAL, { 0 } },
	{ "perf-map /tmp/perf-1.map\n", -EINVAL, { 0 } },
	{ "perf-map 1 ../2\n", -EINVAL, { 0 } },
	{ "perf_map 1 2\n", -EINVAL, { 0 } },
};

static bool requests_equal(const struct grant_request *a, const struct grant_request *b)
{
	return a->kind == b->kind && a->cgroup_id == b->cgroup_id && a->resource == b->resource &&
	       a->window_us == b->window_us && a->tgid == b->tgid && a->started_ns == b->started_ns &&
	       a->begins == b->begins;
}

START_TEST(requests)
{
	const struct request_case *one = &request_cases[_i];
	struct grant_request request = { 0 };

	ck_assert_int_eq(grant_request_parse(one->text, strlen(one->text), &request), one->result);
	ck_assert(requests_equal(&request, &one->expected));
}
END_TEST

START_TEST(a_nul_and_too_much)
{
	char text[GRANT_REQUEST_BYTES_MAX + 2];
	struct grant_request request;

	ck_assert_int_eq(grant_request_parse("pressure 1 cpu\0 2000000\n", 24, &request), -EINVAL);
	ck_assert_int_eq(grant_request_parse("pressure 1 cpu 2000000\n\0", 24, &request), -EINVAL);
	memset(text, '1', sizeof(text));
	ck_assert_int_eq(grant_request_parse(text, GRANT_REQUEST_BYTES_MAX - 1, &request), -EAGAIN);
	ck_assert_int_eq(grant_request_parse(text, GRANT_REQUEST_BYTES_MAX, &request), -E2BIG);
	ck_assert_int_eq(grant_request_parse(text, sizeof(text), &request), -E2BIG);
}
END_TEST

static uint64_t roll_any(struct dice *dice)
{
	return dice_roll(dice) >> dice_below(dice, 64);
}

static struct grant_request roll_request(struct dice *dice)
{
	struct grant_request request = { .kind = (enum grant_kind)dice_below(dice, GRANT_KINDS) };

	if (request.kind == GRANT_PRESSURE) {
		request.cgroup_id = roll_any(dice) | 1;
		request.resource = (enum psi_resource)dice_below(dice, PSI_RESOURCES);
		request.window_us =
			PSI_WINDOW_MIN_US + dice_below(dice, PSI_WINDOW_MAX_US - PSI_WINDOW_MIN_US + 1);
		return request;
	}
	request.tgid = 1 + dice_below(dice, GRANT_TGID_MAX);
	request.started_ns = roll_any(dice);
	if (request.kind == GRANT_ELF)
		request.begins = roll_any(dice) / GRANT_BEGINS_MULTIPLE_OF * GRANT_BEGINS_MULTIPLE_OF;
	return request;
}

START_TEST(a_written_request_reads_back)
{
	struct dice dice = dice_new(71);

	for (int round = 0; round < 20000; round++) {
		struct grant_request request = roll_request(&dice), read = { 0 };
		char text[GRANT_REQUEST_BYTES_MAX];
		size_t bytes = grant_request_format(&request, text);

		HOLDS(bytes < sizeof(text) && !grant_request_parse(text, bytes, &read));
		HOLDS(requests_equal(&read, &request));
		/* a part of a request is no request */
		HOLDS(grant_request_parse(text, dice_below(&dice, (uint32_t)bytes), &read) == -EAGAIN);
	}
}
END_TEST

START_TEST(counters)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "counters");
	_cleanup_close_ int reader = -EBADF;
	uint64_t values[GRANT_COUNTERS];

	/* a counter that cannot be written is no error */
	ck_assert_int_eq(grant_counters_open("/nowhere/counters"), -ENOENT);
	grant_counters_add(GRANT_COUNTER_GRANTED);
	ck_assert_int_eq(grant_counters_read(path, values), -ENOENT);
	for (int i = 0; i < 12; i++) { /* each as another process would */
		ck_assert_int_eq(grant_counters_open(path), 0);
		grant_counters_add(i % 4 ? GRANT_COUNTER_GRANTED : GRANT_COUNTER_REFUSED);
	}
	ck_assert_int_eq(grant_counters_read(path, values), 0);
	ck_assert_uint_eq(values[GRANT_COUNTER_GRANTED], 9);
	ck_assert_uint_eq(values[GRANT_COUNTER_REFUSED], 3);
	/* the lock of a reader does not block it */
	reader = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(flock(reader, LOCK_EX), 0);
	grant_counters_add(GRANT_COUNTER_GRANTED);
	ck_assert_int_eq(grant_counters_read(path, values), 0);
	ck_assert_uint_eq(values[GRANT_COUNTER_GRANTED], 10);
	ck_assert_uint_eq(values[GRANT_COUNTER_LATER], 0);
	file_put(path, "granted 7\nrefused 5\n", 20); /* of an earlier version */
	ck_assert_int_eq(grant_counters_read(path, values), 0);
	ck_assert(values[GRANT_COUNTER_GRANTED] == 7 && values[GRANT_COUNTER_REFUSED] == 5);
	file_put(path, "nonsense", 8);
	ck_assert_int_eq(grant_counters_read(path, values), -EBADMSG);
}
END_TEST

/* ---- the limits ---- */

#define BEGAN_NS (1000 * CLOCK_SECOND_NS)

START_TEST(a_rate)
{
	const struct rate rate = { .burst = 8, .per_second = 4 };
	uint64_t full_ns = 0;

	for (uint32_t left = 8; left; left--) {
		ck_assert_uint_eq(rate_left(rate, full_ns, BEGAN_NS), left);
		rate_take(rate, &full_ns, BEGAN_NS);
	}
	ck_assert_uint_eq(rate_left(rate, full_ns, BEGAN_NS), 0);
	ck_assert_uint_eq(rate_left(rate, full_ns, BEGAN_NS + CLOCK_SECOND_NS / 4 - 1), 0);
	ck_assert_uint_eq(rate_left(rate, full_ns, BEGAN_NS + CLOCK_SECOND_NS / 4), 1);
	ck_assert_uint_eq(rate_left(rate, full_ns, BEGAN_NS + CLOCK_SECOND_NS), 4);
	ck_assert_uint_eq(rate_left(rate, full_ns, BEGAN_NS + 2 * CLOCK_SECOND_NS), 8);
	ck_assert_uint_eq(rate_left(rate, full_ns, BEGAN_NS + 900 * CLOCK_SECOND_NS), 8);
	ck_assert_uint_eq(rate_left(rate, UINT64_MAX, BEGAN_NS), 0);
	ck_assert_uint_eq(rate_full_most_ns(rate, BEGAN_NS), full_ns);
}
END_TEST

static uint64_t fake_now_ns;

/* Whoever looks at the clock has the lock: no other process takes a request between that and the taking. */
static uint64_t clock_under_lock(void)
{
	_cleanup_close_ int lock = -EBADF;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", GRANT_COUNTERS_LOCK_FD);
	lock = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(flock(lock, LOCK_EX | LOCK_NB), -1);
	return fake_now_ns;
}

/* Takes requests at `now_ns` until one is over the limit. Returns how many were not. */
static uint32_t take_all(enum grant_budget budget, uint64_t now_ns, uint64_t expected_over)
{
	uint32_t taken = 0;
	uint64_t over;

	fake_now_ns = now_ns;
	while (!(over = grant_counters_take(budget, clock_under_lock)))
		ck_assert_uint_le(++taken, GRANT_ANSWERED.burst);
	ck_assert_uint_eq(over, expected_over);
	return taken;
}

START_TEST(answers_are_limited)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "counters");
	uint64_t values[GRANT_COUNTERS];

	ck_assert_int_eq(grant_counters_open(path), 0);
	ck_assert_uint_eq(take_all(GRANT_BUDGET_FILES, BEGAN_NS, 1), GRANT_ANSWERED.burst);
	ck_assert_int_eq(grant_counters_open(path), 0); /* another process of bourdon-grant */
	ck_assert_uint_eq(take_all(GRANT_BUDGET_FILES, BEGAN_NS, 2), 0);
	/* files do not take what pressure needs */
	ck_assert_uint_eq(take_all(GRANT_BUDGET_PRESSURE, BEGAN_NS, 3), GRANT_ANSWERED.burst);
	ck_assert_uint_eq(take_all(GRANT_BUDGET_FILES, BEGAN_NS + CLOCK_SECOND_NS, 4),
			  GRANT_ANSWERED.per_second);
	grant_counters_add(GRANT_COUNTER_GRANTED);
	ck_assert_uint_eq(take_all(GRANT_BUDGET_FILES, BEGAN_NS + CLOCK_SECOND_NS, 5), 0);
	ck_assert_int_eq(grant_counters_read(path, values), 0);
	ck_assert(values[GRANT_COUNTER_GRANTED] == 1 && !values[GRANT_COUNTER_REFUSED]);
	ck_assert_uint_eq(values[GRANT_COUNTER_LATER], 5);
}
END_TEST

/* Of a file that outlived a boot, or that is damaged: requests are answered again soon. */
START_TEST(a_limit_from_the_future)
{
	static const char text[] =
		"granted 1\nrefused 1\nlater 0\npressure-full-ns 0\nfiles-full-ns 18446744073709551615\n";
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "counters");
	const uint64_t refill_ns = GRANT_ANSWERED.burst * rate_interval_ns(GRANT_ANSWERED);

	file_put(path, text, strlen(text));
	ck_assert_int_eq(grant_counters_open(path), 0);
	ck_assert_uint_eq(take_all(GRANT_BUDGET_FILES, BEGAN_NS, 1), 0);
	ck_assert_uint_eq(take_all(GRANT_BUDGET_FILES, BEGAN_NS + refill_ns, 2), GRANT_ANSWERED.burst);
}
END_TEST

/* systemd.socket(5): PollLimitIntervalSec= and PollLimitBurst= of sockets with Accept=yes, if they are not set */
#define POLL_LIMIT_SECONDS 2U
#define POLL_LIMIT_BURST 150U

START_TEST(the_consumer_asks_for_less_than_is_answered)
{
	/* two daemons, one right after the other */
	ck_assert_uint_le(2 * GRANT_ASKED.burst, GRANT_ANSWERED.burst);
	ck_assert_uint_le(2 * GRANT_ASKED.per_second, GRANT_ANSWERED.per_second);
	ck_assert_uint_lt(GRANT_BUDGETS * GRANT_ASKED.per_second * POLL_LIMIT_SECONDS, POLL_LIMIT_BURST);
	/* the reason is told apart from all others */
	ck_assert_uint_lt(strlen(GRANT_REFUSED GRANT_LATER "\n"), GRANT_ANSWER_BYTES_MAX);
}
END_TEST

SUITE(grant_request)
{
	Suite *suite = suite_create("grant_request");
	TCase *tests = tcase_create("grant");

	tcase_add_loop_test(tests, requests, 0, ARRAY_SIZE(request_cases));
	tcase_add_test(tests, a_nul_and_too_much);
	tcase_add_test(tests, a_written_request_reads_back);
	tcase_add_test(tests, counters);
	tcase_add_test(tests, a_rate);
	tcase_add_test(tests, answers_are_limited);
	tcase_add_test(tests, a_limit_from_the_future);
	tcase_add_test(tests, the_consumer_asks_for_less_than_is_answered);
	suite_add_tcase(suite, tests);
	return suite;
}
