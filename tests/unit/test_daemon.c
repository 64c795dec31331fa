/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the daemon's life: its heartbeat, signals, reloads, and what makes it end; at times that the test lets pass.
 */
#include "common/base/cleanup.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define MS (SECOND / 1000)
#define WEB "[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 4s\ncapture = 3s\ncooldown = 60s\n"
#define SHOP "[rule shop]\ncomm = shop\ncpu.some = 200ms/2s\n"

static void start(struct simulation *simulation)
{
	simulation_make(simulation, WEB, NULL, 1024);
	simulation_make_cgroup(simulation, "/web");
	simulation_start(simulation);
}

static uint64_t heartbeat_age(const struct simulation *simulation)
{
	return simulation->now_ns - simulation->kernel.objects.control->heartbeat_ns;
}

/* ---- the heart ---- */

START_TEST(the_heart_beats_each_second)
{
	struct simulation simulation;

	start(&simulation);
	ck_assert_uint_eq(heartbeat_age(&simulation), 0);
	simulation_run(&simulation, 999 * MS);
	ck_assert_uint_eq(heartbeat_age(&simulation), 999 * MS);
	simulation_run(&simulation, MS);
	ck_assert_uint_eq(heartbeat_age(&simulation), 0);
	for (int i = 0; i < 100; i++) {
		simulation_run(&simulation, 370 * MS);
		ck_assert_uint_lt(heartbeat_age(&simulation), SECOND);
	}
	ck_assert_int_eq(simulation_stop(&simulation), EXIT_DONE);
	/* the next daemon must not inherit it */
	ck_assert_uint_eq(simulation.kernel.objects.control->heartbeat_ns, 0);
	simulation_free(&simulation);
}
END_TEST

/* A daemon that was held up does what is due once, and keeps to the second. */
START_TEST(seconds_that_were_missed_are_not_made_up_for)
{
	struct simulation simulation;

	start(&simulation);
	simulation.daemon_stands = true;
	simulation_run(&simulation, 7300 * MS);
	simulation.daemon_stands = false;
	simulation_settle(&simulation);
	ck_assert_uint_eq(heartbeat_age(&simulation), 0);
	ck_assert_uint_eq(daemon_due_ns(simulation.daemon), SIMULATION_BEGAN + 8 * SECOND);
	simulation_free(&simulation);
}
END_TEST

START_TEST(the_status_is_answered)
{
	struct simulation simulation;
	const char *status;
	int client;

	start(&simulation);
	simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, 90 * SECOND);
	client = simulation_connect(&simulation, "status\n");
	simulation_settle(&simulation);
	status = simulation_answer(client);
	ck_assert_ptr_nonnull(strstr(status, "\tuptime_ns=90000000000\t"));
	ck_assert_ptr_nonnull(strstr(status, "\ttargets=1\trules=1\twatches=1\t"));
	ck_assert_ptr_nonnull(strstr(status, "\nrule\tid=1\tname=web\t"));
	ck_assert_ptr_nonnull(strstr(status, "\tstate=armed\tcgroup=/web\tfired=0\tsuppressed=0\t"));
	close(client);
	simulation_free(&simulation);
}
END_TEST

/* ---- signals, and what ends it ---- */

START_TEST(a_signal_ends_it)
{
	struct simulation simulation;

	start(&simulation);
	ck_assert_int_eq(raise(_i ? SIGINT : SIGTERM), 0);
	simulation_settle(&simulation);
	ck_assert(daemon_has_ended(simulation.daemon));
	expect_logged(&simulation, _i ? "ending: signal 2\n" : "ending: signal 15\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(pins_that_are_removed_end_it)
{
	_cleanup_free_ char *pins = NULL;
	struct simulation simulation;

	simulation_make(&simulation, WEB, NULL, 1024);
	pins = path_join(simulation.state_dir, "pins");
	ck_assert_int_eq(mkdir(pins, 0755), 0);
	simulation.where.pin_dir = pins;
	simulation_start(&simulation);
	simulation_run(&simulation, 10 * SECOND);
	ck_assert(!daemon_has_ended(simulation.daemon));
	ck_assert_int_eq(rmdir(pins), 0);
	simulation_settle(&simulation);
	ck_assert(daemon_has_ended(simulation.daemon));
	expect_logged(&simulation, "ending: the pins were replaced or removed by bourdon-load");
	simulation_free(&simulation);
}
END_TEST

static void kill_spawner(struct simulation *simulation)
{
	close(simulation->spawner[1]);
	simulation->spawner[1] = -EBADF;
	simulation_settle(simulation);
	expect_logged(simulation,
		      "the spawner died: captures have no function names until bourdond is restarted\n");
}

/* It waits for 30 s without a capture: the pressure that killed the spawner may be what is to be captured. */
START_TEST(without_a_spawner_it_ends_when_it_is_calm)
{
	struct simulation simulation;

	start(&simulation);
	simulation_put_on(&simulation, simulation_begin(&simulation, 101, "nginx", "/web"), 0);
	simulation_run(&simulation, 10 * SECOND);
	kill_spawner(&simulation);
	simulation_run(&simulation, 20 * SECOND);
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 5 * SECOND); /* a capture, from 31 s to 34 s */
	simulation_run(&simulation, 28 * SECOND);
	ck_assert(!daemon_has_ended(simulation.daemon));
	simulation_run(&simulation, 2 * SECOND);
	ck_assert(daemon_has_ended(simulation.daemon));
	expect_logged(&simulation,
		      "ending: the spawner died, and without it captures have no function names");
	ck_assert_int_eq(simulation_stop(&simulation), EXIT_FAILED);
	expect_rows(&simulation.database, "SELECT state, (SELECT sum(samples) FROM sample) FROM capture",
		    "complete|329\n");
	simulation_free(&simulation);
}
END_TEST

/* With one capture after the other, after ten minutes. */
START_TEST(without_a_spawner_it_ends_at_last)
{
	struct simulation simulation;

	simulation_make(
		&simulation,
		"[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 1s\ncapture = 9s\ncooldown = 0s\n",
		NULL, 1024);
	simulation_make_cgroup(&simulation, "/web");
	simulation_start(&simulation);
	simulation_begin(&simulation, 101, "nginx", "/web");
	kill_spawner(&simulation);
	for (int i = 0; i < 59; i++) {
		simulation_press(&simulation, "/web", PSI_CPU, 300000);
		simulation_run(&simulation, 10 * SECOND);
		ck_assert(!daemon_has_ended(simulation.daemon));
	}
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 10 * SECOND);
	ck_assert(daemon_has_ended(simulation.daemon));
	ck_assert_int_eq(simulation_stop(&simulation), EXIT_FAILED);
	simulation_free(&simulation);
}
END_TEST

/* ---- reloads ---- */

START_TEST(a_changed_file_is_read_when_it_has_settled)
{
	struct simulation simulation;

	start(&simulation);
	simulation_run(&simulation, 10 * SECOND);
	simulation_write_rules(&simulation, WEB SHOP);
	simulation_run(&simulation, 2 * SECOND);
	expect_logged(&simulation, "reloaded: 2 rules, 0 targets, 0 watches\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_RELOADS), 1);
	/* the same text once more */
	simulation_write_rules(&simulation, WEB SHOP);
	simulation_run(&simulation, 2 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_RELOADS), 1);
	/* rules that did not change keep their ids, and no id is used again */
	simulation_write_rules(&simulation, SHOP "[rule new]\ncomm = new\ncpu.some = 10%\n");
	simulation_run(&simulation, 2 * SECOND);
	expect_rows(&simulation.database, "SELECT group_concat(rule_id || rule) FROM rule",
		    "1web,2shop,3new\n");
	simulation_free(&simulation);
}
END_TEST

/* Files that change all the time are read, too. */
START_TEST(files_that_never_settle_are_read)
{
	struct simulation simulation;

	start(&simulation);
	simulation_run(&simulation, 900 * MS);
	for (int i = 0; i < 80; i++) {
		simulation_write_rules(&simulation, WEB SHOP);
		simulation_run(&simulation, 100 * MS);
	}
	expect_logged(&simulation, "reloaded: 2 rules");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_mistake_changes_nothing_and_mending_it_is_enough)
{
	struct simulation simulation;
	int client;

	start(&simulation);
	simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_write_rules(&simulation, "[rule web]\ncomm = nginx\ncpu.some = 900%\n");
	simulation_run(&simulation, 2 * SECOND);
	expect_logged(&simulation, "rules.d/test.conf:3: cpu.some = 900%");
	expect_logged(&simulation, "reload refused; keeping the previous configuration\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_RELOADS_REFUSED), 1);
	client = simulation_connect(&simulation, "status\n");
	simulation_settle(&simulation);
	ck_assert_ptr_nonnull(strstr(simulation_answer(client), "test.conf:3: cpu.some = 900%"));
	close(client);
	/* the rule in force works */
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 5 * SECOND);
	expect_count(&simulation.database, "capture WHERE state = 'complete'", 1);
	simulation_write_rules(&simulation, SHOP);
	simulation_run(&simulation, 2 * SECOND);
	expect_logged(&simulation, "reloaded: 1 rule,");
	simulation_free(&simulation);
}
END_TEST

START_TEST(sighup_reads_and_within_a_reload_reads_once_more)
{
	struct simulation simulation;

	start(&simulation);
	ck_assert_int_eq(raise(SIGHUP), 0);
	simulation_settle(&simulation);
	expect_logged(&simulation, "the configuration has not changed\n");
	/* the database is locked, so that a new rule cannot be numbered */
	simulation.worker_stands = true;
	simulation_write_rules(&simulation, WEB SHOP);
	simulation_run(&simulation, 3 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_RELOADS), 0);
	simulation_write_rules(&simulation, SHOP);
	ck_assert_int_eq(raise(SIGHUP), 0);
	simulation_settle(&simulation);
	simulation.worker_stands = false;
	simulation_run(&simulation, 2 * SECOND);
	expect_logged(&simulation, "reloaded: 1 rule,");
	simulation_free(&simulation);
}
END_TEST

/* The programs' patterns are those of the rules in force, all at once. */
START_TEST(a_reload_publishes_the_patterns)
{
	struct simulation simulation;
	const struct control *control;
	uint32_t before;

	start(&simulation);
	control = simulation.kernel.objects.control;
	before = control->live_patterns;
	ck_assert_uint_eq(fake_kernel_count(&simulation.kernel, before ? PIN_PATTERNS_B : PIN_PATTERNS_A), 1);
	for (int i = 0; i < 100; i++) {
		simulation_write_rules(&simulation, i % 2 ? WEB : WEB SHOP);
		ck_assert_int_eq(raise(SIGHUP), 0);
		simulation_settle(&simulation);
		ck_assert_uint_eq(control->live_patterns, !before);
		before = control->live_patterns;
		ck_assert_uint_eq(
			fake_kernel_count(&simulation.kernel, before ? PIN_PATTERNS_B : PIN_PATTERNS_A),
			i % 2 ? 1 : 2);
	}
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_RELOADS), 100);
	expect_rows(&simulation.database, "SELECT count(*) = count(DISTINCT rule_id) FROM rule", "1\n");
	simulation_free(&simulation);
}
END_TEST

SUITE(daemon)
{
	Suite *suite = suite_create("daemon");
	TCase *heart = simulation_case("heart"), *ends = simulation_case("ends"),
	      *reloads = simulation_case("reloads");

	tcase_add_test(heart, the_heart_beats_each_second);
	tcase_add_test(heart, seconds_that_were_missed_are_not_made_up_for);
	tcase_add_test(heart, the_status_is_answered);
	suite_add_tcase(suite, heart);
	tcase_add_loop_test(ends, a_signal_ends_it, 0, 2);
	tcase_add_test(ends, pins_that_are_removed_end_it);
	tcase_add_test(ends, without_a_spawner_it_ends_when_it_is_calm);
	tcase_add_test(ends, without_a_spawner_it_ends_at_last);
	suite_add_tcase(suite, ends);
	tcase_add_test(reloads, a_changed_file_is_read_when_it_has_settled);
	tcase_add_test(reloads, files_that_never_settle_are_read);
	tcase_add_test(reloads, a_mistake_changes_nothing_and_mending_it_is_enough);
	tcase_add_test(reloads, sighup_reads_and_within_a_reload_reads_once_more);
	tcase_add_test(reloads, a_reload_publishes_the_patterns);
	suite_add_tcase(suite, reloads);
	return suite;
}
