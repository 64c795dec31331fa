/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which kills begin a capture: of a process that a rule with on_kill applies to, for lack of memory, by the kernel or by
 * systemd-oomd; that cooldown, slots, incidents and counters are those of other triggers; and what such a capture has.
 */
#include "consumer/watch/event_watches.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <unistd.h>

#define MS (SECOND / 1000)
#define MIB (1UL << 20)
#define KILLS "[rule kills]\ncomm = nginx\non_kill = yes\nhistory = 4s\ncapture = 3s\ncooldown = 60s\n"
#define CPU "[rule cpu]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 4s\ncapture = 3s\ncooldown = 60s\n"
#define OOMD_CGROUP "/system.slice/systemd-oomd.service"

static const struct kill_record oom = { .how = KILL_OOM,
					.rss_bytes = 60 * MIB,
					.limit_bytes = 64 * MIB,
					.limit_level = 1,
					.by_comm = "allocator" };

static struct simulated_process *run_in(struct simulation *simulation, uint32_t tgid, const char *comm,
					const char *cgroup)
{
	struct simulated_process *process = simulation_begin(simulation, tgid, comm, cgroup);

	simulation_put_on(simulation, process, 0);
	return process;
}

/* A daemon with these rules, for 10 s, and a process of the rule that runs in /web. */
static struct simulated_process *start(struct simulation *simulation, const char *rules)
{
	struct simulated_process *nginx;

	simulation_make(simulation, rules, NULL, 1024);
	simulation_make_cgroup(simulation, "/web");
	simulation_make_cgroup(simulation, "/other");
	simulation_start(simulation);
	nginx = run_in(simulation, 101, "nginx", "/web");
	simulation_run(simulation, 10 * SECOND);
	return nginx;
}

#define SINCE "(triggered_at - 1700000000000000000) / 1000000"

static void expect_captures(struct simulation *simulation, const char *expected)
{
	expect_rows(
		&simulation->database,
		"SELECT rule, trigger_mode, state, cgroup, " SINCE
		", (ended_at - triggered_at) / 1000000 FROM capture WHERE trigger_mode <> 'baseline' ORDER BY capture_id",
		expected);
}

START_TEST(a_kill_begins_a_capture_with_the_history_before)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, KILLS);

	simulation_run(&simulation, 300 * MS);
	simulation_end_by(&simulation, nginx, oom);
	simulation_run(&simulation, 6 * SECOND);
	/* from the kill on; the daemon reads four times a second */
	expect_captures(&simulation, "kills|kill|complete|/web|10300|3000\n");
	expect_rows(
		&simulation.database,
		"SELECT resource, kind, stall_us, window_us, observed_us, history_ns / 1000000, onset_at = triggered_at, "
		"verdict, killed_comm, killed_tgid, killed_how, limit_cgroup, limit_name, limit_value / 1048576 FROM capture",
		"NULL|NULL|NULL|NULL|NULL|4000|1|kill|nginx|101|oom|/web|memory.max|64\n");
	expect_rows(
		&simulation.database,
		"SELECT at = triggered_at, how, role, comm, tgid, k.cgroup, rss_bytes / 1048576, k.limit_cgroup, "
		"limit_bytes / 1048576 FROM killed k JOIN capture USING(capture_id)",
		"1|oom|target|nginx|101|/web|60|/web|64\n");
	/* the victim ran until it was killed */
	expect_rows(&simulation.database,
		    "SELECT min(second), max(second), sum(samples) BETWEEN 186 AND 190 FROM sample",
		    "-4|-1|1\n");
	expect_rows(&simulation.database, "SELECT captures, resource, verdict FROM incident",
		    "1|NULL|kill\n");
	expect_rows(&simulation.database, "SELECT triggers FROM rule", "[{\"on_kill\":true}]\n");
	expect_rows(&simulation.database,
		    "SELECT reason, events FROM loss WHERE events AND reason <> 'frames-unresolved'", "");
	expect_logged(&simulation, "rule kills fired: nginx[101] was killed for lack of memory (/web)\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_CAPTURES), 1);
	simulation_free(&simulation);
}
END_TEST

/* A rule that was there before, or a process of another name, cgroup or policy. */
START_TEST(other_kills_begin_none)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, CPU KILLS "cgroup = /web\n"), *denied;

	simulation_end_by(&simulation, run_in(&simulation, 102, "nginx2", "/web"), oom);
	simulation_end_by(&simulation, run_in(&simulation, 103, "nginx", "/other"), oom);
	denied = run_in(&simulation, 104, "nginx", "/web");
	denied->is_denied = true;
	simulation_end_by(&simulation, denied, oom);
	/* by somebody else's SIGKILL, also of one who calls himself systemd-oomd */
	simulation_end_by(&simulation, run_in(&simulation, 105, "nginx", "/web"),
			  (struct kill_record){ .how = KILL_SIGNAL, .by_comm = "bash" });
	simulation_end_by(&simulation, run_in(&simulation, 106, "nginx", "/web"),
			  (struct kill_record){ .how = KILL_SIGNAL,
						.by_comm = "systemd-oomd",
						.by_cgroup_id = nginx->cgroup_id });
	simulation_end(&simulation, nginx);
	simulation_run(&simulation, 10 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 0);
	simulation_free(&simulation);
}
END_TEST

START_TEST(systemd_oomd_kills_for_lack_of_memory)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, KILLS);
	uint64_t oomd;

	simulation_make_cgroup(&simulation, "/system.slice");
	oomd = simulation_make_cgroup(&simulation, OOMD_CGROUP);
	simulation_end_by(&simulation, nginx,
			  (struct kill_record){ .how = KILL_SIGNAL,
						.rss_bytes = 60 * MIB,
						.by_comm = "systemd-oomd",
						.by_tgid = 9,
						.by_cgroup_id = oomd });
	simulation_run(&simulation, 6 * SECOND);
	expect_captures(&simulation, "kills|kill|complete|/web|10000|3000\n");
	expect_rows(&simulation.database, "SELECT verdict, killed_comm, killed_how, limit_name FROM capture",
		    "kill|nginx|oomd|NULL\n");
	expect_rows(&simulation.database, "SELECT how, comm, by_comm, by_unit FROM killed",
		    "oomd|nginx|systemd-oomd|systemd-oomd.service\n");
	simulation_free(&simulation);
}
END_TEST

/* It renamed itself, and no event told of it: the kernel's record says what it was called when it was killed. */
START_TEST(the_victim_need_not_be_a_target)
{
	struct simulation simulation;
	struct simulated_process *other;

	start(&simulation, KILLS);
	other = run_in(&simulation, 102, "worker", "/other");
	simulation_run(&simulation, SECOND);
	simulation.events_are_lost = true;
	simulation_rename(&simulation, other, "nginx");
	simulation_end_by(&simulation, other, oom);
	simulation_run(&simulation, 6 * SECOND);
	expect_captures(&simulation, "kills|kill|complete|/other|11000|3000\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_cooldown_hides_kills_of_the_same_cgroup)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, KILLS);

	simulation_end_by(&simulation, nginx, oom);
	simulation_run(&simulation, SECOND);
	/* within the capture, within the cooldown, and in another cgroup */
	simulation_end_by(&simulation, run_in(&simulation, 102, "nginx", "/web"), oom);
	simulation_run(&simulation, 9 * SECOND);
	simulation_end_by(&simulation, run_in(&simulation, 103, "nginx", "/web"), oom);
	simulation_end_by(&simulation, run_in(&simulation, 104, "nginx", "/other"), oom);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation,
			"kills|kill|complete|/web|10000|3000\nkills|kill|complete|/other|20000|3000\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 2);
	expect_rows(&simulation.database, "SELECT tgid FROM killed WHERE capture_id = 1 ORDER BY at",
		    "101\n102\n");
	simulation_run(&simulation, 60 * SECOND);
	simulation_end_by(&simulation, run_in(&simulation, 105, "nginx", "/web"), oom);
	simulation_run(&simulation, 6 * SECOND);
	expect_rows(&simulation.database,
		    "SELECT capture_id, events FROM loss WHERE reason = 'watch-suppressed' AND events",
		    "3|2\n");
	simulation_free(&simulation);
}
END_TEST

/* The capture is of all that the rule applies to: one cooldown for the whole system. */
START_TEST(a_rule_for_the_system_has_one_cooldown)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, KILLS "watch = system\n");

	simulation_end_by(&simulation, nginx, oom);
	simulation_end_by(&simulation, run_in(&simulation, 104, "nginx", "/other"), oom);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "kills|kill|complete|NULL|10000|3000\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	simulation_free(&simulation);
}
END_TEST

/* The capture is of the slice around the victim: without a systemd, of the outermost cgroup. */
START_TEST(a_rule_for_slices_captures_the_victims_slice)
{
	struct simulation simulation;
	struct simulated_process *inner;

	start(&simulation, KILLS "watch = slice\n");
	simulation_make_cgroup(&simulation, "/web/a");
	inner = run_in(&simulation, 102, "nginx", "/web/a");
	simulation_run(&simulation, SECOND);
	simulation_end_by(&simulation, inner, oom);
	simulation_run(&simulation, 6 * SECOND);
	expect_captures(&simulation, "kills|kill|complete|/web|11000|3000\n");
	simulation_free(&simulation);
}
END_TEST

/* The incident is the kill's, whatever came first. */
START_TEST(pressure_and_a_kill_are_one_incident)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, CPU "on_kill = yes\n");

	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 1500 * MS);
	simulation_end_by(&simulation, nginx, oom);
	simulation_run(&simulation, 10 * SECOND);
	/* a kill has a cooldown of its own */
	expect_captures(&simulation,
			"cpu|sampled|complete|/web|11000|3000\ncpu|kill|complete|/web|11500|3000\n");
	expect_rows(&simulation.database, "SELECT captures, resource, explained_by, verdict FROM incident",
		    "2|cpu|2|kill\n");
	expect_rows(
		&simulation.database, "SELECT triggers FROM rule",
		"[{\"resource\":\"cpu\",\"kind\":\"some\",\"stall_us\":200000,\"window_us\":2000000},{\"on_kill\":true}]\n");
	simulation_free(&simulation);
}
END_TEST

/* The programs and the daemon go on after a gap: what they told before it is not lost, and has no history. */
START_TEST(a_kill_of_before_a_gap_is_captured_after_it)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, KILLS);

	simulation.daemon_stands = true;
	simulation_run(&simulation, SECOND);
	simulation_end_by(&simulation, nginx, oom);
	simulation_run(&simulation, 8 * SECOND);
	simulation.daemon_stands = false;
	simulation_run(&simulation, 6 * SECOND);
	expect_captures(&simulation, "kills|kill|complete|/web|19000|3000\n");
	expect_rows(&simulation.database, "SELECT history_ns FROM capture", "0\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_reload_keeps_the_cooldown)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, KILLS);

	simulation_end_by(&simulation, nginx, oom);
	simulation_run(&simulation, 5 * SECOND);
	simulation_write_rules(&simulation, CPU KILLS);
	simulation_run(&simulation, 2 * SECOND);
	simulation_end_by(&simulation, run_in(&simulation, 102, "nginx", "/web"), oom);
	simulation_run(&simulation, SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	/* without on_kill it fires no more, and forgets */
	simulation_write_rules(&simulation, CPU);
	simulation_run(&simulation, 2 * SECOND);
	simulation_end_by(&simulation, run_in(&simulation, 103, "nginx", "/web"), oom);
	simulation_run(&simulation, SECOND);
	simulation_write_rules(&simulation, KILLS);
	simulation_run(&simulation, 2 * SECOND);
	simulation_end_by(&simulation, run_in(&simulation, 104, "nginx", "/web"), oom);
	simulation_run(&simulation, 6 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	expect_rows(&simulation.database, "SELECT count(*) FROM capture WHERE trigger_mode = 'kill'", "2\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(its_status_tells_of_kills)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, KILLS);
	const char *answer;
	int client;

	simulation_end_by(&simulation, nginx, oom);
	simulation_end_by(&simulation, run_in(&simulation, 102, "nginx", "/web"), oom);
	simulation_settle(&simulation);
	client = simulation_connect(&simulation, "status\n");
	simulation_settle(&simulation);
	answer = simulation_answer(client);
	ck_assert_msg(strstr(answer, "on_kill") && strstr(answer, "trigger_mode=kill"), "%s", answer);
	close(client);
	simulation_free(&simulation);
}
END_TEST

/* A user may make any number of cgroups, and have his processes killed in each. */
START_TEST(cooldowns_have_a_bound)
{
	struct event_watches watches = { 0 };
	const struct rule rule = { .on_kill = true };
	struct watch *watch;

	for (uint64_t id = 1; id <= 3 * EVENT_WATCHES_MAX; id++) {
		watch = event_watches_get(&watches, &rule, NULL, id, "/x");
		ck_assert_ptr_nonnull(watch);
		/* the first one has the longest cooldown: it stays */
		watch->quiet_until_ns = id == 1 ? UINT64_MAX : id;
	}
	ck_assert_uint_eq(watches.count, EVENT_WATCHES_MAX);
	ck_assert_uint_eq(event_watches_get(&watches, &rule, NULL, 1, "/x")->quiet_until_ns, UINT64_MAX);
	ck_assert(event_watches_are_quiet(&watches, &rule, UINT64_MAX - 1));
	event_watches_free(&watches);
	ck_assert(!event_watches_are_quiet(&watches, &rule, 0));
}
END_TEST

SUITE(kill_trigger)
{
	Suite *suite = suite_create("kill_trigger");
	TCase *tests = simulation_case("kill_trigger");

	tcase_add_test(tests, a_kill_begins_a_capture_with_the_history_before);
	tcase_add_test(tests, other_kills_begin_none);
	tcase_add_test(tests, systemd_oomd_kills_for_lack_of_memory);
	tcase_add_test(tests, the_victim_need_not_be_a_target);
	tcase_add_test(tests, a_cooldown_hides_kills_of_the_same_cgroup);
	tcase_add_test(tests, a_rule_for_the_system_has_one_cooldown);
	tcase_add_test(tests, a_rule_for_slices_captures_the_victims_slice);
	tcase_add_test(tests, pressure_and_a_kill_are_one_incident);
	tcase_add_test(tests, a_kill_of_before_a_gap_is_captured_after_it);
	tcase_add_test(tests, a_reload_keeps_the_cooldown);
	tcase_add_test(tests, its_status_tells_of_kills);
	tcase_add_test(tests, cooldowns_have_a_bound);
	suite_add_tcase(suite, tests);
	return suite;
}
