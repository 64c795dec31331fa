/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what the consumer does with any answer of bourdon-grant, or of another program in its place: it leaks
 * no descriptor, never blocks, and does not ask again at once after a failure.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/grant_limits.h"
#include "common/system/pass_fd.h"
#include "consumer/process/event_source.h"
#include "consumer/watch/grant_queue.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

static const struct grant_request request = { .cgroup_id = 42, .resource = PSI_CPU, .window_us = 2000000 };

struct fixture {
	char *directory, *path;
	int listener, epoll;
	struct grant_queue *grants;
	unsigned int answers;
	int answer; /* of the last answer; its descriptor is closed */
	char refusal[GRANT_ANSWER_BYTES_MAX];
};

static void on_answer(void *user, void *asker, int fd, const char *refusal)
{
	struct fixture *fixture = user;

	ck_assert_ptr_eq(asker, fixture);
	fixture->answers++;
	fixture->answer = fd < 0 ? fd : 0;
	snprintf(fixture->refusal, sizeof(fixture->refusal), "%s", refusal);
	cleanup_close(&fd);
}

static void open_fixture(struct fixture *fixture)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*fixture = (struct fixture){ .directory = directory_make(), .epoll = epoll_create1(EPOLL_CLOEXEC) };
	fixture->path = path_join(fixture->directory, "s");
	fixture->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(address.sun_path, fixture->path);
	ck_assert_int_eq(bind(fixture->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fixture->listener, 16), 0);
	ck_assert_int_eq(
		grant_queue_open(&fixture->grants, fixture->path, fixture->epoll, on_answer, fixture), 0);
}

static void close_fixture(struct fixture *fixture)
{
	grant_queue_free(fixture->grants);
	close(fixture->listener);
	close(fixture->epoll);
	directory_remove(fixture->directory);
	free(fixture->directory);
	free(fixture->path);
}

static struct grant_call *ask(struct fixture *fixture)
{
	return grant_queue_ask(fixture->grants, &request, fixture, clock_monotonic_ns());
}

/* The events of one epoll set. */
static void dispatch(struct fixture *fixture)
{
	struct epoll_event event;

	ck_assert_int_eq(epoll_wait(fixture->epoll, &event, 1, 5000), 1);
	ck_assert_int_eq(((struct event_source *)event.data.ptr)->kind, SOURCE_GRANT);
	grant_queue_event(fixture->grants, event.data.ptr, clock_monotonic_ns());
}

struct answer_case {
	const char *text;
	size_t bytes;
	unsigned int descriptors;
	int result;
	bool may_ask; /* at once */
};

#define LATER GRANT_REFUSED GRANT_LATER "\n"

static const struct answer_case answer_cases[] = {
	{ "ok\n", 3, 1, 0, true },
	{ "refused no such cgroup\n", 23, 0, -EACCES, true },
	{ "refused no such cgroup\n", 23, 1, -EACCES, true },
	{ LATER, sizeof(LATER) - 1, 0, -EBUSY, false },
	{ "", 0, 0, -EBADMSG, false },
	{ "ok\n", 3, 0, -EBADMSG, false },
	{ "ok\n", 3, 2, -EBADMSG, false },
	{ "ok\n", 3, 64, -EBADMSG, false },
	{ "ok\nok\n", 6, 1, -EBADMSG, false },
	{ "ok\n\0", 4, 1, -EBADMSG, false },
	{ "o", 1, 1, -EBADMSG, false },
	{ "refused ", 8, 0, -EBADMSG, false },
	{ "\xff\0garbage", 9, 1, -EBADMSG, false },
};

static void answer(int socket, const struct answer_case *one)
{
	union {
		char bytes[CMSG_SPACE(64 * sizeof(int))];
		struct cmsghdr aligned;
	} control = { 0 };
	struct iovec part = { (void *)one->text, one->bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (one->descriptors) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(one->descriptors * sizeof(int));
		control.aligned = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						    .cmsg_type = SCM_RIGHTS,
						    .cmsg_len = CMSG_LEN(one->descriptors * sizeof(int)) };
		for (unsigned int i = 0; i < one->descriptors; i++)
			memcpy(CMSG_DATA(&control.aligned) + i * sizeof(int), &socket, sizeof(int));
	}
	if (one->bytes)
		ck_assert_int_eq(sendmsg(socket, &message, 0), (ssize_t)one->bytes);
}

START_TEST(answers)
{
	const struct answer_case *one = &answer_cases[_i];
	struct fixture fixture;
	size_t descriptors;
	int saved = log_divert();

	open_fixture(&fixture);
	descriptors = descriptors_open();
	for (int i = 0; i < 2; i++) {
		char text[GRANT_REQUEST_BYTES_MAX], expected[GRANT_REQUEST_BYTES_MAX];
		size_t bytes = grant_request_format(&request, expected);
		int served;

		ck_assert_ptr_nonnull(ask(&fixture));
		served = accept(fixture.listener, NULL, NULL);
		ck_assert_int_eq(read(served, text, sizeof(text)), (ssize_t)bytes);
		ck_assert_int_eq(memcmp(text, expected, bytes), 0);
		answer(served, one);
		close(served);
		dispatch(&fixture);
		ck_assert_uint_eq(fixture.answers, (unsigned int)i + 1);
		ck_assert_int_eq(fixture.answer, one->result);
		ck_assert_str_eq(fixture.refusal, one->result == -EACCES  ? "no such cgroup"
						  : one->result == -EBUSY ? GRANT_LATER
									  : "");
		ck_assert_uint_eq(descriptors_open(), descriptors);
		if (!one->may_ask)
			break;
	}
	ck_assert(grant_queue_has_room(fixture.grants, clock_monotonic_ns()) == one->may_ask);
	ck_assert(grant_queue_has_room(fixture.grants, clock_monotonic_ns() + 6 * CLOCK_SECOND_NS));
	ck_assert(grant_queue_is_served(fixture.grants));
	close_fixture(&fixture);
	free(log_diverted(saved));
}
END_TEST

/* One whole call: the request at `now_ns`, and this answer. */
static void call(struct fixture *fixture, uint64_t now_ns, const struct answer_case *one)
{
	int served;

	ck_assert_ptr_nonnull(grant_queue_ask(fixture->grants, &request, fixture, now_ns));
	served = accept(fixture->listener, NULL, NULL);
	answer(served, one);
	close(served);
	dispatch(fixture);
}

START_TEST(it_asks_for_no_more_than_is_answered)
{
	const struct answer_case refused = { "refused no such cgroup\n", 23, 0, -EACCES, true };
	const uint64_t now_ns = clock_monotonic_ns(), later_ns = now_ns + CLOCK_SECOND_NS;
	struct fixture fixture;
	uint32_t calls = 0;

	open_fixture(&fixture);
	for (; grant_queue_has_room(fixture.grants, now_ns); calls++)
		call(&fixture, now_ns, &refused);
	ck_assert_uint_eq(calls, GRANT_ASKED.burst);
	ck_assert_ptr_null(grant_queue_ask(fixture.grants, &request, &fixture, now_ns));
	ck_assert(grant_queue_is_served(fixture.grants));
	for (calls = 0; grant_queue_has_room(fixture.grants, later_ns); calls++)
		call(&fixture, later_ns, &refused);
	ck_assert_uint_eq(calls, GRANT_ASKED.per_second);
	close_fixture(&fixture);
}
END_TEST

/* Asked again after 1, 2, 4, ..., 32 and 32 seconds. */
START_TEST(a_grant_that_is_asked_too_often)
{
	const struct answer_case later = { LATER, sizeof(LATER) - 1, 0, -EBUSY, false };
	const struct answer_case refused = { "refused no such cgroup\n", 23, 0, -EACCES, true };
	struct fixture fixture;
	uint64_t pause_ns = CLOCK_SECOND_NS, asked_ns = clock_monotonic_ns();

	open_fixture(&fixture);
	for (int i = 0; i < 7; i++) {
		uint64_t before_ns = clock_monotonic_ns();

		call(&fixture, asked_ns, &later);
		ck_assert(!grant_queue_has_room(fixture.grants, before_ns + pause_ns - 1));
		/* its pause began by then */
		asked_ns = clock_monotonic_ns() + pause_ns;
		ck_assert(grant_queue_has_room(fixture.grants, asked_ns));
		pause_ns = pause_ns < 32 * CLOCK_SECOND_NS ? 2 * pause_ns : pause_ns;
	}
	call(&fixture, asked_ns, &refused);
	call(&fixture, asked_ns, &later);
	/* which is less than 32 s ahead of the last pause */
	ck_assert(grant_queue_has_room(fixture.grants, asked_ns));
	close_fixture(&fixture);
}
END_TEST

START_TEST(no_answer_before_the_deadline)
{
	struct fixture fixture;
	uint64_t later_ns;
	unsigned int calls = 0;
	int saved = log_divert();

	open_fixture(&fixture);
	while (ask(&fixture))
		calls++;
	ck_assert_uint_gt(calls, 0);
	grant_queue_tick(fixture.grants, clock_monotonic_ns());
	ck_assert_uint_eq(fixture.answers, 0);
	later_ns = clock_monotonic_ns() + 11 * CLOCK_SECOND_NS;
	grant_queue_tick(fixture.grants, later_ns);
	ck_assert_uint_eq(fixture.answers, calls);
	ck_assert_int_eq(fixture.answer, -ETIMEDOUT);
	close_fixture(&fixture);
	free(log_diverted(saved));
}
END_TEST

START_TEST(a_cancelled_call_gets_no_answer)
{
	const struct answer_case granted = { "ok\n", 3, 1, 0, true };
	struct fixture fixture;
	struct grant_call *call;
	size_t descriptors;
	int served;

	open_fixture(&fixture);
	descriptors = descriptors_open();
	call = ask(&fixture);
	grant_queue_cancel(call);
	served = accept(fixture.listener, NULL, NULL);
	answer(served, &granted);
	dispatch(&fixture);
	close(served);
	ck_assert_uint_eq(fixture.answers, 0);
	ck_assert_uint_eq(descriptors_open(), descriptors);
	/* an event of the same batch, after the call has ended */
	grant_queue_event(fixture.grants, call, clock_monotonic_ns());
	close_fixture(&fixture);
}
END_TEST

START_TEST(no_server)
{
	struct fixture fixture;
	int saved = log_divert();
	_cleanup_free_ char *log = NULL;

	open_fixture(&fixture);
	unlink(fixture.path);
	ck_assert_ptr_null(ask(&fixture));
	ck_assert(!grant_queue_is_served(fixture.grants));
	ck_assert(!grant_queue_has_room(fixture.grants, clock_monotonic_ns()));
	ck_assert(grant_queue_has_room(fixture.grants, clock_monotonic_ns() + 31 * CLOCK_SECOND_NS));
	close_fixture(&fixture);
	log = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(log, "cannot connect to bourdon-grant"));
}
END_TEST

SUITE(grant_queue)
{
	Suite *suite = suite_create("grant_queue");
	TCase *tests = tcase_create("grants");

	tcase_add_loop_test(tests, answers, 0, ARRAY_SIZE(answer_cases));
	tcase_add_test(tests, it_asks_for_no_more_than_is_answered);
	tcase_add_test(tests, a_grant_that_is_asked_too_often);
	tcase_add_test(tests, no_answer_before_the_deadline);
	tcase_add_test(tests, a_cancelled_call_gets_no_answer);
	tcase_add_test(tests, no_server);
	suite_add_tcase(suite, tests);
	return suite;
}
