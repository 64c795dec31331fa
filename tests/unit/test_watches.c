/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, on files that look like those of a cgroup, which watches a reload keeps, that a removed watch no
 * longer uses its rule, which is freed before it, and how many cgroups are watched: the limits, the part of
 * each rule, the half for users, that cgroups without room are counted and watched later; and which stall begins a
 * capture within a cooldown, and what fires where the kernel's trigger does not.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/watch/watch_events.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define SECOND 1000000000UL

static const char pressure[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
			       "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
static const char both[] = "[rule goes]\ncomm=a\ncpu.some=100ms/1s\n[rule stays]\ncomm=a\nio.some=100ms/1s\n";
static const char one[] = "[rule stays]\ncomm=a\nio.some=100ms/1s\n";

static const char pool[] = "[rule pool]\ncomm=*\nio.some=100ms/2s\n";
static const char two[] = "[rule pool]\ncomm=*\nio.some=100ms/2s\n[rule other]\ncomm=a\nio.some=100ms/2s\n";

struct fixture {
	char *directory, *cgroup, *socket;
	int listener, epoll;
	struct closer *closer;
	struct watches watches;
};

static const struct watch_limits wide = {
	.total = 4096, .per_rule = 1024, .descriptors = 900, .privileged = 8
};

static void open_limited(struct fixture *fixture, const struct watch_limits *limits)
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
	ck_assert_int_eq(watches_open(&fixture->watches, fixture->epoll, fixture->directory, fixture->socket,
				      limits, &clock_of_kernel),
			 0);
	watches_start(&fixture->watches, fixture->closer);
}

static void open_fixture(struct fixture *fixture)
{
	open_limited(fixture, &wide);
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
	watches_answer(&fixture->watches, events[0].data.ptr, clock_monotonic_ns());
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
	ck_assert_int_eq(watches_follow(&fixture.watches, &before), 0);
	for (size_t i = 0; i < before.count; i++)
		ck_assert_int_eq(watches_add(&fixture.watches, &before.rules[i], 42, "/g", 1), 0);
	ck_assert_uint_eq(fixture.watches.count, 2);
	ck_assert_uint_eq(fixture.watches.grants.privileged, 2); /* both wait for bourdon-grant */

	ck_assert_int_eq(watches_follow(&fixture.watches, &after), 0);
	ck_assert_uint_eq(fixture.watches.grants.privileged, 1);
	munmap(before.rules, bytes);

	refuse(&fixture); /* the call of the removed watch */
	ck_assert_uint_eq(fixture.watches.grants.refused, 0);
	refuse(&fixture); /* the call of the watch that is left */
	ck_assert_uint_eq(fixture.watches.grants.refused, 1);
	ck_assert_uint_eq(fixture.watches.grants.privileged, 0);
	watches_tick(&fixture.watches, clock_monotonic_ns());
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
	ck_assert_int_eq(watches_follow(&fixture.watches, &rules), 0);
	cool_ns = now_ns + rules.rules[0].capture_ns + rules.rules[0].cooldown_ns;
	for (size_t i = 0; i < rules.count; i++)
		ck_assert_int_eq(watches_add(&fixture.watches, &rules.rules[i], 42, "/g", 1), 0);
	watch_suppress(fixture.watches.watches[0]);
	watch_suppress(fixture.watches.watches[0]);
	ck_assert_uint_eq(fixture.watches.watches[0]->suppressed, 2);
	watch_cool_down(fixture.watches.watches[0], 77777, WATCH_NOT_KNOWN, now_ns);
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
	ck_assert_uint_eq(fixture.watches.grants.privileged, 0);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

/* ---- room ---- */

static void follow_text(struct fixture *fixture, const char *text, struct rule_set *set)
{
	read_rules(text, set);
	ck_assert_int_eq(watches_follow(&fixture->watches, set), 0);
}

/* Adds the cgroups with the ids `from` to `to`, which all have the fixture's directory. */
static void add_cgroups(struct fixture *fixture, const struct rule *rule, uint64_t from, uint64_t to,
			uint32_t walk)
{
	for (uint64_t id = from; id <= to; id++)
		ck_assert_int_eq(watches_add(&fixture->watches, rule, id, "/g", walk), 0);
}

/* The watch_path_of callback. */
static const char *path_of(void *user, uint64_t cgroup_id)
{
	uint64_t *last = user;

	if (last)
		*last = cgroup_id;
	return "/g";
}

static uint32_t count_of(const struct fixture *fixture, const struct rule *rule)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < fixture->watches.count; i++)
		count += fixture->watches.watches[i]->rule == rule && !fixture->watches.watches[i]->gone;
	return count;
}

static unsigned int lines_of(const char *said, const char *words)
{
	unsigned int count = 0;

	for (const char *at = said; (at = strstr(at, words)); at++)
		count++;
	return count;
}

START_TEST(a_rule_has_its_limit_and_refused_cgroups_are_counted_once)
{
	const struct watch_limits limits = {
		.total = 100, .per_rule = 4, .descriptors = 900, .privileged = 8
	};
	uint64_t now_ns = clock_monotonic_ns();
	_cleanup_free_ char *said = NULL;
	struct fixture fixture;
	struct rule_set rules;
	int saved;

	open_limited(&fixture, &limits);
	follow_text(&fixture, pool, &rules);
	add_cgroups(&fixture, rules.rules, 1, 10, 1);
	add_cgroups(&fixture, rules.rules, 1, 10, 2);
	ck_assert_uint_eq(fixture.watches.count, 4);
	ck_assert_uint_eq(watches_unwatched(&fixture.watches, rules.rules), 6);
	ck_assert_uint_eq(fixture.watches.unwatched, 6);
	saved = log_divert();
	for (int i = 0; i < 10; i++) { /* ten ticks within a second */
		watches_tick(&fixture.watches, now_ns + (uint64_t)i * 90000000);
		add_cgroups(&fixture, rules.rules, 11 + (uint64_t)i, 11 + (uint64_t)i, 2);
	}
	said = log_diverted(saved);
	ck_assert_uint_eq(lines_of(said, "not watched"), 1);
	ck_assert_ptr_nonnull(strstr(
		said,
		"6 cgroups are not watched though they have targets, 6 of them for rule pool: the limit [triggers] "
		"watches_per_rule = 4 is reached"));
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

START_TEST(a_rule_does_not_take_what_another_one_is_guaranteed)
{
	const struct watch_limits limits = {
		.total = 10, .per_rule = 10, .descriptors = 900, .privileged = 8
	};
	struct fixture fixture;
	struct rule_set rules;

	open_limited(&fixture, &limits);
	follow_text(&fixture, two, &rules);
	add_cgroups(&fixture, &rules.rules[0], 1, 20, 1);
	ck_assert_uint_eq(count_of(&fixture, &rules.rules[0]), 5);
	ck_assert_uint_eq(watches_unwatched(&fixture.watches, &rules.rules[0]), 15);
	add_cgroups(&fixture, &rules.rules[1], 1, 5, 1);
	ck_assert_uint_eq(count_of(&fixture, &rules.rules[1]), 5);
	ck_assert_uint_eq(watches_unwatched(&fixture.watches, &rules.rules[1]), 0);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

START_TEST(descriptors_limit_all_watches)
{
	const struct watch_limits limits = {
		.total = 100, .per_rule = 100, .descriptors = 3, .privileged = 8
	};
	struct fixture fixture;
	struct rule_set rules;
	char words[160];

	open_limited(&fixture, &limits);
	follow_text(&fixture, pool, &rules);
	add_cgroups(&fixture, rules.rules, 1, 10, 1);
	ck_assert_uint_eq(fixture.watches.count, 3);
	ck_assert_int_eq(watch_room_share(&fixture.watches.space, rules.rules)->obstacle,
			 OBSTACLE_DESCRIPTORS);
	watch_room_explain(&fixture.watches.space, OBSTACLE_DESCRIPTORS, words, sizeof(words));
	ck_assert_str_eq(words, "RLIMIT_NOFILE leaves descriptors for 3 watches");
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

/* Walk 2 finds only the last cgroups: the watches of the others are closed, and theirs are opened. */
START_TEST(refused_cgroups_are_watched_when_room_comes)
{
	const struct watch_limits limits = { .total = 4, .per_rule = 4, .descriptors = 900, .privileged = 8 };
	uint64_t now_ns = clock_monotonic_ns(), last = 0;
	struct fixture fixture;
	struct rule_set rules;

	open_limited(&fixture, &limits);
	follow_text(&fixture, pool, &rules);
	add_cgroups(&fixture, rules.rules, 1, 7, 1);
	ck_assert_uint_eq(watches_unwatched(&fixture.watches, rules.rules), 3);
	fixture.watches.space.has_news = false;
	watches_retry(&fixture.watches, path_of, &last);
	ck_assert_uint_eq(last, 0); /* no work without news */
	watch_cool_down(fixture.watches.watches[0], 77777, WATCH_NOT_KNOWN, now_ns);
	add_cgroups(&fixture, rules.rules, 3, 7, 2);
	watches_prune(&fixture.watches, 2,
		      now_ns); /* the cooldown of a cgroup without targets does not hold its room */
	watches_sweep(&fixture.watches);
	ck_assert_uint_eq(fixture.watches.count, 2);
	watches_retry(&fixture.watches, path_of, &last);
	ck_assert_uint_eq(fixture.watches.count, 4);
	ck_assert_uint_eq(watches_unwatched(&fixture.watches, rules.rules), 1);
	ck_assert_uint_eq(fixture.watches.unwatched, 3); /* nobody is counted twice */
	add_cgroups(&fixture, rules.rules, 3, 5, 3);     /* not the one that is left on the list */
	watches_prune(&fixture.watches, 3, now_ns);
	ck_assert_uint_eq(watches_unwatched(&fixture.watches, rules.rules), 0);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

START_TEST(cgroups_of_users_take_half_of_a_rules_room)
{
	const struct watch_limits limits = {
		.total = 100, .per_rule = 8, .descriptors = 900, .privileged = 8
	};
	_cleanup_free_ char *events = NULL;
	struct fixture fixture;
	struct rule_set rules;

	SKIP_IF(no_root());
	open_limited(&fixture, &limits);
	events = path_join(fixture.cgroup, "cgroup.events");
	file_put(events, "", 0);
	ck_assert_int_eq(chown(events, 65533, 65533), 0);
	follow_text(&fixture, pool, &rules);
	add_cgroups(&fixture, rules.rules, 1, 20, 1);
	ck_assert_uint_eq(fixture.watches.count, 4);
	ck_assert_int_eq(watch_room_share(&fixture.watches.space, rules.rules)->obstacle, OBSTACLE_USERS);
	ck_assert_int_eq(chown(events, 0, 0), 0);
	add_cgroups(&fixture, rules.rules, 21, 30, 1);
	ck_assert_uint_eq(fixture.watches.count, 8);
	ck_assert_uint_eq(watches_unwatched(&fixture.watches, rules.rules), 16 + 6);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

/* With many rules each has little work a second: a dozen cgroups. The rest waits, and is not refused. */
START_TEST(the_work_of_a_second_is_bounded)
{
	_cleanup_free_ char *text = NULL;
	uint64_t now_ns = clock_monotonic_ns();
	struct fixture fixture;
	struct rule_set rules;
	uint32_t before = 0;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (int i = 0; i < 200; i++)
		fprintf(out, "[rule r%d]\ncomm=a\nio.some=100ms/2s\nwatch=%s\n", i, i ? "system" : "cgroup");
	fclose(out);
	open_fixture(&fixture);
	follow_text(&fixture, text, &rules);
	add_cgroups(&fixture, rules.rules, 1, 50, 1);
	add_cgroups(&fixture, rules.rules, 1, 50, 2);
	for (int seconds = 0; fixture.watches.count < 50; seconds++) {
		ck_assert_uint_ge(fixture.watches.count, before + 10);
		ck_assert_uint_le(fixture.watches.count, before + 16);
		ck_assert_uint_eq(watches_unwatched(&fixture.watches, rules.rules), 0);
		ck_assert_int_lt(seconds, 5);
		before = fixture.watches.count;
		watches_tick(&fixture.watches, now_ns);
		watches_retry(&fixture.watches, path_of, NULL);
	}
	ck_assert_uint_eq(fixture.watches.space.unwatched_count, 0);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

/* A cgroup keeps the watches of both triggers, or loses both. */
START_TEST(a_lower_limit_closes_the_newest_watches)
{
	static const char text[] = "[rule pool]\ncomm=*\nio.some=100ms/2s\ncpu.some=100ms/2s\n";
	struct watch_limits limits = wide;
	struct fixture fixture;
	struct rule_set rules, after;

	open_fixture(&fixture);
	follow_text(&fixture, text, &rules);
	add_cgroups(&fixture, rules.rules, 1, 10, 1);
	ck_assert_uint_eq(fixture.watches.count, 20);
	limits.per_rule = 7;
	watches_limit(&fixture.watches, &limits);
	follow_text(&fixture, text, &after);
	watches_sweep(&fixture.watches);
	ck_assert_uint_eq(fixture.watches.count, 6);
	ck_assert_uint_eq(fixture.watches.watches[5]->cgroup_id, 3);
	ck_assert_uint_eq(fixture.watches.space.used, 6);
	close_fixture(&fixture);
	rules_free(&rules);
	rules_free(&after);
}
END_TEST

START_TEST(a_long_path_takes_more_room)
{
	char path[4000];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_uint_eq(watch_room_cost(NULL), 1);
	ck_assert_uint_eq(watch_room_cost("/system.slice/nginx.service"), 1);
	ck_assert_uint_eq(watch_room_cost(path), 8);
}
END_TEST

/* A list of random cgroups that come, are met and go has those of a model. */
START_TEST(the_list_of_unwatched_cgroups_is_exact)
{
	enum { IDS = 300, STEPS = 20000 };
	const struct watch_limits limits = { .total = 1, .per_rule = 1, .descriptors = 1 };
	struct dice dice = dice_new(17);
	bool listed[2][IDS] = { 0 };
	struct watch_room room;
	struct rule_set rules;
	uint32_t count = 0;

	read_rules(two, &rules);
	watch_room_init(&room, &limits);
	ck_assert_int_eq(watch_room_follow(&room, &rules), 0);
	for (int i = 0; i < STEPS; i++) {
		uint64_t id = dice_below(&dice, IDS), rule = dice_below(&dice, 2);
		bool is_listed = watch_room_meet(&room, &rules.rules[rule], id, 1);

		ck_assert_int_eq(is_listed, listed[rule][id]);
		if (!is_listed) {
			watch_room_list(&room, &rules.rules[rule], id, 1, OBSTACLE_RULE);
			listed[rule][id] = true;
			count++;
		} else if (dice_below(&dice, 2)) {
			uint32_t position = (uint32_t)dice_below(&dice, room.unwatched_count);

			listed[room.unwatched[position].rule][room.unwatched[position].cgroup_id] = false;
			watch_room_unlist(&room, position);
			count--;
		}
		ck_assert_uint_eq(room.unwatched_count, count);
		ck_assert_uint_eq(room.refused, count);
		ck_assert_uint_eq(room.shares[0].refused + room.shares[1].refused, count);
	}
	watch_room_prune(&room, 2);
	ck_assert_uint_eq(room.unwatched_count, 0);
	ck_assert_ptr_null(room.unwatched);
	watch_room_free(&room);
	rules_free(&rules);
}
END_TEST

/* An end of each pipe goes to the closer; the other end sees that it was closed. */
START_TEST(the_closer_closes_all_before_it_stops)
{
	enum { PIPES = 100 };
	struct closer *closer;
	int kept[PIPES], ends[2];
	char byte;

	ck_assert_int_eq(closer_start(&closer), 0);
	for (int i = 0; i < PIPES; i++) {
		ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
		kept[i] = ends[0];
		closer_close(closer, ends[1]);
		ck_assert_uint_le(closer_pending(closer), (uint32_t)i + 1);
	}
	closer_stop(closer);
	for (int i = 0; i < PIPES; i++) {
		ck_assert_int_eq((int)read(kept[i], &byte, 1), 0);
		close(kept[i]);
	}
	ck_assert_uint_eq(closer_pending(NULL), 0);
}
END_TEST

/* ---- the cooldown of a watch ---- */

static const struct rule cooled = { .capture_ns = 10 * SECOND, .cooldown_ns = 60 * SECOND };

START_TEST(a_stall_twice_as_long_breaks_the_cooldown_once_the_capture_is_over)
{
	struct watch watch = { .rule = &cooled };

	watch_cool_down(&watch, 100000, WATCH_NOT_KNOWN, 1000 * SECOND);
	ck_assert(watch_is_quiet(&watch, 1069 * SECOND) && !watch_is_quiet(&watch, 1070 * SECOND));
	/* while it is under way, the capture sees the worse stall itself */
	ck_assert(!watch_is_worse(&watch, 2000000, WATCH_NOT_KNOWN, 1009 * SECOND));
	ck_assert(!watch_is_worse(&watch, 199999, WATCH_NOT_KNOWN, 1010 * SECOND));
	ck_assert(watch_is_worse(&watch, 200000, WATCH_NOT_KNOWN, 1010 * SECOND));
}
END_TEST

START_TEST(what_the_capture_has_seen_is_the_measure)
{
	struct watch watch = { .rule = &cooled };

	watch_cool_down(&watch, 100000, WATCH_NOT_KNOWN, 1000 * SECOND);
	watch_note_stall(&watch, 600000, 1004 * SECOND);
	watch_note_stall(&watch, 50000, 1006 * SECOND);
	ck_assert(!watch_is_worse(&watch, 1199999, WATCH_NOT_KNOWN, 1020 * SECOND));
	ck_assert(watch_is_worse(&watch, 1200000, WATCH_NOT_KNOWN, 1020 * SECOND));
	/* what came after it and began no capture is no measure: pressure that grows slowly is not hidden either */
	watch_note_stall(&watch, 1100000, 1030 * SECOND);
	ck_assert(watch_is_worse(&watch, 1200000, WATCH_NOT_KNOWN, 1040 * SECOND));
}
END_TEST

/* Stall of 100 % from a moment before the trigger on: a window fills after a capture of one second has ended. */
START_TEST(a_window_that_fills_is_no_worse_pressure)
{
	static const struct rule brief = { .capture_ns = SECOND, .cooldown_ns = 60 * SECOND };

	for (uint64_t window_s = 2; window_s <= 4; window_s++)
		for (uint64_t before_us = 20000; before_us < 1000000; before_us += 70000) {
			struct watch watch = { .rule = &brief, .window.window_ns = window_s * SECOND };

			watch_cool_down(&watch, before_us, WATCH_NOT_KNOWN, 1000 * SECOND);
			for (uint64_t ms = 1; ms <= 20000; ms += 333) {
				uint64_t stalled_us = before_us + ms * 1000,
					 now_ns = 1000 * SECOND + ms * 1000000;

				if (stalled_us > window_s * 1000000)
					stalled_us = window_s * 1000000;
				watch_note_stall(&watch, stalled_us, now_ns);
				HOLDS(!watch_is_worse(&watch, stalled_us, WATCH_NOT_KNOWN, now_ns));
			}
		}
}
END_TEST

/* A weak stall, then calm, then one of 100 % from the very end of the capture on. */
START_TEST(pressure_that_comes_as_the_capture_ends_is_not_taken_for_seen)
{
	struct watch watch = { .rule = &cooled, .window.window_ns = 2 * SECOND };

	watch_cool_down(&watch, 100000, WATCH_NOT_KNOWN, 1000 * SECOND);
	watch_note_stall(&watch, 0, 1009 * SECOND);
	watch_note_stall(&watch, 500000, 1010 * SECOND + SECOND / 2);
	ck_assert_uint_eq(watch.peak_us, 100000);
	ck_assert(watch_is_worse(&watch, 500000, WATCH_NOT_KNOWN, 1010 * SECOND + SECOND / 2));
	watch_note_stall(&watch, 2000000, 1012 * SECOND);
	ck_assert(watch_is_worse(&watch, 2000000, WATCH_NOT_KNOWN, 1012 * SECOND));
}
END_TEST

START_TEST(a_cooldown_breaks_so_often_and_no_more)
{
	struct watch watch = { .rule = &cooled };
	uint64_t now_ns = 1000 * SECOND, observed_us = 1000;

	watch_cool_down(&watch, observed_us, WATCH_NOT_KNOWN, now_ns);
	for (uint32_t i = 0; i < WATCH_EXTENSIONS_MAX; i++) {
		now_ns += 20 * SECOND;
		observed_us *= WATCH_WORSE_TIMES;
		ck_assert(watch_is_worse(&watch, observed_us, WATCH_NOT_KNOWN, now_ns));
		watch_cool_down(&watch, observed_us, WATCH_NOT_KNOWN, now_ns);
	}
	ck_assert(watch_is_quiet(&watch, now_ns + 69 * SECOND));
	ck_assert(!watch_is_worse(&watch, 1000 * observed_us, WATCH_NOT_KNOWN, now_ns + 20 * SECOND));
	/* a cooldown that has passed counts anew */
	now_ns += 70 * SECOND;
	ck_assert(!watch_is_quiet(&watch, now_ns));
	watch_cool_down(&watch, 1000, WATCH_NOT_KNOWN, now_ns);
	ck_assert(watch_is_worse(&watch, 2000, WATCH_NOT_KNOWN, now_ns + 20 * SECOND));
}
END_TEST

/* What strangers wait in the same cgroup is no measure of what the targets do. */
START_TEST(what_the_targets_waited_breaks_the_cooldown)
{
	static const struct trigger trigger = { .stall_us = 300000, .window_us = 2000000 };
	struct watch watch = { .rule = &cooled, .trigger = &trigger };

	watch_cool_down(&watch, 2000000, 0, 1000 * SECOND);
	watch_note_own(&watch, WATCH_NOT_KNOWN);
	/* below the threshold it is none, however little it was before */
	ck_assert(!watch_is_worse(&watch, 2000000, 299999, 1020 * SECOND));
	ck_assert(watch_is_worse(&watch, 2000000, 300000, 1020 * SECOND));
	watch_note_own(&watch, 400000);
	watch_note_own(&watch, 100000);
	ck_assert(!watch_is_worse(&watch, 2000000, 799999, 1020 * SECOND));
	ck_assert(watch_is_worse(&watch, 2000000, 800000, 1020 * SECOND));
	/* pressure that is worse for others alone is not worse */
	ck_assert(!watch_is_worse(&watch, 8000000, 400000, 1020 * SECOND));
	/* where it is not known, the pressure has to do */
	ck_assert(watch_is_worse(&watch, 4000000, WATCH_NOT_KNOWN, 1020 * SECOND));
	ck_assert(!watch_is_worse(&watch, 2000000, WATCH_NOT_KNOWN, 1020 * SECOND));
}
END_TEST

START_TEST(a_capture_of_strangers_begins_a_short_cooldown)
{
	struct watch watch = { .rule = &cooled };
	uint64_t now_ns = 1000 * SECOND;

	for (uint32_t i = 0; i < 5; i++) {
		uint64_t expected_ns = cooled.cooldown_ns / 8 << (i < 3 ? i : 3);

		watch_cool_down(&watch, 1000000, 0, now_ns);
		now_ns += cooled.capture_ns;
		watch_note_end(&watch, 1000000, 249999, now_ns);
		ck_assert(watch_is_quiet(&watch, now_ns + expected_ns - 1));
		ck_assert(!watch_is_quiet(&watch, now_ns + expected_ns));
		now_ns += expected_ns;
	}
	/* they left the rule alone for as long: it begins anew */
	now_ns += cooled.cooldown_ns;
	watch_cool_down(&watch, 1000000, 0, now_ns);
	watch_note_end(&watch, 1000000, 0, now_ns + cooled.capture_ns);
	ck_assert(!watch_is_quiet(&watch, now_ns + cooled.capture_ns + cooled.cooldown_ns / 8));
	/* a capture in which the targets had their part has a whole cooldown */
	now_ns += 20 * SECOND;
	watch_cool_down(&watch, 1000000, 250000, now_ns);
	watch_note_end(&watch, 1000000, 250000, now_ns + cooled.capture_ns);
	ck_assert(watch_is_quiet(&watch, now_ns + cooled.capture_ns + cooled.cooldown_ns - 1));
}
END_TEST

START_TEST(a_capture_that_makes_way_leaves_a_cooldown_and_no_more)
{
	struct watch watch = { .rule = &cooled };

	watch_cool_down(&watch, 1000000, WATCH_NOT_KNOWN, 1000 * SECOND);
	watch_note_end(&watch, 1000000, WATCH_NOT_KNOWN, 1002 * SECOND);
	ck_assert(!watch_is_captured(&watch, 1002 * SECOND));
	ck_assert(watch_is_quiet(&watch, 1062 * SECOND - 1) && !watch_is_quiet(&watch, 1062 * SECOND));
}
END_TEST

/* What the last firing said, and how many there were. */
struct firings {
	unsigned int count;
	enum trigger_mode by;
};

static void note_firing(void *user, struct watch *watch, uint64_t observed_us)
{
	struct firings *firings = user;

	ck_assert_uint_ge(observed_us, watch->trigger->stall_us);
	firings->count++;
	firings->by = watch->fired_by;
}

/* A second passes, in which the cgroup was stalled for so long. */
static void a_second_of(struct fixture *fixture, uint64_t stalled_us, uint64_t *now_ns,
			struct firings *firings)
{
	_cleanup_free_ char *path = path_join(fixture->cgroup, "io.pressure"), *text = NULL;
	static uint64_t total_us;

	total_us += stalled_us;
	*now_ns += SECOND;
	ck_assert_int_ge(asprintf(&text, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%lu\n", total_us), 0);
	file_put(path, text, strlen(text));
	watches_tick(&fixture->watches, *now_ns);
	watch_events_tick(&fixture->watches, *now_ns, note_firing, firings);
}

/* A rule on io of 100 ms in 2 s, with a trigger of the kernel that the test fires. */
static struct watch *open_with_kernel_trigger(struct fixture *fixture, struct rule_set *rules)
{
	open_fixture(fixture);
	follow_text(fixture, pool, rules);
	add_cgroups(fixture, rules->rules, 1, 1, 1);
	fixture->watches.watches[0]->mode = TRIGGER_KERNEL;
	return fixture->watches.watches[0];
}

START_TEST(a_kernel_trigger_that_does_not_come_is_replaced_by_reads)
{
	uint64_t now_ns = clock_monotonic_ns();
	_cleanup_free_ char *said = NULL;
	struct firings firings = { 0 };
	struct fixture fixture;
	struct rule_set rules;
	struct watch *watch = open_with_kernel_trigger(&fixture, &rules);
	int seconds = 0, saved = log_divert();

	while (!firings.count && seconds++ < 20)
		a_second_of(&fixture, 500000, &now_ns, &firings);
	ck_assert_int_eq(
		seconds,
		10); /* the stall began up to 4 s before the first read that saw it, and lasts for 6 more */
	ck_assert_int_eq(firings.by, TRIGGER_SAMPLED);
	ck_assert_uint_eq(fixture.watches.late, 1);
	/* the event comes after all */
	watch_events_handle(&fixture.watches, watch, EPOLLPRI, now_ns + SECOND / 2, note_firing, &firings);
	ck_assert_uint_eq(firings.count, 1);
	said = log_diverted(saved);
	ck_assert_uint_eq(lines_of(said, "rule pool: the kernel did not report io.some of /g in time"), 1);
	/* from now on the kernel keeps up */
	for (int i = 0; i < 20; i++) {
		a_second_of(&fixture, 500000, &now_ns, &firings);
		if (i % 4 == 3)
			watch_events_handle(&fixture.watches, watch, EPOLLPRI, now_ns + SECOND / 2,
					    note_firing, &firings);
	}
	ck_assert_uint_eq(firings.count, 6);
	ck_assert_int_eq(firings.by, TRIGGER_KERNEL);
	ck_assert_uint_eq(fixture.watches.late, 1);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

/* What the kernel's windows may have missed: a stall that crosses the threshold, and ends. */
START_TEST(a_short_stall_is_the_kernels)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct firings firings = { 0 };
	struct fixture fixture;
	struct rule_set rules;

	open_with_kernel_trigger(&fixture, &rules);
	for (int i = 0; i < 60; i++)
		a_second_of(&fixture, i % 5 < 2 ? 500000 : 0, &now_ns, &firings);
	ck_assert_uint_eq(firings.count, 0);
	ck_assert_uint_eq(fixture.watches.late, 0);
	close_fixture(&fixture);
	rules_free(&rules);
}
END_TEST

SUITE(watches)
{
	Suite *suite = suite_create("watches");
	TCase *tests = tcase_create("watches"), *room = tcase_create("room"),
	      *cooldown = tcase_create("cooldown"), *late = tcase_create("late");

	tcase_add_test(tests, a_reload_within_a_batch);
	tcase_add_test(tests, watches_of_vanished_cgroups_are_removed);
	tcase_add_test(room, a_rule_has_its_limit_and_refused_cgroups_are_counted_once);
	tcase_add_test(room, a_rule_does_not_take_what_another_one_is_guaranteed);
	tcase_add_test(room, descriptors_limit_all_watches);
	tcase_add_test(room, refused_cgroups_are_watched_when_room_comes);
	tcase_add_test(room, cgroups_of_users_take_half_of_a_rules_room);
	tcase_add_test(room, the_work_of_a_second_is_bounded);
	tcase_add_test(room, a_lower_limit_closes_the_newest_watches);
	tcase_add_test(room, a_long_path_takes_more_room);
	tcase_add_test(room, the_list_of_unwatched_cgroups_is_exact);
	tcase_add_test(room, the_closer_closes_all_before_it_stops);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, room);
	tcase_add_test(cooldown, a_stall_twice_as_long_breaks_the_cooldown_once_the_capture_is_over);
	tcase_add_test(cooldown, what_the_capture_has_seen_is_the_measure);
	tcase_add_test(cooldown, a_window_that_fills_is_no_worse_pressure);
	tcase_add_test(cooldown, pressure_that_comes_as_the_capture_ends_is_not_taken_for_seen);
	tcase_add_test(cooldown, a_cooldown_breaks_so_often_and_no_more);
	tcase_add_test(cooldown, what_the_targets_waited_breaks_the_cooldown);
	tcase_add_test(cooldown, a_capture_of_strangers_begins_a_short_cooldown);
	tcase_add_test(cooldown, a_capture_that_makes_way_leaves_a_cooldown_and_no_more);
	suite_add_tcase(suite, cooldown);
	tcase_add_test(late, a_kernel_trigger_that_does_not_come_is_replaced_by_reads);
	tcase_add_test(late, a_short_stall_is_the_kernels);
	suite_add_tcase(suite, late);
	return suite;
}
