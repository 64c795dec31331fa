/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how the daemon follows processes: by the events of the programs, by walks where events are lost, and which watches
 * there are because of it; at times that the test lets pass.
 */
#include "common/base/cleanup.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <string.h>

#define MS (SECOND / 1000)
#define WEB "[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 4s\ncapture = 3s\ncooldown = 60s\n"

static void start(struct simulation *simulation, const char *rules)
{
	simulation_make(simulation, rules, NULL, 1024);
	simulation_make_cgroup(simulation, "/web");
	simulation_start(simulation);
}

/* The numbers of targets and watches that the daemon says it has. */
static void expect_tracked(struct simulation *simulation, unsigned int targets, unsigned int watches)
{
	int client = simulation_connect(simulation, "status\n");
	_cleanup_free_ char *expected = NULL;
	const char *status;

	simulation_settle(simulation);
	status = simulation_answer(client);
	ck_assert_int_ge(asprintf(&expected, "\ttargets=%u\trules=", targets), 0);
	ck_assert_msg(strstr(status, expected) != NULL, "no %s in\n%.400s", expected, status);
	free(expected);
	ck_assert_int_ge(asprintf(&expected, "\twatches=%u\twatches_max=", watches), 0);
	ck_assert_msg(strstr(status, expected) != NULL, "no %s in\n%.400s", expected, status);
	close(client);
	simulation_settle(simulation);
}

static bool watch_has_state(struct simulation *simulation, const char *rule, const char *state)
{
	int client = simulation_connect(simulation, "status\n");
	_cleanup_free_ char *begin = NULL, *part = NULL;
	const char *line, *end;

	simulation_settle(simulation);
	ck_assert_int_ge(asprintf(&begin, "\nwatch\trule=%s\t", rule), 0);
	line = strstr(simulation_answer(client), begin);
	close(client);
	simulation_settle(simulation);
	if (!line)
		return false;
	end = strchr(line + 1, '\n');
	ck_assert_int_ge(asprintf(&part, "\tstate=%s\t", state), 0);
	line = strstr(line, part);
	return line && line < end;
}

/* ---- events ---- */

START_TEST(events_make_and_end_targets_at_once)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	start(&simulation, WEB);
	expect_tracked(&simulation, 0, 0);
	nginx = simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_begin(&simulation, 102, "cat", "/web");
	expect_tracked(&simulation, 1, 1);
	simulation_rename(&simulation, nginx, "worker"); /* no rule's any more */
	expect_tracked(&simulation, 0, 1);
	simulation_rename(&simulation, nginx, "nginx");
	expect_tracked(&simulation, 1, 1);
	simulation_end(&simulation, nginx);
	expect_tracked(&simulation, 0, 1);
	simulation_free(&simulation);
}
END_TEST

START_TEST(processes_that_run_before_the_daemon_are_found)
{
	struct simulation simulation;

	simulation_make(&simulation, WEB, NULL, 1024);
	simulation_make_cgroup(&simulation, "/web");
	simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_begin(&simulation, 102, "cat", "/web");
	simulation_start(&simulation);
	expect_tracked(&simulation, 1, 1);
	expect_logged(&simulation, "ready: 1 rule, 1 target, 1 watch\n");
	simulation_free(&simulation);
}
END_TEST

/* The ring of events was full. A walk over all processes, each 30 s, makes up for it. */
START_TEST(a_walk_finds_what_events_lost)
{
	struct simulation simulation;
	struct simulated_process *ends;

	start(&simulation, WEB);
	ends = simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, 5 * SECOND);
	expect_tracked(&simulation, 1, 1);
	simulation.events_are_lost = true;
	simulation_end(&simulation, ends);
	simulation_begin(&simulation, 102, "nginx", "/web");
	simulation_begin(&simulation, 103, "nginx", "/web");
	simulation_run(&simulation, 24 * SECOND);
	expect_tracked(&simulation, 1, 1);
	simulation_run(&simulation, SECOND);
	expect_tracked(&simulation, 2, 1);
	simulation_free(&simulation);
}
END_TEST

START_TEST(kernel_threads_and_denied_processes_are_no_targets)
{
	struct simulation simulation;
	struct simulated_process *process;

	simulation_make(&simulation, "[rule all]\ncomm = *\ncpu.some = 200ms/2s\n", NULL, 1024);
	simulation_make_cgroup(&simulation, "/web");
	process = simulation_begin(&simulation, 101, "kworker", "/web");
	process->is_kernel = true;
	process = simulation_begin(&simulation, 102, "secret", "/web");
	process->is_denied = true;
	simulation_begin(&simulation, 103, "nginx", "/web");
	simulation_start(&simulation);
	expect_tracked(&simulation, 1, 1);
	simulation_free(&simulation);
}
END_TEST

/* The programs matched the process in a trie that was replaced since. */
START_TEST(stale_events_are_dropped_and_counted)
{
	struct simulation simulation;
	struct process_event event = { .header = { RECORD_PROCESS, sizeof(event) },
				       .kind = PROCESS_MATCHED,
				       .tgid = 101,
				       .pattern_id = 1,
				       .started_ns = 5,
				       .comm = "nginx" };

	start(&simulation, WEB);
	simulation_write_rules(&simulation, "[rule shop]\ncomm = shop\ncpu.some = 200ms/2s\n");
	simulation_run(&simulation, 2 * SECOND);
	expect_logged(&simulation, "reloaded: 1 rule, 0 targets, 0 watches\n");
	fake_kernel_tell(&simulation.kernel, PIN_EVENTS, &event, sizeof(event), NULL);
	/* that name is a rule's, but another one's than the event says */
	strcpy(event.comm, "shop");
	event.tgid = 102;
	fake_kernel_tell(&simulation.kernel, PIN_EVENTS, &event, sizeof(event), NULL);
	simulation_settle(&simulation);
	expect_tracked(&simulation, 0, 0);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_STALE_EVENTS), 2);
	simulation_free(&simulation);
}
END_TEST

START_TEST(stale_events_within_a_capture_are_in_its_ledger)
{
	struct simulation simulation;
	struct process_event event = { .header = { RECORD_PROCESS, sizeof(event) },
				       .kind = PROCESS_MATCHED,
				       .tgid = 109,
				       .pattern_id = 77,
				       .started_ns = 5,
				       .comm = "nginx" };

	start(&simulation, WEB);
	simulation_put_on(&simulation, simulation_begin(&simulation, 101, "nginx", "/web"), 0);
	fake_kernel_tell(&simulation.kernel, PIN_EVENTS, &event, sizeof(event), NULL);
	simulation_run(&simulation, 10 * SECOND);
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 2 * SECOND);
	fake_kernel_tell(&simulation.kernel, PIN_EVENTS, &event, sizeof(event), NULL);
	fake_kernel_tell(&simulation.kernel, PIN_EVENTS, &event, sizeof(event), NULL);
	simulation_run(&simulation, 10 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_STALE_EVENTS), 3);
	expect_rows(&simulation.database, "SELECT events FROM loss WHERE reason = 'stale-events'", "2\n");
	simulation_free(&simulation);
}
END_TEST

/* The daemon reads a bounded number of records, and looks after its heart in between. */
START_TEST(a_flood_of_events_does_not_stop_the_heart)
{
	struct simulation simulation;
	struct process_event event = { .header = { RECORD_PROCESS, sizeof(event) },
				       .kind = PROCESS_EXITED,
				       .tgid = 101,
				       .started_ns = 5 };

	start(&simulation, WEB);
	simulation_run(&simulation, 500 * MS);
	for (int i = 0; i < 5000; i++)
		fake_kernel_tell(&simulation.kernel, PIN_EVENTS, &event, sizeof(event), NULL);
	simulation.now_ns += 500 * MS;
	ck_assert(daemon_turn(simulation.daemon, 0));
	ck_assert_uint_eq(simulation.kernel.objects.control->heartbeat_ns, simulation.now_ns);
	ck_assert(daemon_turn(simulation.daemon, 0)); /* the rest of the records */
	simulation_settle(&simulation);
	simulation_begin(&simulation, 102, "nginx", "/web");
	expect_tracked(&simulation, 1, 1);
	simulation_free(&simulation);
}
END_TEST

START_TEST(records_that_are_none_are_counted)
{
	struct simulation simulation;
	const struct record_header unknown = { 99, sizeof(unknown) };

	start(&simulation, WEB);
	fake_kernel_tell(&simulation.kernel, PIN_EVENTS, &unknown, sizeof(unknown), NULL);
	fake_kernel_tell(&simulation.kernel, PIN_ERRORS, &unknown, sizeof(unknown), NULL);
	fake_kernel_tell(&simulation.kernel, PIN_CGROUP_PATHS, &unknown, sizeof(unknown), NULL);
	simulation_run(&simulation, SECOND);
	simulation_run(&simulation, SECOND); /* each second copies the counts of others */
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_UNKNOWN_RECORDS), 3);
	simulation_free(&simulation);
}
END_TEST

START_TEST(errors_of_the_programs_are_said_and_counted)
{
	struct simulation simulation;
	struct error_event error = { .header = { RECORD_ERROR, sizeof(error) },
				     .code = ERROR_TARGETS_FULL,
				     .tgid = 101,
				     .error = -7,
				     .comm = "nginx" };

	start(&simulation, WEB);
	for (int i = 0; i < 20; i++)
		fake_kernel_tell(&simulation.kernel, PIN_ERRORS, &error, sizeof(error), NULL);
	error.code = ERROR_USER_STACK;
	fake_kernel_tell(&simulation.kernel, PIN_ERRORS, &error, sizeof(error), NULL);
	simulation_settle(&simulation);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_ERROR_RECORDS), 21);
	expect_logged(
		&simulation,
		"process 101 (nginx) cannot become a target: Argument list too long; raise bourdon-load --targets, or narrow the rules");
	/* many errors of one code do not hide another */
	expect_logged(&simulation, "samples of process 101 (nginx) have no user stack: ");
	simulation_free(&simulation);
}
END_TEST

/* ---- watches ---- */

/* Two walks, 30 s apart, must find no target there. */
START_TEST(a_watch_ends_some_time_after_its_last_target)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	start(&simulation, WEB);
	nginx = simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, 31 * SECOND);
	simulation_end(&simulation, nginx);
	simulation_run(&simulation, 58 * SECOND);
	expect_tracked(&simulation, 0, 1);
	simulation_run(&simulation, 2 * SECOND);
	expect_tracked(&simulation, 0, 1); /* the second walk */
	simulation_run(&simulation, 30 * SECOND);
	expect_tracked(&simulation, 0, 0);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_watch_stays_while_it_has_a_target)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, 600 * SECOND);
	expect_tracked(&simulation, 1, 1);
	simulation_free(&simulation);
}
END_TEST

/* If its targets come back, a new watch would not know of the cooldown. */
START_TEST(a_cooldown_goes_on_when_targets_end_and_others_begin)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	start(&simulation,
	      "[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 1s\ncapture = 3s\ncooldown = 1h\n");
	nginx = simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, 10 * SECOND);
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 10 * SECOND);
	simulation_end(&simulation, nginx);
	simulation_run(&simulation, 300 * SECOND);
	ck_assert(watch_has_state(&simulation, "web", "cooldown"));
	simulation_begin(&simulation, 102, "nginx", "/web");
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 10 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	expect_count(&simulation.database, "capture", 1);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_removed_cgroup_ends_its_watch_and_a_new_one_is_watched)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	start(&simulation, WEB);
	nginx = simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, SECOND);
	expect_tracked(&simulation, 1, 1);
	simulation_end(&simulation, nginx);
	simulation_remove_cgroup(&simulation, "/web");
	simulation_run(&simulation, 2 * SECOND);
	expect_tracked(&simulation, 0, 0);
	simulation_make_cgroup(&simulation, "/web");
	simulation_begin(&simulation, 102, "nginx", "/web");
	simulation_run(&simulation, SECOND);
	expect_tracked(&simulation, 1, 1);
	simulation_free(&simulation);
}
END_TEST

/* A slice is watched as a whole, for processes in services below it. */
START_TEST(a_rule_may_watch_the_slice)
{
	struct simulation simulation;

	simulation_make(&simulation,
			"[rule web]\ncomm = nginx\ncpu.some = 10%\nwatch = slice\ncapture = 1s\n", NULL,
			1024);
	simulation_make_cgroup(&simulation, "/front.slice");
	simulation_make_cgroup(&simulation, "/front.slice/a.service");
	simulation_make_cgroup(&simulation, "/front.slice/b.service");
	simulation_start(&simulation);
	simulation_begin(&simulation, 101, "nginx", "/front.slice/a.service");
	simulation_begin(&simulation, 102, "nginx", "/front.slice/b.service");
	expect_tracked(&simulation, 2, 1);
	simulation_run(&simulation, 5 * SECOND);
	simulation_press(&simulation, "/front.slice", PSI_CPU, 300000);
	simulation_run(&simulation, 5 * SECOND);
	expect_rows(&simulation.database, "SELECT cgroup, state FROM capture", "/front.slice|complete\n");
	simulation_free(&simulation);
}
END_TEST

/* ---- paths of cgroups ---- */

/* A process's event without the path of its cgroup, which the programs tell within a budget. */
static void tell_without_path(struct simulation *simulation, const struct simulated_process *process)
{
	struct process_event event = { .header = { RECORD_PROCESS, sizeof(event) },
				       .kind = PROCESS_MATCHED,
				       .tgid = process->tgid,
				       .pattern_id = process->pattern_id,
				       .started_ns = process->started_ns,
				       .cgroup_id = process->cgroup_id,
				       .program = process->program };

	memcpy(event.comm, process->comm, sizeof(event.comm));
	fake_kernel_tell(&simulation->kernel, PIN_EVENTS, &event, sizeof(event), NULL);
}

START_TEST(a_target_without_a_known_cgroup_is_watched_once_the_path_is_told)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	start(&simulation, WEB);
	simulation.events_are_lost = true;
	nginx = simulation_begin(&simulation, 101, "nginx", "/web");
	nginx->pattern_id = 1;
	tell_without_path(&simulation, nginx);
	expect_tracked(&simulation, 1, 0);
	/* the daemon walks in the next second, because of it: the walk tells the path */
	simulation_run(&simulation, SECOND);
	expect_tracked(&simulation, 1, 1);
	simulation_free(&simulation);
}
END_TEST

/* ---- processes that ended ---- */

/* Their samples are in the rings for as long as any rule's history. */
START_TEST(a_process_that_ended_is_remembered_for_the_longest_history)
{
	struct simulation simulation;
	struct simulated_process *ends;

	simulation_make(&simulation,
			"[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 40s\ncapture = 1s\n", NULL,
			8192);
	simulation_make_cgroup(&simulation, "/web");
	simulation_start(&simulation);
	simulation_begin(&simulation, 101, "nginx", "/web");
	ends = simulation_begin(&simulation, 102, "nginx", "/web");
	simulation_put_on(&simulation, ends, 0);
	simulation_run(&simulation, 10 * SECOND);
	simulation_end(&simulation, ends);
	simulation_run(&simulation, 35 * SECOND);
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 5 * SECOND);
	expect_rows(
		&simulation.database,
		"SELECT tgid, min(second), max(second) FROM sample JOIN process USING(process_id) GROUP BY 1",
		"102|-40|-37\n");
	expect_rows(&simulation.database, "SELECT events FROM loss WHERE reason = 'unknown-process'", "0\n");
	simulation_free(&simulation);
}
END_TEST

SUITE(tracking)
{
	Suite *suite = suite_create("tracking");
	TCase *events = simulation_case("events"), *watches = simulation_case("watches"),
	      *paths = simulation_case("paths"), *ended = simulation_case("ended");

	tcase_add_test(events, events_make_and_end_targets_at_once);
	tcase_add_test(events, processes_that_run_before_the_daemon_are_found);
	tcase_add_test(events, a_walk_finds_what_events_lost);
	tcase_add_test(events, kernel_threads_and_denied_processes_are_no_targets);
	tcase_add_test(events, stale_events_are_dropped_and_counted);
	tcase_add_test(events, stale_events_within_a_capture_are_in_its_ledger);
	tcase_add_test(events, a_flood_of_events_does_not_stop_the_heart);
	tcase_add_test(events, records_that_are_none_are_counted);
	tcase_add_test(events, errors_of_the_programs_are_said_and_counted);
	suite_add_tcase(suite, events);
	tcase_add_test(watches, a_watch_ends_some_time_after_its_last_target);
	tcase_add_test(watches, a_watch_stays_while_it_has_a_target);
	tcase_add_test(watches, a_cooldown_goes_on_when_targets_end_and_others_begin);
	tcase_add_test(watches, a_removed_cgroup_ends_its_watch_and_a_new_one_is_watched);
	tcase_add_test(watches, a_rule_may_watch_the_slice);
	suite_add_tcase(suite, watches);
	tcase_add_test(paths, a_target_without_a_known_cgroup_is_watched_once_the_path_is_told);
	suite_add_tcase(suite, paths);
	tcase_add_test(ended, a_process_that_ended_is_remembered_for_the_longest_history);
	suite_add_tcase(suite, ended);
	return suite;
}
