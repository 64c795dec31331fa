/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what a call to bourdon-grant, or to another program in its place, returns to the worker thread: the
 * descriptor or one error, no later than its deadline. test_grant_queue.c has answers of all kinds.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/symbols/file_grant.h"
#include "consumer/watch/grant_client.h"
#include "tests/unit/fake_grant.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/stat.h>

static const struct grant_request request = { .kind = GRANT_ELF, .tgid = 7, .started_ns = 8, .begins = 4096 };
#define REQUEST "elf 7 8 4096\n"

static int ask(const char *path, uint64_t patience_ns)
{
	return file_grant_ask(path, &request, clock_monotonic_ns() + patience_ns);
}

struct call_case {
	struct fake_answer answer;
	int result; /* 0: a descriptor */
};

static const struct call_case call_cases[] = {
	{ { REQUEST, "ok\n", OWN_PATH }, 0 },
	{ { REQUEST, "refused not a target\n", NULL }, -EACCES },
	{ { REQUEST, "refused not a target\n", OWN_PATH }, -EACCES },
	{ { REQUEST, "refused root's policy hands out no files\n", NULL }, -EPERM },
	{ { REQUEST, "refused root's policy hands out no files", NULL }, -EACCES },
	{ { REQUEST, "refused over the limit of requests a second; ask later\n", NULL }, -EBUSY },
	{ { REQUEST, "ok\n", NULL }, -EBADMSG },
	{ { REQUEST, "ok", OWN_PATH }, -EBADMSG },
	{ { REQUEST, "OK\n", OWN_PATH }, -EBADMSG },
	{ { REQUEST, "refused ", NULL }, -EBADMSG },
	{ { REQUEST, "", NULL }, -EBADMSG }, /* the connection closes without an answer */
};

START_TEST(calls)
{
	const struct call_case *one = &call_cases[_i];
	struct fake_grant grant;
	struct stat own, at;
	size_t descriptors;
	int fd;

	fake_grant_make(&grant);
	fake_grant_answer(&grant, &one->answer, 1);
	descriptors = descriptors_open();
	fd = ask(grant.path, 10 * CLOCK_SECOND_NS);
	if (one->result) {
		ck_assert_int_eq(fd, one->result);
	} else {
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(fstat(fd, &at) || stat(OWN_PATH, &own), 0);
		ck_assert(at.st_ino == own.st_ino && at.st_dev == own.st_dev);
		close(fd);
	}
	ck_assert_uint_eq(descriptors_open(), descriptors);
	fake_grant_finish(&grant);
	fake_grant_free(&grant);
}
END_TEST

/* A caller that may not ask is refused at once, perhaps before it has sent the request. */
START_TEST(refused_unread)
{
	const struct fake_answer answer = { NULL, "refused no\n", NULL };
	char refusal[GRANT_ANSWER_BYTES_MAX];
	struct fake_grant grant;
	int connection, fd;

	fake_grant_make(&grant);
	fake_grant_answer(&grant, &answer, 1);
	connection = grant_client_connect(grant.path);
	ck_assert_int_ge(connection, 0);
	fake_grant_finish(&grant);
	fd = grant_client_receive(connection, refusal);
	ck_assert_int_eq(fd, -EACCES);
	ck_assert_str_eq(refusal, "no");
	close(connection);
	fake_grant_free(&grant);
}
END_TEST

START_TEST(no_answer_before_the_deadline)
{
	struct fake_grant grant;
	uint64_t began_ns = clock_monotonic_ns();
	size_t descriptors;

	fake_grant_make(&grant);
	descriptors = descriptors_open();
	ck_assert_int_eq(ask(grant.path, CLOCK_SECOND_NS / 10), -ETIMEDOUT);
	ck_assert_uint_ge(clock_monotonic_ns() - began_ns, CLOCK_SECOND_NS / 10);
	ck_assert_int_eq(file_grant_ask(grant.path, &request, 0), -ETIMEDOUT);
	ck_assert_uint_eq(descriptors_open(), descriptors);
	fake_grant_free(&grant);
}
END_TEST

/* A full queue of connections does not block: the next call fails at once. */
START_TEST(a_full_queue_of_connections)
{
	struct fake_grant grant;
	int connections[64], count = 0;

	fake_grant_make(&grant);
	do {
		connections[count] = grant_client_connect(grant.path);
	} while (connections[count] >= 0 && ++count < (int)ARRAY_SIZE(connections));
	ck_assert_int_lt(count, (int)ARRAY_SIZE(connections));
	ck_assert_int_eq(connections[count], -EAGAIN);
	while (count--)
		close(connections[count]);
	fake_grant_free(&grant);
}
END_TEST

START_TEST(no_server)
{
	struct fake_grant grant;
	char path[256];
	size_t descriptors;

	fake_grant_make(&grant);
	descriptors = descriptors_open();
	unlink(grant.path);
	ck_assert_int_eq(ask(grant.path, CLOCK_SECOND_NS), -ENOENT);
	file_put(grant.path, "", 0);
	ck_assert_int_eq(ask(grant.path, CLOCK_SECOND_NS), -ECONNREFUSED);
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(ask(path, CLOCK_SECOND_NS), -ENAMETOOLONG);
	ck_assert_uint_eq(descriptors_open(), descriptors);
	fake_grant_free(&grant);
}
END_TEST

SUITE(grant_client)
{
	Suite *suite = suite_create("grant_client");
	TCase *tests = tcase_create("grant_client");

	tcase_add_loop_test(tests, calls, 0, ARRAY_SIZE(call_cases));
	tcase_add_test(tests, refused_unread);
	tcase_add_test(tests, no_answer_before_the_deadline);
	tcase_add_test(tests, a_full_queue_of_connections);
	tcase_add_test(tests, no_server);
	suite_add_tcase(suite, tests);
	return suite;
}
