/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, with clients in this process, that the control socket answers each whole line, refuses every other, tells once that
 * a client has left, and is stopped by none: idle ones, those that do not read, those that send or ask without end, and more
 * than there are places for.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/capture_request.h"
#include "consumer/control.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SECOND CLOCK_SECOND_NS

struct server {
	struct control_socket *control;
	struct own_counters counters;
	char *directory;
	int epoll;
	uint64_t now_ns;
	const char *status;
	/* what the handlers were told */
	uint64_t asked, left; /* clients */
	unsigned int asks, leaves;
	uid_t uid;
	bool is_member;
	char unit[64];
};

static void describe(void *user, FILE *out)
{
	const struct server *server = user;

	fputs(server->status, out);
}

static void on_ask(void *user, uint64_t client, const struct peer *peer, const struct status_line *line)
{
	struct server *server = user;

	server->asks++;
	server->asked = client;
	server->uid = peer->uid;
	server->is_member = peer->is_member;
	snprintf(server->unit, sizeof(server->unit), "%s", status_line_get(line, "unit"));
}

static void on_leave(void *user, uint64_t client)
{
	struct server *server = user;

	server->leaves++;
	server->left = client;
}

static void server_start(struct server *server)
{
	const struct control_handlers handlers = { describe, on_ask, on_leave, server };

	*server = (struct server){ .epoll = epoll_create1(EPOLL_CLOEXEC),
				   .now_ns = 1000 * SECOND,
				   .status = "daemon\tpid=1\n" };
	server->directory = directory_make();
	ck_assert_int_eq(control_open(&server->control, server->directory, server->epoll, &handlers,
				      &server->counters),
			 0);
}

static void server_stop(struct server *server)
{
	control_close(server->control);
	close(server->epoll);
	free(server->directory);
}

/* Handles all events until there are none. */
static void serve(struct server *server)
{
	struct epoll_event events[4];
	int count;

	for (int round = 0; round < 10000; round++) {
		count = epoll_wait(server->epoll, events, ARRAY_SIZE(events), 0);
		ck_assert_int_ge(count, 0);
		for (int i = 0; i < count; i++) {
			struct event_source *source = events[i].data.ptr;

			if (source->kind == SOURCE_CONTROL)
				control_accept(server->control, server->now_ns);
			else
				control_event(server->control, source, events[i].events, server->now_ns);
		}
		if (!count)
			return;
	}
	ck_abort_msg("the socket has events without end");
}

static int client_connect(const struct server *server)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" CONTROL_SOCKET_FILE, server->directory);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void put(int fd, const char *text, size_t bytes)
{
	ck_assert_int_eq(send(fd, text, bytes, MSG_NOSIGNAL), (ssize_t)bytes);
}

static void say(int fd, const char *text)
{
	put(fd, text, strlen(text));
}

/* What there is to read, up to the end of the connection if it has ended. The caller frees. */
static char *hear(struct server *server, int fd, bool *ret_ended)
{
	char *text = calloc(1, 1 << 21);
	size_t used = 0;
	ssize_t got = 0;

	*ret_ended = false;
	for (;;) {
		serve(server);
		got = recv(fd, text + used, (1 << 21) - 1 - used, MSG_DONTWAIT);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	*ret_ended = !got || errno == ECONNRESET;
	return text;
}

static void expect(struct server *server, int fd, const char *text, bool ended)
{
	bool has_ended;
	_cleanup_free_ char *heard = hear(server, fd, &has_ended);

	ck_assert_str_eq(heard, text);
	ck_assert(has_ended == ended);
}

START_TEST(status_is_answered)
{
	struct server server;
	_cleanup_close_ int fd = -EBADF, slow = -EBADF;

	server_start(&server);
	fd = client_connect(&server);
	expect(&server, fd, "", false); /* it has not asked */
	say(fd, "status\n");
	expect(&server, fd, server.status, true);
	/* a line may come in pieces, and another client between them */
	slow = client_connect(&server);
	say(slow, "sta");
	expect(&server, slow, "", false);
	close(fd);
	fd = client_connect(&server);
	say(fd, "status\n");
	expect(&server, fd, server.status, true);
	say(slow, "tus\n");
	expect(&server, slow, server.status, true);
	server_stop(&server);
}
END_TEST

START_TEST(a_status_is_longer_than_the_socket_holds)
{
	struct server server;
	_cleanup_close_ int fd = -EBADF;
	char *long_status = malloc(1 << 20);

	server_start(&server);
	memset(long_status, 'x', (1 << 20) - 1);
	long_status[(1 << 20) - 1] = '\0';
	server.status = long_status;
	fd = client_connect(&server);
	say(fd, "status\n");
	expect(&server, fd, long_status, true);
	free(long_status);
	server_stop(&server);
}
END_TEST

static const struct {
	const char *text;
	size_t bytes; /* 0: up to the NUL */
	const char *answer;
} hostile[] = {
	{ "\n", 0, "refused\twhy=this bourdond does not know such a request\n" },
	{ "STATUS\n", 0, "refused\twhy=this bourdond does not know such a request\n" },
	{ "status \n", 0, "refused\twhy=this bourdond does not know such a request\n" },
	{ "capture\tx\n", 0, "refused\twhy=the request is damaged\n" },
	{ "capture\t\n", 0, "refused\twhy=the request is damaged\n" },
	{ "capture\tall=1\0\n", sizeof("capture\tall=1\0\n") - 1, "refused\twhy=the request is damaged\n" },
	{ "\0\n", 2, "refused\twhy=the request is damaged\n" },
	{ "\xff\xfe\n", 0, "refused\twhy=this bourdond does not know such a request\n" },
};

START_TEST(other_lines_are_refused)
{
	struct server server;
	_cleanup_close_ int fd = -EBADF;
	size_t bytes = hostile[_i].bytes ? hostile[_i].bytes : strlen(hostile[_i].text);

	server_start(&server);
	fd = client_connect(&server);
	put(fd, hostile[_i].text, bytes);
	expect(&server, fd, hostile[_i].answer, true);
	ck_assert_uint_eq(own_counted(&server.counters, OWN_ASKED_REFUSED), 1);
	ck_assert_uint_eq(server.asks + server.leaves, 0);
	server_stop(&server);
}
END_TEST

START_TEST(a_line_without_end_is_refused)
{
	static char text[2 * CAPTURE_REQUEST_BYTES_MAX];
	struct server server;
	_cleanup_close_ int fd = -EBADF;

	server_start(&server);
	memset(text, 'a', sizeof(text));
	fd = client_connect(&server);
	put(fd, text, sizeof(text));
	expect(&server, fd, "refused\twhy=the request is too long\n", true);
	server_stop(&server);
}
END_TEST

START_TEST(a_capture_is_talked_about_to_its_end)
{
	struct server server;
	_cleanup_close_ int fd = -EBADF;

	server_start(&server);
	fd = client_connect(&server);
	say(fd, "capture\tunit=web.service\n");
	expect(&server, fd, "", false);
	ck_assert_uint_eq(server.asks, 1);
	ck_assert_uint_eq(server.uid, getuid());
	ck_assert(server.is_member);
	ck_assert_str_eq(server.unit, "web.service");
	control_say(server.control, server.asked, "begun\n");
	control_say(server.control, server.asked, "progress\n");
	expect(&server, fd, "begun\nprogress\n", false);
	/* the time for a line does not run while a capture does */
	server.now_ns += 3600 * SECOND;
	control_tick(server.control, server.now_ns);
	ck_assert_uint_eq(server.leaves, 0);
	/* it ends its capture, and hears the result */
	shutdown(fd, SHUT_WR);
	expect(&server, fd, "", false);
	ck_assert_uint_eq(server.leaves, 1);
	ck_assert_uint_eq(server.left, server.asked);
	control_say(server.control, server.asked, "recorded\n");
	control_dismiss(server.control, server.asked, "stored\n", server.now_ns);
	expect(&server, fd, "recorded\nstored\n", true);
	ck_assert_uint_eq(server.leaves, 1);
	/* nobody is there any more */
	control_say(server.control, server.asked, "late\n");
	control_dismiss(server.control, server.asked, "late\n", server.now_ns);
	server_stop(&server);
}
END_TEST

START_TEST(a_client_that_vanishes_has_left)
{
	struct server server;
	size_t open;
	int fd;

	server_start(&server);
	open = descriptors_open();
	for (unsigned int i = 1; i <= 3 * CONTROL_CLIENTS; i++) {
		fd = client_connect(&server);
		say(fd, "capture\n");
		serve(&server);
		ck_assert_uint_eq(server.asks, i);
		if (i % 2) /* with something unread, the kernel tells another error */
			control_say(server.control, server.asked, "begun\n");
		close(fd);
		serve(&server);
		ck_assert_uint_eq(server.leaves, i);
		ck_assert_uint_eq(server.left, server.asked);
		control_dismiss(server.control, server.asked, "stored\n", server.now_ns);
	}
	serve(&server);
	ck_assert_uint_eq(descriptors_open(), open);
	server_stop(&server);
}
END_TEST

/* A client that does not read costs a buffer of fixed size, and its place for two seconds after its capture. */
START_TEST(a_client_that_does_not_read)
{
	struct server server;
	char line[1024], *heard;
	_cleanup_close_ int fd = -EBADF;
	size_t open;
	bool ended;

	server_start(&server);
	open = descriptors_open();
	memset(line, 'p', sizeof(line));
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	fd = client_connect(&server);
	say(fd, "capture\n");
	serve(&server);
	for (int i = 0; i < 2000; i++) {
		control_say(server.control, server.asked, line);
		serve(&server);
	}
	ck_assert_uint_gt(own_counted(&server.counters, OWN_LINES_UNREAD), 0);
	control_dismiss(server.control, server.asked, "stored\n", server.now_ns);
	serve(&server);
	control_tick(server.control, server.now_ns + SECOND);
	ck_assert_uint_eq(descriptors_open(), open + 2);
	control_tick(server.control, server.now_ns + 2 * SECOND);
	ck_assert_uint_eq(descriptors_open(), open + 1);
	/* what it reads at last is whole lines */
	heard = hear(&server, fd, &ended);
	ck_assert(ended);
	ck_assert_uint_gt(strlen(heard), 0);
	free(heard);
	server_stop(&server);
}
END_TEST

START_TEST(a_client_that_reads_late_has_its_result)
{
	struct server server;
	char line[1024], *heard;
	_cleanup_close_ int fd = -EBADF;
	bool ended;

	server_start(&server);
	memset(line, 'p', sizeof(line));
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	fd = client_connect(&server);
	say(fd, "capture\n");
	serve(&server);
	for (int i = 0; i < 2000; i++)
		control_say(server.control, server.asked, line);
	control_dismiss(server.control, server.asked, "stored\n", server.now_ns);
	heard = hear(&server, fd, &ended);
	ck_assert(ended);
	ck_assert_str_eq(heard + strlen(heard) - strlen("\nstored\n"), "\nstored\n");
	for (const char *at = heard; *at; at = strchr(at, '\n') + 1)
		ck_assert(!strncmp(at, "stored\n", 7) || !strncmp(at, line, sizeof(line) - 1));
	free(heard);
	server_stop(&server);
}
END_TEST

START_TEST(idle_clients_lose_their_places)
{
	struct server server;
	int idle[CONTROL_CLIENTS];
	_cleanup_close_ int fd = -EBADF;

	server_start(&server);
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		idle[i] = client_connect(&server);
		if (i % 2)
			say(idle[i], "stat");
		serve(&server);
	}
	/* the oldest of them makes way for the next one */
	fd = client_connect(&server);
	say(fd, "status\n");
	expect(&server, fd, server.status, true);
	expect(&server, idle[0], "", true);
	expect(&server, idle[1], "", false);
	server.now_ns += 2 * SECOND - 1;
	control_tick(server.control, server.now_ns);
	expect(&server, idle[1], "", false);
	server.now_ns += 1;
	control_tick(server.control, server.now_ns);
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		expect(&server, idle[i], "", true);
		close(idle[i]);
	}
	server_stop(&server);
}
END_TEST

/* Of one batch of events, the first ends a client, the second gives its place away, and the third is of the client before. */
START_TEST(a_late_event_is_not_that_of_the_next_client)
{
	static const uint32_t late[] = { EPOLLHUP, EPOLLOUT, EPOLLIN, EPOLLIN | EPOLLHUP };
	struct server server;
	struct epoll_event events[4];
	struct event_source *place = NULL;
	_cleanup_close_ int fd = -EBADF;
	int first, count;

	server_start(&server);
	first = client_connect(&server);
	say(first, "capture\n");
	serve(&server);
	close(first);
	count = epoll_wait(server.epoll, events, ARRAY_SIZE(events), 0);
	for (int i = 0; i < count; i++)
		if (((struct event_source *)events[i].data.ptr)->kind == SOURCE_CLIENT)
			place = events[i].data.ptr;
	ck_assert_ptr_nonnull(place);
	control_dismiss(server.control, server.asked, "stored\n", server.now_ns);
	fd = client_connect(&server);
	serve(&server);
	for (size_t i = 0; i < ARRAY_SIZE(late); i++)
		control_event(server.control, place, late[i], server.now_ns);
	say(fd, "status\n");
	expect(&server, fd, server.status, true);
	server_stop(&server);
}
END_TEST

static int client_connect_as(const struct server *server, uid_t uid)
{
	int fd;

	connect_as(uid);
	fd = client_connect(server);
	connect_as(0);
	return fd;
}

#define ALICE 54321
#define BOB 54322

/* Those of a user who holds as many as it can delay nobody: it loses its own. */
START_TEST(idle_clients_of_one_user_delay_no_other)
{
	struct server server;
	int idle[40], status;
	bool ended;

	SKIP_IF(no_root());
	server_start(&server);
	status = client_connect_as(&server, BOB); /* is about to ask */
	serve(&server);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		idle[i] = client_connect_as(&server, ALICE);
		serve(&server);
	}
	say(status, "status\n");
	expect(&server, status, server.status, true);
	close(status);
	for (int i = 0; i < 2; i++) {
		status = i ? client_connect(&server) : client_connect_as(&server, BOB);
		say(status, "status\n");
		expect(&server, status, server.status, true);
		close(status);
	}
	/* it has half of the places */
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		free(hear(&server, idle[i], &ended));
		ck_assert(ended == (i < ARRAY_SIZE(idle) - CONTROL_CLIENTS / 2));
		close(idle[i]);
	}
	server_stop(&server);
}
END_TEST

/* Whoever waits for a capture makes no way. */
START_TEST(a_flood_ends_no_conversation)
{
	struct server server;
	_cleanup_close_ int capture = -EBADF;
	int idle[40];

	SKIP_IF(no_root());
	server_start(&server);
	capture = client_connect_as(&server, ALICE);
	say(capture, "capture\n");
	serve(&server);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		idle[i] = client_connect_as(&server, ALICE);
		serve(&server);
	}
	control_say(server.control, server.asked, "progress\n");
	expect(&server, capture, "progress\n", false);
	ck_assert_uint_eq(server.leaves, 0);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		close(idle[i]);
	server_stop(&server);
}
END_TEST

/* It is dropped with the first byte behind its request: what it sends is not read. */
START_TEST(a_client_that_sends_without_end)
{
	static char text[1 << 16];
	struct server server;
	_cleanup_close_ int fd = -EBADF;
	size_t sent = 0;
	ssize_t now;
	bool ended;

	server_start(&server);
	fd = client_connect(&server);
	say(fd, "capture\n");
	serve(&server);
	ck_assert_uint_eq(server.asks, 1);
	memset(text, 'a', sizeof(text));
	while (sent < 64UL << 20 && (now = send(fd, text, sizeof(text), MSG_NOSIGNAL | MSG_DONTWAIT)) > 0) {
		sent += (size_t)now;
		serve(&server);
	}
	ck_assert_uint_lt(sent, 1UL << 20);
	free(hear(&server, fd, &ended));
	ck_assert(ended);
	ck_assert_uint_eq(server.leaves, 1);
	ck_assert_uint_eq(own_counted(&server.counters, OWN_ASKED_REFUSED), 1);
	server_stop(&server);
}
END_TEST

static unsigned int ask_often(struct server *server, uid_t uid, unsigned int times, const char *line,
			      const char *expected)
{
	unsigned int heard_so = 0;

	for (unsigned int i = 0; i < times; i++) {
		int fd = client_connect_as(server, uid);
		_cleanup_free_ char *heard = NULL;
		bool ended;

		serve(server);
		send(fd, line, strlen(line), MSG_NOSIGNAL); /* it may be closed already */
		heard = hear(server, fd, &ended);
		ck_assert(ended);
		heard_so += !strcmp(heard, expected);
		close(fd);
	}
	return heard_so;
}

START_TEST(a_flood_of_requests_is_charged_to_its_user)
{
	static const char invalid[] = "refused\twhy=this bourdond does not know such a request\n",
			  often[] = "refused\twhy=" CONTROL_TOO_OFTEN "\n";
	struct server server;
	char *log;
	int saved;

	SKIP_IF(no_root());
	server_start(&server);
	saved = log_divert();
	ck_assert_uint_eq(ask_often(&server, ALICE, 64, "nonsense\n", invalid), 64);
	ck_assert_uint_eq(ask_often(&server, ALICE, 100, "nonsense\n", often), 100);
	ck_assert_uint_eq(own_counted(&server.counters, OWN_ASKED_TOO_OFTEN), 100);
	log = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(log, "uid 54321 asks on the control socket too often"));
	ck_assert_ptr_null(strstr(strstr(log, "uid 54321") + 1, "uid 54321"));
	free(log);
	/* others are answered, and so is the user when it has paused */
	ck_assert_uint_eq(ask_often(&server, BOB, 1, "status\n", server.status), 1);
	ck_assert_uint_eq(ask_often(&server, 0, 1000, "status\n", server.status), 1000);
	server.now_ns += SECOND;
	ck_assert_uint_eq(ask_often(&server, ALICE, 17, "status\n", server.status), 16);
	server_stop(&server);
}
END_TEST

/* As many as wait in the kernel's queue besides those that have places. */
START_TEST(more_clients_than_places)
{
	struct server server;
	int fds[CONTROL_CLIENTS + 16];

	server_start(&server);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = client_connect(&server);
		say(fds[i], "status\n");
		if (i < CONTROL_CLIENTS)
			serve(&server);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		expect(&server, fds[i], server.status, true);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	server_stop(&server);
}
END_TEST

START_TEST(who_may_ask)
{
	int pair[2];
	struct peer peer, other = { .uid = getuid() + 1 },
			  member = { .uid = getuid() + 1, .is_member = true }, root = { .uid = 0 },
			  own = { .uid = geteuid() };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	ck_assert_int_eq(peer_of(pair[0], getegid(), &peer), 0);
	ck_assert_uint_eq(peer.uid, getuid());
	ck_assert(peer.is_member);
	ck_assert_int_eq(peer_of(pair[0], 4242424, &peer), 0);
	ck_assert(!peer.is_member);
	ck_assert(peer_may_ask(&member) && peer_may_ask(&root) && peer_may_ask(&own));
	ck_assert(!peer_may_ask(&other));
	close(pair[0]);
	ck_assert_int_eq(peer_of(pair[0], getegid(), &peer), -EBADF);
	close(pair[1]);
}
END_TEST

/* It misses what is more than the socket holds, and goes on once it reads; nothing piles up. */
START_TEST(a_client_that_watches)
{
	struct server server;
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *lines = calloc(1, 1 << 20), *heard = NULL;
	bool has_ended;

	memset(lines, 'y', (1 << 20) - 1);
	server_start(&server);
	fd = client_connect(&server);
	say(fd, "live\n");
	serve(&server);
	ck_assert_uint_eq(server.asks, 1);
	ck_assert(!control_is_behind(server.control, server.asked));
	control_say_much(server.control, server.asked, lines);
	ck_assert(control_is_behind(server.control, server.asked));
	server.now_ns += 100 * SECOND;
	control_tick(server.control, server.now_ns);
	serve(&server);
	heard = hear(&server, fd, &has_ended);
	ck_assert_str_eq(heard, lines);
	ck_assert(!has_ended);
	ck_assert(!control_is_behind(server.control, server.asked));
	ck_assert(!control_is_behind(server.control, 4711)); /* nobody */
	control_dismiss(server.control, server.asked, "", server.now_ns);
	expect(&server, fd, "", true);
	server_stop(&server);
}
END_TEST

SUITE(control)
{
	Suite *suite = suite_create("control");
	TCase *control = tcase_create("control");

	tcase_add_test(control, status_is_answered);
	tcase_add_test(control, a_status_is_longer_than_the_socket_holds);
	tcase_add_loop_test(control, other_lines_are_refused, 0, ARRAY_SIZE(hostile));
	tcase_add_test(control, a_line_without_end_is_refused);
	tcase_add_test(control, a_capture_is_talked_about_to_its_end);
	tcase_add_test(control, a_client_that_vanishes_has_left);
	tcase_add_test(control, a_client_that_does_not_read);
	tcase_add_test(control, a_client_that_watches);
	tcase_add_test(control, a_client_that_reads_late_has_its_result);
	tcase_add_test(control, idle_clients_lose_their_places);
	tcase_add_test(control, a_late_event_is_not_that_of_the_next_client);
	tcase_add_test(control, idle_clients_of_one_user_delay_no_other);
	tcase_add_test(control, a_flood_ends_no_conversation);
	tcase_add_test(control, a_client_that_sends_without_end);
	tcase_add_test(control, a_flood_of_requests_is_charged_to_its_user);
	tcase_add_test(control, more_clients_than_places);
	tcase_add_test(control, who_may_ask);
	suite_add_tcase(suite, control);
	return suite;
}
