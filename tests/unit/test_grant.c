/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which texts are requests to bourdon-grant, that what is written is read as it was meant, and what its
 * counters count.
 */
#include "common/cleanup.h"
#include "common/grant.h"
#include "common/grant_counters.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

struct request_case {
	const char *text;
	int result;
	struct grant_request expected;
};

static const struct request_case request_cases[] = {
	{ "pressure 1 cpu 2000000\n", 0, { 1, PSI_CPU, 2000000 } },
	{ "pressure 18446744073709551615 memory 500000\n", 0, { UINT64_MAX, PSI_MEMORY, 500000 } },
	{ "pressure 42 io 10000000\n", 0, { 42, PSI_IO, 10000000 } },
	{ "pressure 42 irq 1000000\n", 0, { 42, PSI_IRQ, 1000000 } },
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
	{ "elf 1 2 3\n", -EINVAL, { 0 } },
};

START_TEST(requests)
{
	const struct request_case *one = &request_cases[_i];
	struct grant_request request = { 0 };

	ck_assert_int_eq(grant_parse(one->text, strlen(one->text), &request), one->result);
	ck_assert_uint_eq(request.cgroup_id, one->expected.cgroup_id);
	ck_assert_int_eq(request.resource, one->expected.resource);
	ck_assert_uint_eq(request.window_us, one->expected.window_us);
}
END_TEST

START_TEST(a_nul_and_too_much)
{
	char text[GRANT_REQUEST_BYTES_MAX + 2];
	struct grant_request request;

	ck_assert_int_eq(grant_parse("pressure 1 cpu\0 2000000\n", 24, &request), -EINVAL);
	ck_assert_int_eq(grant_parse("pressure 1 cpu 2000000\n\0", 24, &request), -EINVAL);
	memset(text, '1', sizeof(text));
	ck_assert_int_eq(grant_parse(text, GRANT_REQUEST_BYTES_MAX - 1, &request), -EAGAIN);
	ck_assert_int_eq(grant_parse(text, GRANT_REQUEST_BYTES_MAX, &request), -E2BIG);
	ck_assert_int_eq(grant_parse(text, sizeof(text), &request), -E2BIG);
}
END_TEST

START_TEST(what_is_written_is_read)
{
	struct dice dice = dice_take(71);

	for (int round = 0; round < 20000; round++) {
		uint64_t id = dice_roll(&dice) >> dice_below(&dice, 64);
		struct grant_request request = {
			id ? id : 1, (enum psi_resource)dice_below(&dice, PSI_RESOURCES),
			PSI_WINDOW_MIN_US + dice_below(&dice, PSI_WINDOW_MAX_US - PSI_WINDOW_MIN_US + 1)
		};
		struct grant_request read = { 0 };
		char text[GRANT_REQUEST_BYTES_MAX];
		size_t bytes = grant_format(&request, text);

		HOLDS(bytes < sizeof(text) && !grant_parse(text, bytes, &read));
		HOLDS(read.cgroup_id == request.cgroup_id && read.resource == request.resource &&
		      read.window_us == request.window_us);
		/* a part of it never is a request */
		HOLDS(grant_parse(text, dice_below(&dice, (uint32_t)bytes), &read) == -EAGAIN);
	}
}
END_TEST

START_TEST(counters)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "counters");
	_cleanup_close_ int reader = -EBADF;
	uint64_t values[GRANT_COUNTERS];

	ck_assert_int_eq(grant_counters_read(path, values), -ENOENT);
	for (int i = 0; i < 12; i++)
		grant_counters_add(path, i % 4 ? GRANT_COUNTER_GRANTED : GRANT_COUNTER_REFUSED);
	ck_assert_int_eq(grant_counters_read(path, values), 0);
	ck_assert_uint_eq(values[GRANT_COUNTER_GRANTED], 9);
	ck_assert_uint_eq(values[GRANT_COUNTER_REFUSED], 3);
	/* a reader's lock keeps nobody waiting */
	reader = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(flock(reader, LOCK_EX), 0);
	grant_counters_add(path, GRANT_COUNTER_GRANTED);
	ck_assert_int_eq(grant_counters_read(path, values), 0);
	ck_assert_uint_eq(values[GRANT_COUNTER_GRANTED], 10);
	file_put(path, "nonsense", 8);
	ck_assert_int_eq(grant_counters_read(path, values), -EBADMSG);
	/* what cannot be counted fails nobody */
	grant_counters_add(NULL, GRANT_COUNTER_GRANTED);
	grant_counters_add("/nowhere/counters", GRANT_COUNTER_GRANTED);
}
END_TEST

Suite *grant_suite(void)
{
	Suite *suite = suite_create("grant");
	TCase *tests = tcase_create("grant");

	tcase_add_loop_test(tests, requests, 0, ARRAY_SIZE(request_cases));
	tcase_add_test(tests, a_nul_and_too_much);
	tcase_add_test(tests, what_is_written_is_read);
	tcase_add_test(tests, counters);
	suite_add_tcase(suite, tests);
	return suite;
}
