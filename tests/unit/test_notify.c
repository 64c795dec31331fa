/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what the daemon tells the service manager, on a socket of either kind, and that a manager that does
 * not read blocks nothing: the daemon sends the newest state later.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/process/notify.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

struct manager {
	int fd;
	char *directory;
	char name[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* as in NOTIFY_SOCKET */
};

/* Listens, and sets NOTIFY_SOCKET, as systemd does. */
static void manager_make(struct manager *manager, bool abstract)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t bytes;

	manager->directory = directory_make();
	snprintf(manager->name, sizeof(manager->name), "%s%.60s/notify", abstract ? "@" : "",
		 manager->directory);
	bytes = strlen(manager->name);
	memcpy(address.sun_path, manager->name, bytes);
	if (abstract)
		address.sun_path[0] = '\0';
	manager->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(manager->fd, 0);
	ck_assert_int_eq(bind(manager->fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes)),
			 0);
	setenv("NOTIFY_SOCKET", manager->name, 1);
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

static void manager_free(struct manager *manager)
{
	close(manager->fd);
	free(manager->directory);
}

static void expect(const struct manager *manager, const char *message)
{
	char got[1024];
	ssize_t bytes = recv(manager->fd, got, sizeof(got) - 1, 0);

	ck_assert_msg(bytes >= 0, "nothing came, and not '%s'", message);
	got[bytes] = '\0';
	ck_assert_str_eq(got, message);
}

static void expect_nothing(const struct manager *manager)
{
	char got[1024];

	ck_assert_int_lt(recv(manager->fd, got, sizeof(got), 0), 0);
	ck_assert_int_eq(errno, EAGAIN);
}

static int lines(const char *text)
{
	int count = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		count++;
	}
	return count;
}

static const struct notify_state state = { .rules = 2, .targets = 30, .watches = 4, .mistake = "" };
#define READY "READY=1\nSTATUS=2 rules, 30 targets, 4 watches\n"

/* The parameter: an abstract address, or a path. */
START_TEST(from_start_to_end)
{
	struct manager manager;
	struct notify notify;

	manager_make(&manager, _i);
	notify_open(&notify);
	ck_assert_int_ge(notify.fd, 0);
	expect_nothing(&manager);
	notify_ready(&notify, &state);
	expect(&manager, READY);
	notify_reloading(&notify, 1234567890);
	expect(&manager, "RELOADING=1\nMONOTONIC_USEC=1234567\n");
	notify_ready(&notify, &state);
	expect(&manager, READY);
	notify_tick(&notify, clock_monotonic_ns());
	expect_nothing(&manager);
	notify_stopping(&notify);
	expect(&manager, "STOPPING=1\n");
	notify_close(&notify);
	notify_stopping(&notify);
	expect_nothing(&manager);
	manager_free(&manager);
}
END_TEST

/* A message quotes text from the configuration, which must not become a message of its own. */
START_TEST(mistakes)
{
	struct notify_state wrong = state;
	struct manager manager;
	struct notify notify;
	char many[2048];
	ssize_t got;

	manager_make(&manager, false);
	notify_open(&notify);
	wrong.mistake = "a.conf:3: unknown key 'x\nMAINPID=1\n'";
	notify_ready(&notify, &wrong);
	expect(&manager, "READY=1\nSTATUS=2 rules, 30 targets, 4 watches; not in force: a.conf:3: "
			 "unknown key 'x\\x0aMAINPID=1\\x0a'\n");
	memset(many, '\n', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	wrong = (struct notify_state){ .rules = 1, .targets = 1, .watches = 1, .mistake = "" };
	notify_ready(&notify, &wrong);
	expect(&manager, "READY=1\nSTATUS=1 rule, 1 target, 1 watch\n");
	wrong.mistake = many;
	notify_ready(&notify, &wrong);
	got = recv(manager.fd, many, sizeof(many) - 1, 0);
	ck_assert_int_gt(got, 0);
	many[got] = '\0';
	ck_assert_int_eq(lines(many), 2);
	notify_close(&notify);
	manager_free(&manager);
}
END_TEST

struct watchdog_case {
	const char *every_us, *pid; /* NULL: not set; "own": this process */
	uint64_t every_ns;
};

static const struct watchdog_case watchdog_cases[] = {
	{ "30000000", "own", 15 * CLOCK_SECOND_NS },
	{ "30000000", NULL, 15 * CLOCK_SECOND_NS },
	{ "30000000", "1", 0 },
	{ "30000000", "", 0 },
	{ "30000000", "-1", 0 },
	{ "0", "own", 0 },
	{ "30s", "own", 0 },
	{ "18446744073709551615", "own", 0 },
	{ NULL, "own", 0 },
};

START_TEST(watchdogs)
{
	const struct watchdog_case *one = &watchdog_cases[_i];
	struct manager manager;
	struct notify notify;
	uint64_t now_ns = clock_monotonic_ns();
	char own[24];

	manager_make(&manager, false);
	snprintf(own, sizeof(own), "%d", getpid());
	if (one->every_us)
		setenv("WATCHDOG_USEC", one->every_us, 1);
	if (one->pid)
		setenv("WATCHDOG_PID", strcmp(one->pid, "own") ? one->pid : own, 1);
	notify_open(&notify);
	ck_assert_uint_eq(notify.watchdog_every_ns, one->every_ns);
	/* as often as required, not as often as possible */
	for (int second = 0; second < 31; second++) {
		notify_tick(&notify, now_ns + (uint64_t)second * CLOCK_SECOND_NS);
		if (one->every_ns && second % 15 == 0)
			expect(&manager, "WATCHDOG=1\n");
		expect_nothing(&manager);
	}
	notify_close(&notify);
	manager_free(&manager);
}
END_TEST

/* A child must not inherit the variables. */
START_TEST(environment)
{
	struct manager manager;
	struct notify notify;

	manager_make(&manager, false);
	setenv("WATCHDOG_USEC", "1000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	notify_open(&notify);
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
	ck_assert_ptr_null(getenv("WATCHDOG_PID"));
	notify_close(&notify);
	manager_free(&manager);
}
END_TEST

/*
 * A busy manager blocks nothing, gets the newest state when there is room, and the watchdog message is not
 * delayed by that.
 */
START_TEST(a_manager_that_does_not_read)
{
	struct manager manager;
	struct notify notify;
	struct notify_state newer = state;
	char got[1024];
	int fills = 0;

	manager_make(&manager, false);
	setenv("WATCHDOG_USEC", "2000000", 1);
	notify_open(&notify);
	while (send(notify.fd, "X", 1, MSG_DONTWAIT) == 1)
		fills++;
	notify_ready(&notify, &state);
	newer.rules = 3;
	notify_ready(&notify, &newer);
	notify_tick(&notify, CLOCK_SECOND_NS);
	while (fills--)
		ck_assert_int_eq(recv(manager.fd, got, sizeof(got), 0), 1);
	expect_nothing(&manager);
	notify_tick(&notify, 2 * CLOCK_SECOND_NS);
	expect(&manager, "READY=1\nSTATUS=3 rules, 30 targets, 4 watches\n");
	expect(&manager, "WATCHDOG=1\n");
	notify_tick(&notify, 2 * CLOCK_SECOND_NS + 1);
	expect_nothing(&manager);
	notify_close(&notify);
	manager_free(&manager);
}
END_TEST

/* longer than an address may be */
#define TEN "0123456789"
#define LONG "/" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const char *const nobody_listens[] = { "",  "/", "@", "relative", "vsock:2:1234", "/nowhere/notify",
					      LONG };

START_TEST(bad_addresses)
{
	struct notify notify;
	size_t descriptors = descriptors_open();
	int saved = log_divert();
	char *log;

	setenv("NOTIFY_SOCKET", nobody_listens[_i], 1);
	setenv("WATCHDOG_USEC", "2000000", 1);
	notify_open(&notify);
	notify_ready(&notify, &state);
	notify_tick(&notify, CLOCK_SECOND_NS);
	notify_close(&notify);
	log = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(log, "connecting to NOTIFY_SOCKET="));
	ck_assert_int_eq(lines(log), 1);
	ck_assert_uint_eq(descriptors_open(), descriptors);
	free(log);
}
END_TEST

/* Started by hand: nothing is sent, nothing is logged. */
START_TEST(no_manager)
{
	struct notify notify;
	int saved = log_divert();
	char *log;

	unsetenv("NOTIFY_SOCKET");
	notify_open(&notify);
	ck_assert_int_lt(notify.fd, 0);
	notify_ready(&notify, &state);
	notify_tick(&notify, CLOCK_SECOND_NS);
	notify_close(&notify);
	log = log_diverted(saved);
	ck_assert_str_eq(log, "");
	free(log);
}
END_TEST

SUITE(notify)
{
	Suite *suite = suite_create("notify");
	TCase *tests = tcase_create("notify");

	tcase_add_loop_test(tests, from_start_to_end, 0, 2);
	tcase_add_test(tests, mistakes);
	tcase_add_loop_test(tests, watchdogs, 0, ARRAY_SIZE(watchdog_cases));
	tcase_add_test(tests, environment);
	tcase_add_test(tests, a_manager_that_does_not_read);
	tcase_add_loop_test(tests, bad_addresses, 0, ARRAY_SIZE(nobody_listens));
	tcase_add_test(tests, no_manager);
	suite_add_tcase(suite, tests);
	return suite;
}
