/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, on files that look like those of a cgroup, which watches a reload keeps, and that a removed watch no
 * longer uses its rule, which is freed before it.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "consumer/watch/watches.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static const char pressure[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
			       "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
static const char both[] = "[rule goes]\ncomm=a\ncpu.some=100ms/1s\n[rule stays]\ncomm=a\nio.some=100ms/1s\n";
static const char one[] = "[rule stays]\ncomm=a\nio.some=100ms/1s\n";

struct fixture {
	char *directory, *cgroup, *socket;
	int listener, epoll;
	struct closer *closer;
	struct watches watches;
};

static void open_fixture(struct fixture *fixture)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*fixture = (struct fixture){ .directory = directory_make(), .epoll = epoll_create1(EPOLL_CLOEXEC) };
	fixture->cgroup = path_join(fixture->directory, "g");
	fixture->socket = path_join(fixture->directory, "s");
	ck_assert_int_eq(mkdir(fixture->cgroup, 0700), 0);
	for (int i = 0; i < PSI_RESOURCES; i++) {
		_cleanup_free_ char *path = NULL;

		ck_assert_int_ge(asprintf(&path, "%s/%s.pressure", fixture->cgroup, psi_resource_names[i]),
				 0);
		file_put(path, pressure, strlen(pressure));
	}
	fixture->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(address.sun_path, fixture->socket);
	ck_assert_int_eq(bind(fixture->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fixture->listener, 16), 0);
	ck_assert_int_eq(closer_start(&fixture->closer), 0);
	ck_assert_int_eq(
		watches_open(&fixture->watches, fixture->epoll, fixture->directory, fixture->socket, 8), 0);
	watches_start(&fixture->watches, fixture->closer);
}

static void close_fixture(struct fixture *fixture)
{
	watches_close(&fixture->watches);
	closer_stop(fixture->closer);
	close(fixture->listener);
	close(fixture->epoll);
	directory_remove(fixture->directory);
	free(fixture->directory);
	free(fixture->cgroup);
	free(fixture->socket);
}

static void read_rules(const char *text, struct rule_set *set)
{
	struct config_errors errors = { 0 };

	ck_assert_int_eq(rules_read_text("x.conf", text, strlen(text), set, &errors), 0);
}

/* Moves the rules to pages that can be unmapped, so that any later access to them crashes. */
static size_t move_to_pages(struct rule_set *set)
{
	size_t bytes = set->count * sizeof(*set->rules);
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	memcpy(pages, set->rules, bytes);
	free(set->rules);
	set->rules = pages;
	return bytes;
}

/* Refuses the oldest waiting call, and handles the events. */
static void refuse(struct fixture *fixture)
{
	static const char refused[] = GRANT_REFUSED "no\n";
	struct epoll_event events[16];
	char text[GRANT_REQUEST_BYTES_MAX];
	int served = accept(fixture->listener, NULL, NULL), count;

	ck_assert_int_gt((int)read(served, text, sizeof(text)), 0);
	ck_assert_int_eq((int)write(served, refused, strlen(refused)), (int)strlen(refused));
	close(served);
	count = epoll_wait(fixture->epoll, events, ARRAY_SIZE(events), 5000);
	ck_assert_int_eq(count, 1);
	watches_answer(&fixture->watches, events[0].data.ptr);
}

START_TEST(a_reload_within_a_batch)
{
	struct rule_set before, after;
	struct fixture fixture;
	size_t bytes;

	open_fixture(&fixture);
	read_rules(both, &before);
	read_rules(one, &after);
	bytes = move_to_pages(&before);
	for (size_t i = 0; i < before.count; i++)
		ck_assert_int_eq(watches_add(&fixture.watches, &before.rules[i], 42, "/g", 1), 0);
	ck_assert_uint_eq(fixture.watches.count, 2);
	ck_assert_uint_eq(fixture.watches.privileged, 2); /* both wait for bourdon-grant */

	ck_assert_int_eq(watches_follow(&fixture.watches, &after), 0);
	ck_assert_uint_eq(fixture.watches.privileged, 1);
	munmap(before.rules, bytes);

	refuse(&fixture); /* the call of the removed watch */
	ck_assert_uint_eq(fixture.watches.refused, 0);
	refuse(&fixture); /* the call of the watch that is left */
	ck_assert_uint_eq(fixture.watches.refused, 1);
	ck_assert_uint_eq(fixture.watches.privileged, 0);
	watches_tick(&fixture.watches, clock_monotonic_ns(), NULL, NULL);
	watches_sweep(&fixture.watches);
	ck_assert_uint_eq(fixture.watches.count, 1);
	ck_assert_ptr_eq(fixture.watches.watches[0]->rule, &after.rules[0]);
	ck_assert_ptr_eq(fixture.watches.watches[0]->trigger, &after.rules[0].triggers[0]);
	close_fixture(&fixture);
	rules_free(&after);
}
END_TEST

/* A cooldown keeps a watch whose cgroup the last walk did not meet, but only if the pressure file is open. */
START_TEST(watches_of_vanished_cgroups_are_removed)
{
	struct fixture fixture;
	struct rule_set rules;
	uint64_t now_ns = clock_monotonic_ns(), cool_ns;

	open_fixture(&fixture);
	read_rules(both, &rules);
	cool_ns = now_ns + rules.rules[0].capture_ns + rules.rules[0].cooldown_ns;
	for (size_t i = 0; i < rules.count; i++)
		ck_assert_int_eq(watches_add(&fixture.watches, &rules.rules[i], 42, "/g", 1), 0);
	watch_suppress(fixture.watches.watches[0]);
	watch_suppress(fixture.watches.watches[0]);
	ck_assert_uint_eq(fixture.watches.watches[0]->suppressed, 2);
	watch_cool_down(fixture.watches.watches[0], now_ns);
	ck_assert_uint_eq(fixture.watches.watches[0]->suppressed, 0);
	ck_assert_uint_eq(fixture.watches.watches[0]->suppressed_all, 2);
	ck_assert(watch_is_quiet(fixture.watches.watches[0], cool_ns - 1));
	ck_assert(!watch_is_quiet(fixture.watches.watches[0], cool_ns));
	watches_prune(&fixture.watches, 1, now_ns);
	watches_sweep(&fixture.watches);
	ck_assert_uint_eq(fixture.watches.count, 2);
	watches_prune(&fixture.watches, 2, now_ns);
	watches_sweep(&fixture.watches);
	ck_assert_uint_eq(fixture.watches.count, 1);
	ck_assert_str_eq(fixture.watches.watches[0]->rule->name, "goes");
	watches_prune(&fixture.watches, 2, cool_ns);
	watches_sweep(&fixture.watches);
	ck_assert_uint_eq(fixture.watches.count, 0);
	ck_assert_uint_eq(fixture.watches.privileged, 0);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

Suite *watches_suite(void)
{
	Suite *suite = suite_create("watches");
	TCase *tests = tcase_create("watches");

	tcase_add_test(tests, a_reload_within_a_batch);
	tcase_add_test(tests, watches_of_vanished_cgroups_are_removed);
	suite_add_tcase(suite, tests);
	return suite;
}
