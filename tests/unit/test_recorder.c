/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what becomes of a trigger: a capture with the seconds before it and after it, or none; and what a capture has when
 * something happens meanwhile. The daemon runs as it is, with time that the test lets pass.
 */
#include "common/base/cleanup.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <string.h>

#define MS (SECOND / 1000)
#define WEB "[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 4s\ncapture = 3s\ncooldown = 60s\n"
#define SHOP "[rule shop]\ncomm = shop\ncpu.some = 200ms/2s\nhistory = 2s\ncapture = 5s\ncooldown = 60s\n"
#define POOL "[rule pool]\ncomm = worker\ncgroup = /*\ncpu.some = 200ms/2s\nhistory = 1s\ncapture = 3s\n"

/* A daemon with these rules and settings, and a process of the first rule that sleeps in the cgroup /web. */
static struct simulated_process *start_asleep(struct simulation *simulation, const char *rules,
					      const char *settings, uint32_t slots)
{
	simulation_make(simulation, rules, settings, slots);
	simulation_make_cgroup(simulation, "/web");
	simulation_start(simulation);
	return simulation_begin(simulation, 101, "nginx", "/web");
}

/* The same, but that the process runs on CPU 0. */
static void start(struct simulation *simulation, const char *rules)
{
	simulation_put_on(simulation, start_asleep(simulation, rules, NULL, 1024), 0);
}

static void press(struct simulation *simulation, const char *cgroup, uint64_t ms)
{
	simulation_press(simulation, cgroup, PSI_CPU, ms * 1000);
}

/* A text that has the time since the begin in ms. */
#define SINCE "(triggered_at - 1700000000000000000) / 1000000"

static void expect_captures(struct simulation *simulation, const char *expected)
{
	expect_rows(&simulation->database,
		    "SELECT rule, state, " SINCE ", (ended_at - triggered_at) / 1000000 FROM capture "
		    "WHERE trigger_mode <> 'baseline' ORDER BY capture_id",
		    expected);
}

static void expect_loss(struct simulation *simulation, int capture_id, const char *reason, uint64_t events)
{
	_cleanup_free_ char *sql = NULL, *expected = NULL;

	ck_assert_int_ge(asprintf(&sql, "SELECT events FROM loss WHERE capture_id = %d AND reason = '%s'",
				  capture_id, reason),
			 0);
	ck_assert_int_ge(asprintf(&expected, "%" PRIu64 "\n", events), 0);
	expect_rows(&simulation->database, sql, expected);
}

/* ---- one capture ---- */

START_TEST(a_capture_has_the_seconds_before_and_after_its_trigger)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, SECOND);
	/* it has begun, and the database says so */
	expect_rows(&simulation.database, "SELECT state, ended_at FROM capture", "recording|NULL\n");
	simulation_run(&simulation, 9 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	expect_rows(
		&simulation.database,
		"SELECT trigger_mode, resource, kind, cgroup, stall_us, window_us, observed_us, history_ns, "
		"triggered_at - began_at FROM capture",
		"sampled|cpu|some|/web|200000|2000000|300000|4000000000|4000000000\n");
	/* 47 a second, of the process alone: none before, none after */
	expect_rows(&simulation.database,
		    "SELECT second, kind, tgid, comm, samples FROM sample JOIN process USING(process_id)",
		    "-4|on-cpu|101|nginx|47\n-3|on-cpu|101|nginx|47\n-2|on-cpu|101|nginx|47\n"
		    "-1|on-cpu|101|nginx|47\n0|on-cpu|101|nginx|47\n1|on-cpu|101|nginx|47\n"
		    "2|on-cpu|101|nginx|47\n");
	expect_rows(&simulation.database,
		    "SELECT reason, events FROM loss WHERE events AND reason <> 'frames-unresolved'", "");
	/* from its first walk over all processes to its last one */
	expect_rows(
		&simulation.database,
		"SELECT expected_samples BETWEEN 94 AND 141, abs(received_samples - expected_samples) <= 1 "
		"FROM capture",
		"1|1\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_CAPTURES), 1);
	expect_logged(&simulation, "rule web fired: cpu some stalled 300 ms in 2000 ms (/web)\n");
	expect_logged(&simulation, "captured 1 stack of rule web\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(pressure_below_the_threshold_is_none)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 199);
	simulation_run(&simulation, 3 * SECOND);
	/* of two windows, not of one */
	press(&simulation, "/web", 150);
	simulation_run(&simulation, 10 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_CAPTURES), 0);
	simulation_free(&simulation);
}
END_TEST

/* A stall is read once a second; the capture's readings of it are four a second. */
START_TEST(the_pressure_is_recorded_beside_the_samples)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	press(&simulation, "/web", 70);
	simulation_run(&simulation, 5 * SECOND);
	expect_rows(
		&simulation.database,
		"SELECT DISTINCT some_us FROM pressure WHERE scope = '/web' AND resource = 'cpu' ORDER BY 1",
		"300000\n370000\n");
	/* at the trigger, at the begin of each quarter of a second, and at the end */
	expect_rows(&simulation.database,
		    "SELECT count(*) FROM pressure WHERE scope = '/web' AND resource = 'cpu'", "13\n");
	simulation_free(&simulation);
}
END_TEST

/* A daemon that was killed within a capture has left what it had yet to read. */
START_TEST(slots_of_a_daemon_that_was_killed_are_free)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, SECOND);
	simulation_kill(&simulation);
	ck_assert_uint_gt(simulation.kernel.objects.control->offcpu_unread_ns, 0);
	simulation_start(&simulation);
	ck_assert_uint_eq(simulation.kernel.objects.control->offcpu_unread_ns, 0);
	simulation_free(&simulation);
}
END_TEST

/* The budgets of the programs: the whole history is kept while it is calm, and shorter waits in a capture. */
START_TEST(budgets_follow_the_captures)
{
	struct simulation simulation;
	const struct control *control;
	struct control calm;

	start(&simulation, WEB);
	control = simulation.kernel.objects.control;
	simulation_run(&simulation, 10 * SECOND);
	calm = *control;
	ck_assert_uint_eq(calm.offcpu_min_ns, 20 * MS);
	ck_assert_uint_eq(calm.offcpu_unread_ns, 0);
	/* 1,024 slots within the history of 4 s, and a second more */
	ck_assert_uint_eq(calm.offcpu_slots_hz, 1024 / 5);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, SECOND);
	ck_assert_uint_eq(control->offcpu_min_ns, MS);
	ck_assert_uint_eq(control->offcpu_slots_hz, 1024 * 4 / 2);
	ck_assert_uint_eq(control->offcpu_stacks_hz, 8 * calm.offcpu_stacks_hz);
	/* what was not drained is kept: it is drained four times a second */
	ck_assert_uint_le(control->offcpu_unread_ns, simulation.now_ns);
	ck_assert_uint_gt(control->offcpu_unread_ns, simulation.now_ns - 300 * MS);
	simulation_run(&simulation, 3 * SECOND);
	ck_assert_uint_eq(control->offcpu_unread_ns, 0);
	ck_assert_uint_eq(control->offcpu_min_ns, calm.offcpu_min_ns);
	ck_assert_uint_eq(control->offcpu_slots_hz, calm.offcpu_slots_hz);
	ck_assert_uint_eq(control->offcpu_stacks_hz, calm.offcpu_stacks_hz);
	simulation_free(&simulation);
}
END_TEST

START_TEST(waits_are_recorded_and_those_that_have_not_ended)
{
	struct simulation simulation;
	struct open_interval open = { .seq_again = 1 };
	struct simulated_process *nginx;
	uint32_t tid = 102;

	nginx = start_asleep(&simulation, WEB, NULL, 1024);
	simulation_run(&simulation, 10 * SECOND);
	simulation_was_off(&simulation, nginx, 1, 500 * MS, STALL_IO);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	/* a thread waits since half a second; as bpf/offcpu.bpf.c leaves it in the map */
	open.sample = sample_make(101, 0, 1, 2, 7000);
	open.sample.kind = SAMPLE_OFF_CPU;
	open.sample.tid = tid;
	open.sample.started_ns = nginx->started_ns;
	open.sample.cgroup_id = nginx->cgroup_id;
	open.sample.pattern_id = nginx->pattern_id;
	open.sample.program = nginx->program;
	open.sample.weight_ns = 0;
	open.sample.stall = STALL_MEMORY;
	open.sample.left_ns = open.sample.seq = open.seq_again = simulation.now_ns - 500 * MS;
	fake_kernel_put(&simulation.kernel, PIN_OFFCPU_OPEN, &tid, &open);
	simulation_run(&simulation, 5 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	expect_rows(
		&simulation.database,
		"SELECT tid, stall, sum(weight_ns) / 1000000 FROM sample WHERE kind = 'off-cpu' GROUP BY 1, 2",
		"101|io|500\n102|memory|2500\n");
	simulation_free(&simulation);
}
END_TEST

/* ---- history ---- */

/* The rings have samples of before; but not of a time without a daemon. */
START_TEST(history_is_as_long_as_the_daemon_runs)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 1500 * MS);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_rows(&simulation.database, "SELECT history_ns / 1000000, " SINCE " FROM capture",
		    "2000|2000\n");
	simulation_free(&simulation);
}
END_TEST

/* The programs stop sampling when the heartbeat is older than 5 s. */
START_TEST(history_does_not_reach_over_a_gap)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	simulation.daemon_stands = true;
	simulation_run(&simulation, 8 * SECOND);
	simulation.daemon_stands = false;
	simulation_run(&simulation, 2 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|21000|3000\n");
	/* the heart beats again at 18 s */
	expect_rows(&simulation.database, "SELECT history_ns / 1000000 FROM capture", "3000\n");
	expect_rows(&simulation.database, "SELECT min(second), sum(samples) FROM sample", "-3|282\n");
	simulation_free(&simulation);
}
END_TEST

/* While the machine sleeps CLOCK_MONOTONIC stands: nothing is missing, and nothing is late. */
START_TEST(a_machine_that_slept_has_its_history)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	simulation_suspend(&simulation, 3600 * SECOND);
	simulation_run(&simulation, SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|3612000|3000\n");
	expect_rows(&simulation.database, "SELECT history_ns / 1000000 FROM capture", "4000\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_ring_that_is_too_short_is_said_beforehand)
{
	struct simulation simulation;

	simulation_make(&simulation, WEB, NULL, 94); /* 2 s */
	simulation_make_cgroup(&simulation, "/web");
	simulation_start(&simulation);
	expect_logged(
		&simulation,
		"test.conf:1: rule web wants 4 s of history, but the ring of a CPU that runs only targets holds 2 s; raise bourdon-load --ring-size");
	simulation_put_on(&simulation, simulation_begin(&simulation, 101, "nginx", "/web"), 0);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	/* the oldest slot may be overwritten at any moment */
	expect_rows(&simulation.database,
		    "SELECT history_ns BETWEEN 1900000000 AND 2000000000, (SELECT sum(samples) FROM sample "
		    "WHERE second < 0) FROM capture",
		    "1|93\n");
	expect_loss(&simulation, 1, "overwritten-slots", 0);
	simulation_free(&simulation);
}
END_TEST

/* ---- losses ---- */

/* What a capture has and what it lost is what was written. */
START_TEST(overwritten_slots_are_counted)
{
	struct simulation simulation;
	uint64_t from;

	simulation_put_on(&simulation, start_asleep(&simulation, WEB, NULL, 64), 0);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, SECOND);
	from = simulation.oncpu[0].written;
	simulation.daemon_stands = true; /* a ring holds 64 samples of 94 */
	simulation_run(&simulation, 2 * SECOND);
	simulation.daemon_stands = false;
	simulation_run(&simulation, 5 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	ck_assert_uint_eq(simulation.oncpu[0].written - from, 7 * 47);
	expect_rows(&simulation.database,
		    "SELECT events > 0, (SELECT sum(samples) FROM sample WHERE second >= 0) + events "
		    "FROM loss WHERE reason = 'overwritten-slots'",
		    "1|141\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(what_the_programs_lose_is_in_the_ledger)
{
	struct simulation simulation;

	start(&simulation, WEB);
	fake_kernel_add_count(&simulation.kernel, COUNTER_EVENTS_LOST, 100); /* before the capture */
	fake_kernel_add_count(&simulation.kernel, COUNTER_TARGETS_FULL, 100);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	fake_kernel_add_count(&simulation.kernel, COUNTER_EVENTS_LOST, 3);
	fake_kernel_add_count(&simulation.kernel, COUNTER_TARGETS_FULL, 4);
	fake_kernel_add_count(&simulation.kernel, COUNTER_OFFCPU_UNTRACKED, 5);
	simulation_run(&simulation, 5 * SECOND);
	fake_kernel_add_count(&simulation.kernel, COUNTER_EVENTS_LOST, 100); /* behind it */
	expect_loss(&simulation, 1, "events-lost", 3);
	expect_loss(&simulation, 1, "targets-full", 4);
	expect_loss(&simulation, 1, "offcpu-untracked", 5);
	simulation_free(&simulation);
}
END_TEST

/* A text that has what changed of the recorder's own numbers. */
#define OF_RECORDER(what, where)                                                                             \
	"SELECT " what " FROM statistic WHERE capture_id = 1 AND scope = 'recorder' AND " where              \
	" ORDER BY source, device, name"

START_TEST(what_recording_costs_is_in_the_capture)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation.programs.runs = 1000;
	simulation.programs.run_ns = 5000000;
	simulation.programs.missed = 7;
	simulation.programs.are_counted = true;
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	simulation.programs.runs += 400;
	simulation.programs.run_ns += 800000;
	simulation.programs.missed += 2;
	simulation_run(&simulation, 5 * SECOND);
	expect_rows(&simulation.database,
		    OF_RECORDER("device, name, min(after - before, 400 + 1000 * (name <> 'runs'))",
				"source = 'bpf'"),
		    "offcpu_switch|missed|2\noffcpu_switch|run_ns|1400\noffcpu_switch|runs|400\n");
	expect_rows(&simulation.database, OF_RECORDER("before, after", "name = 'program_time_counted'"),
		    "1|1\n");
	expect_rows(&simulation.database,
		    OF_RECORDER("name, before <= after",
				"source = 'own' AND name IN ('cpu_ns', 'resident_bytes') "
				"AND before > 0"),
		    "cpu_ns|1\nresident_bytes|1\n");
	expect_loss(&simulation, 1, "program-runs-missed", 2);
	simulation_free(&simulation);
}
END_TEST

START_TEST(time_that_the_kernel_does_not_count_is_not_zero)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation.programs.runs = 1000; /* it did once */
	simulation.programs.run_ns = 5000000;
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 7 * SECOND);
	expect_rows(&simulation.database, OF_RECORDER("name", "source = 'bpf'"), "");
	expect_rows(&simulation.database, OF_RECORDER("before, after", "name = 'program_time_counted'"),
		    "0|0\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_capture_has_the_most_that_waited_and_for_how_long)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, SECOND);
	simulation.daemon_stands = true;
	simulation_begin(&simulation, 102, "nginx", "/web");
	simulation_run(&simulation, SECOND);
	simulation.daemon_stands = false;
	simulation_run(&simulation, 5 * SECOND);
	/* a quarter of a second has 11 samples; it stood for a whole one more */
	expect_rows(&simulation.database,
		    OF_RECORDER("device, name, before IS NULL AND after BETWEEN 40 AND 60",
				"source = 'queue' AND device = 'oncpu' "
				"AND name = 'depth'"),
		    "oncpu|depth|1\n");
	expect_rows(&simulation.database,
		    OF_RECORDER("device, after BETWEEN 500000000 AND 1000000000",
				"source = 'queue' AND name = 'lag_ns' "
				"AND device <> 'jobs'"),
		    "offcpu|1\noncpu|1\n");
	expect_rows(&simulation.database,
		    OF_RECORDER("device, after > 0", "source = 'queue' AND name = 'depth' AND device "
						     "IN ('events', 'jobs')"),
		    "events|1\njobs|1\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_database_that_hangs_is_seen_in_the_queue)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	simulation.worker_stands = true;
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 3 * SECOND);
	simulation.worker_stands = false;
	simulation_run(&simulation, 4 * SECOND);
	expect_rows(
		&simulation.database,
		OF_RECORDER("after BETWEEN 1500000000 AND 2500000000", "device = 'jobs' AND name = 'lag_ns'"),
		"1\n");
	simulation_free(&simulation);
}
END_TEST

/* The programs go quiet within the capture, because the daemon stands. */
START_TEST(samples_that_were_not_taken_are_counted)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	simulation.daemon_stands = true;
	simulation_run(&simulation, 10 * SECOND);
	simulation.daemon_stands = false;
	simulation_run(&simulation, SECOND);
	/* it ends late, and has what the rings have: five seconds after the last heartbeat, at 12 s */
	expect_rows(&simulation.database, "SELECT state, (SELECT max(second) FROM sample) FROM capture",
		    "complete|2\n");
	expect_loss(&simulation, 1, "samples-not-taken", 5 * 47);
	simulation_free(&simulation);
}
END_TEST

/* ---- cooldown ---- */

START_TEST(a_cooldown_hides_a_repeat)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND); /* the capture ends at 14 s, its cooldown at 74 s */
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 52500 * MS);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 5 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 2);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nweb|complete|78000|3000\n");
	expect_loss(&simulation, 1, "watch-suppressed", 0);
	expect_loss(&simulation, 2, "watch-suppressed", 2);
	/* it is another incident */
	expect_rows(&simulation.database, "SELECT captures FROM incident", "1\n1\n");
	expect_not_logged(&simulation, "worse than");
	simulation_free(&simulation);
}
END_TEST

START_TEST(worse_pressure_begins_a_capture_within_the_cooldown)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 220);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 430); /* not twice as long */
	simulation_run(&simulation, 10 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	press(&simulation, "/web", 440);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nweb|complete|31000|3000\n");
	expect_logged(
		&simulation,
		"rule web fired: cpu some stalled 440 ms in 2000 ms (/web), worse than the 220 ms that its last capture saw\n");
	expect_loss(&simulation, 2, "watch-suppressed", 1);
	expect_rows(&simulation.database, "SELECT captures FROM incident", "2\n");
	/* it starts the cooldown anew: 31 + 3 + 60 s */
	simulation_run(&simulation, 52 * SECOND);
	press(&simulation, "/web", 440);
	simulation_run(&simulation, 5 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 2);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 250);
	simulation_run(&simulation, 5 * SECOND);
	expect_count(&simulation.database, "capture", 3);
	simulation_free(&simulation);
}
END_TEST

/* Whoever makes the pressure could go on doubling it. */
START_TEST(pressure_that_grows_for_ever_begins_three_more_captures)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	for (uint64_t ms = 200; ms <= 200 * 64; ms *= 2) {
		press(&simulation, "/web", ms);
		simulation_run(&simulation, 8 * SECOND);
	}
	expect_count(&simulation.database, "capture", 4);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 3);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_trigger_within_its_own_capture_begins_none)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 1500 * MS);
	press(&simulation, "/web", 1500); /* much worse, but the capture sees it */
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	/* which counts: the next one is not worse */
	press(&simulation, "/web", 1600);
	simulation_run(&simulation, 10 * SECOND);
	expect_count(&simulation.database, "capture", 1);
	simulation_free(&simulation);
}
END_TEST

/* A stranger in the cgroup makes all of the pressure that fires; then the target itself waits. */
START_TEST(strangers_do_not_use_up_the_cooldown_of_a_rule)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	nginx = start_asleep(&simulation, WEB, NULL, 1024);
	simulation_waited(&simulation, nginx, ACCOUNT_QUEUED, 0);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 1900);
	simulation_run(&simulation, 5 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	simulation_run(&simulation, 2 * SECOND);
	press(&simulation, "/web", 300); /* the stranger's, again */
	simulation_run(&simulation, 2 * SECOND);
	expect_count(&simulation.database, "capture", 1);
	simulation_waited(&simulation, nginx, ACCOUNT_QUEUED, 300 * MS);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 5 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nweb|complete|20000|3000\n");
	expect_logged(
		&simulation,
		"rule web fired: cpu some stalled 300 ms in 2000 ms (/web); its threads waited 300 ms, worse than the 0 ms that its last capture saw\n");
	/* its own stall begins a whole cooldown, which another one of the same strength does not break, nor the stranger's */
	simulation_run(&simulation, 20 * SECOND);
	simulation_waited(&simulation, nginx, ACCOUNT_QUEUED, 300 * MS);
	press(&simulation, "/web", 1900);
	simulation_run(&simulation, 5 * SECOND);
	expect_count(&simulation.database, "capture", 2);
	simulation_waited(&simulation, nginx, ACCOUNT_QUEUED, 700 * MS);
	press(&simulation, "/web", 1900);
	simulation_run(&simulation, 5 * SECOND);
	expect_count(&simulation.database, "capture", 3);
	simulation_free(&simulation);
}
END_TEST

/* Their captures become rare, as if each had a whole cooldown. */
START_TEST(strangers_cannot_have_captures_without_end)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	nginx = start_asleep(&simulation, WEB, NULL, 1024);
	simulation_waited(&simulation, nginx, ACCOUNT_QUEUED, 0);
	simulation_run(&simulation, 10 * SECOND);
	for (int i = 0; i < 140; i++) {
		press(&simulation, "/web", 1900);
		simulation_run(&simulation, 2 * SECOND);
	}
	/* cooldowns of 7.5, 15, 30 and 60 s */
	expect_count(&simulation.database, "capture", 7);
	simulation_free(&simulation);
}
END_TEST

/* ---- several rules ---- */

static void start_two(struct simulation *simulation)
{
	start(simulation, WEB SHOP);
	simulation_make_cgroup(simulation, "/shop");
	simulation_put_on(simulation, simulation_begin(simulation, 202, "shop", "/shop"), 1);
	simulation_run(simulation, 10 * SECOND);
}

START_TEST(two_rules_at_once_have_a_capture_each_of_their_own)
{
	struct simulation simulation;

	start_two(&simulation);
	press(&simulation, "/web", 300);
	press(&simulation, "/shop", 400);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nshop|complete|11000|5000\n");
	expect_rows(&simulation.database,
		    "SELECT rule, tgid, min(second), max(second), sum(samples) FROM sample "
		    "JOIN capture USING(capture_id) JOIN process USING(process_id) GROUP BY capture_id, tgid",
		    "web|101|-4|2|329\nshop|202|-2|4|329\n");
	/* what the other one did is beside it */
	expect_rows(&simulation.database,
		    "SELECT rule, tgid, role FROM other_sample JOIN capture USING(capture_id) "
		    "JOIN process USING(process_id) GROUP BY capture_id, tgid, role",
		    "web|202|other\nshop|101|other\n");
	expect_rows(&simulation.database, "SELECT captures, resource FROM incident", "2|cpu\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_rule_fires_while_another_one_is_captured)
{
	struct simulation simulation;

	start_two(&simulation);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	press(&simulation, "/shop", 400);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nshop|complete|13000|5000\n");
	expect_rows(&simulation.database, "SELECT captures FROM incident", "2\n");
	expect_rows(&simulation.database, "SELECT after_ns > 0 FROM incident_capture ORDER BY capture_id",
		    "0\n1\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(every_rule_that_matches_applies)
{
	struct simulation simulation;

	start(&simulation, "[rule all]\ncomm = *\ncgroup = /web\ncpu.some = 10%\ncapture = 1s\n"
			   "[rule prefix]\ncomm = ngi*\ncgroup = /web\ncpu.some = 10%\ncapture = 1s\n"
			   "[rule exact]\ncomm = nginx\ncgroup = /web\ncpu.some = 10%\ncapture = 1s\n"
			   "[rule elsewhere]\ncomm = nginx\ncgroup = /web/*\ncpu.some = 10%\ncapture = 1s\n");
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 5 * SECOND);
	expect_rows(&simulation.database, "SELECT rule, state FROM capture ORDER BY rule",
		    "all|complete\nexact|complete\nprefix|complete\n");
	expect_rows(&simulation.database,
		    "SELECT count(DISTINCT capture_id), min(tgid), max(tgid) FROM sample "
		    "JOIN process USING(process_id)",
		    "3|101|101\n");
	simulation_free(&simulation);
}
END_TEST

/* Cgroups and workers as many as that: each worker in its own. */
static void start_pool(struct simulation *simulation, const char *rules, uint32_t count)
{
	simulation_make(simulation, rules, NULL, 1024);
	simulation_start(simulation);
	for (uint32_t i = 1; i <= count; i++) {
		char cgroup[16];

		snprintf(cgroup, sizeof(cgroup), "/%u", i);
		simulation_make_cgroup(simulation, cgroup);
		simulation_begin(simulation, 300 + i, "worker", cgroup);
	}
	simulation_run(simulation, 10 * SECOND);
}

static void press_all(struct simulation *simulation, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		char cgroup[16];

		snprintf(cgroup, sizeof(cgroup), "/%u", i);
		press(simulation, cgroup, 300);
	}
	simulation_run(simulation, SECOND);
}

START_TEST(cgroups_of_one_rule_have_a_capture_each)
{
	struct simulation simulation;

	start_pool(&simulation, POOL, 5);
	press_all(&simulation, 1, 5);
	simulation_run(&simulation, 10 * SECOND);
	expect_rows(
		&simulation.database,
		"SELECT group_concat(cgroup, ' ') FROM (SELECT cgroup FROM capture WHERE state = 'complete' "
		"ORDER BY cgroup)",
		"/1 /2 /3 /4 /5\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 0);
	simulation_free(&simulation);
}
END_TEST

START_TEST(captures_beyond_the_limit_are_suppressed_and_said)
{
	struct simulation simulation;

	start_pool(&simulation, POOL, 12);
	press_all(&simulation, 1, 12);
	expect_count(&simulation.database, "capture", WORKER_CAPTURES_MAX);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 12 - WORKER_CAPTURES_MAX);
	expect_logged(
		&simulation,
		"rule pool fired, but no capture could begin: the rule has its share of the captures that may be under way or wait to be written\n");
	/* without a cooldown: what was suppressed fires when there is room */
	simulation_run(&simulation, 10 * SECOND);
	press_all(&simulation, 9, 12);
	simulation_run(&simulation, 10 * SECOND);
	expect_count(&simulation.database, "capture WHERE state = 'complete'", 12);
	simulation_free(&simulation);
}
END_TEST

/* Of two rules, one with pressure in many cgroups leaves the other one its places. */
START_TEST(a_rule_leaves_places_to_others)
{
	struct simulation simulation;

	start_pool(&simulation, POOL WEB, 8);
	simulation_make_cgroup(&simulation, "/web");
	simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, 2 * SECOND);
	press_all(&simulation, 1, 8);
	expect_count(&simulation.database, "capture", WORKER_CAPTURES_OF_A_RULE_MAX);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_count(&simulation.database, "capture WHERE rule = 'web' AND state = 'complete'", 1);
	simulation_free(&simulation);
}
END_TEST

/* ---- processes within a capture ---- */

/* Samples of a process on CPU 1, each of another thread, and of 8,000 stacks. */
static void flood(struct simulation *simulation, const struct simulated_process *process, uint32_t *threads)
{
	for (uint32_t i = 0; i < 900; i++, ++*threads) {
		struct sample sample = sample_make(process->tgid, simulation->now_ns, 1, 15,
						   0x100000 + *threads % 8000 * 100);

		sample.tid = 1000 + *threads;
		sample.started_ns = process->started_ns;
		sample.cgroup_id = process->cgroup_id;
		sample.program = process->program;
		sample.of = SAMPLE_OF_TARGET;
		fake_ring_write(&simulation->oncpu[1], &sample);
	}
}

/* A capture that takes all memory that it gets is cut, and one that begins then is complete. */
START_TEST(a_capture_leaves_memory_to_others)
{
	struct simulation simulation;
	struct simulated_process *shop;
	uint32_t threads = 0;

	start(&simulation,
	      WEB "[rule shop]\ncomm = shop\ncpu.some = 200ms/2s\nhistory = 1s\ncapture = 40s\n");
	simulation_make_cgroup(&simulation, "/shop");
	shop = simulation_begin(&simulation, 202, "shop", "/shop");
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/shop", 400);
	for (uint32_t i = 0; i < 125; i++) {
		simulation_run(&simulation, SECOND / 4);
		flood(&simulation, shop, &threads);
	}
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 40 * SECOND);
	expect_rows(
		&simulation.database,
		"SELECT rule, state, EXISTS (SELECT * FROM loss WHERE loss.capture_id = capture.capture_id "
		"AND reason = 'capture-full' AND events > 0) FROM capture ORDER BY rule",
		"shop|complete|1\nweb|complete|0\n");
	expect_rows(
		&simulation.database,
		"SELECT sum(samples) FROM sample JOIN capture USING(capture_id) WHERE rule = 'web' AND second >= 0",
		"141\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_target_that_ends_within_its_capture_is_in_it)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	nginx = start_asleep(&simulation, WEB, NULL, 1024);
	simulation_put_on(&simulation, nginx, 0);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	simulation_end(&simulation, nginx);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	expect_rows(&simulation.database, "SELECT min(second), max(second), sum(samples) FROM sample",
		    "-4|0|235\n");
	expect_loss(&simulation, 1, "unknown-process", 0);
	expect_rows(&simulation.database,
		    "SELECT tgid, comm, role FROM usage JOIN process USING(process_id) WHERE role = 'target'",
		    "101|nginx|target\n");
	simulation_free(&simulation);
}
END_TEST

/* Samples of the history may be of processes that have ended. */
START_TEST(the_history_has_processes_that_ended_before)
{
	struct simulation simulation;
	struct simulated_process *other;

	start(&simulation, WEB);
	other = simulation_begin(&simulation, 102, "nginx", "/web");
	simulation_put_on(&simulation, other, 1);
	simulation_run(&simulation, 9 * SECOND);
	simulation_end(&simulation, other);
	simulation_run(&simulation, SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_rows(
		&simulation.database,
		"SELECT min(second), max(second), sum(samples) FROM sample JOIN process USING(process_id) "
		"WHERE tgid = 102",
		"-4|-3|94\n");
	expect_loss(&simulation, 1, "unknown-process", 0);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_process_id_that_is_used_again_is_another_process)
{
	struct simulation simulation;
	struct simulated_process *first, *second;

	simulation_make(&simulation, WEB, NULL, 1024);
	simulation_make_cgroup(&simulation, "/web");
	simulation_make_cgroup(&simulation, "/other");
	simulation_start(&simulation);
	first = simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_put_on(&simulation, first, 0);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 1500 * MS);
	simulation_end(&simulation, first);
	second = simulation_begin(&simulation, 101, "nginx", "/web");
	simulation_put_on(&simulation, second, 0);
	simulation_run(&simulation, SECOND);
	/* the next one is none of the rule's */
	simulation_end(&simulation, second);
	simulation_put_on(&simulation, simulation_begin(&simulation, 101, "cat", "/other"), 0);
	simulation_run(&simulation, 10 * SECOND);
	expect_rows(&simulation.database,
		    "SELECT started_ns, comm, sum(samples) FROM sample JOIN process USING(process_id) "
		    "GROUP BY process_id ORDER BY started_ns",
		    "1000000000000000000|nginx|211\n1000000011500000000|nginx|47\n");
	simulation_free(&simulation);
}
END_TEST

/* No event tells a move; the walk of each second within a capture does. */
START_TEST(a_process_that_moves_into_the_cgroup_is_captured_from_then_on)
{
	struct simulation simulation;
	struct simulated_process *moves;

	start(&simulation, WEB);
	simulation_make_cgroup(&simulation, "/other");
	moves = simulation_begin(&simulation, 102, "nginx", "/other");
	simulation_put_on(&simulation, moves, 1);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	simulation_move(&simulation, moves, "/web");
	simulation_run(&simulation, 10 * SECOND);
	expect_rows(
		&simulation.database,
		"SELECT min(second), max(second), sum(samples) FROM sample JOIN process USING(process_id) "
		"WHERE tgid = 102",
		"1|2|94\n");
	simulation_free(&simulation);
}
END_TEST

/* A watch whose targets have all ended begins no capture, and no cooldown. */
START_TEST(a_watch_without_a_target_begins_none)
{
	struct simulation simulation;
	struct simulated_process *nginx;

	nginx = start_asleep(&simulation, WEB, NULL, 1024);
	simulation_run(&simulation, 10 * SECOND);
	simulation_end(&simulation, nginx);
	simulation_run(&simulation, 5 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 5 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_WITHOUT_TARGET), 1);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 0);
	/* one that ended within the last two windows may have been the pressure's */
	nginx = simulation_begin(&simulation, 102, "nginx", "/web");
	simulation_run(&simulation, SECOND);
	simulation_end(&simulation, nginx);
	simulation_run(&simulation, 2 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|24000|3000\n");
	simulation_free(&simulation);
}
END_TEST

/* ---- reloads within a capture ---- */

START_TEST(a_capture_of_a_removed_rule_ends_as_usual)
{
	struct simulation simulation;

	start_two(&simulation);
	press(&simulation, "/web", 300);
	press(&simulation, "/shop", 300);
	simulation_run(&simulation, SECOND);
	simulation_write_rules(&simulation, SHOP);
	simulation_run(&simulation, 2 * SECOND);
	expect_logged(&simulation, "reloaded: 1 rule, 1 target, 1 watch\n");
	simulation_run(&simulation, 5 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nshop|complete|11000|5000\n");
	expect_rows(
		&simulation.database,
		"SELECT rule, sum(samples) FROM sample JOIN capture USING(capture_id) GROUP BY capture_id",
		"web|329\nshop|329\n");
	/* the watch of the other rule is the one that it was: in its cooldown */
	press(&simulation, "/shop", 300);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 5 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	expect_count(&simulation.database, "capture", 2);
	expect_rows(&simulation.database, "SELECT group_concat(rule_id || rule) FROM rule", "1web,2shop\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_rule_that_changes_within_its_capture_changes_the_next_one)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, SECOND);
	simulation_write_rules(
		&simulation,
		"[rule web]\ncomm = nginx\ncpu.some = 100ms/2s\nhistory = 1s\ncapture = 6s\ncooldown = 5s\n");
	simulation_run(&simulation, 9 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	/* another trigger is another watch, which has no cooldown */
	press(&simulation, "/web", 150);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nweb|complete|21000|6000\n");
	expect_rows(&simulation.database, "SELECT history_ns / 1000000000, rule_id FROM capture",
		    "4|1\n1|2\n");
	simulation_free(&simulation);
}
END_TEST

/* ---- the end ---- */

START_TEST(a_daemon_that_ends_within_a_capture_keeps_it_as_interrupted)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2500 * MS);
	ck_assert_int_eq(simulation_stop(&simulation), EXIT_DONE);
	expect_captures(&simulation, "web|interrupted|11000|1500\n");
	expect_rows(&simulation.database, "SELECT min(second), max(second) FROM sample", "-4|1\n");
	expect_rows(&simulation.database, "SELECT (ended_at - started_at) / 1000000 FROM run", "12500\n");
	/* the programs stop sampling */
	ck_assert_uint_eq(simulation.kernel.objects.control->heartbeat_ns, 0);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_capture_of_a_killed_daemon_is_marked_by_the_next_one)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2500 * MS);
	simulation_kill(&simulation);
	expect_rows(&simulation.database, "SELECT state FROM capture", "recording\n");
	simulation_run(&simulation, 0);
	simulation_start(&simulation);
	expect_rows(&simulation.database, "SELECT state FROM capture", "interrupted\n");
	expect_rows(&simulation.database, "SELECT group_concat(rule_id), group_concat(pattern_id) FROM rule",
		    "1,2|1,2\n");
	/* it knows the processes, and has no history of the time before it */
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 5 * SECOND);
	expect_rows(&simulation.database, "SELECT state, history_ns / 1000000 FROM capture",
		    "interrupted|4000\ncomplete|1000\n");
	simulation_free(&simulation);
}
END_TEST

/* ---- the worker thread stands ---- */

/* The database is locked, or its disk hangs: the draining thread goes on. */
START_TEST(a_database_that_hangs_loses_no_sample)
{
	struct simulation simulation;

	start(&simulation, "[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 4s\ncapture = 10s\n");
	simulation_run(&simulation, 10 * SECOND);
	simulation.worker_stands = true;
	press(&simulation, "/web", 300);
	for (int i = 0; i < 40; i++) {
		simulation_run(&simulation, SECOND);
		ck_assert_uint_le(simulation.now_ns - simulation.kernel.objects.control->heartbeat_ns,
				  SECOND);
	}
	expect_count(&simulation.database, "capture", 0);
	simulation.worker_stands = false;
	simulation_settle(&simulation);
	expect_captures(&simulation, "web|complete|11000|10000\n");
	expect_rows(&simulation.database,
		    "SELECT count(DISTINCT second), sum(samples) FROM sample WHERE second >= 0", "10|470\n");
	expect_loss(&simulation, 1, "overwritten-slots", 0);
	simulation_free(&simulation);
}
END_TEST

/* ---- the wall clock ---- */

START_TEST(a_wall_clock_that_is_set_back_changes_no_span)
{
	struct simulation simulation;

	start(&simulation, WEB);
	simulation_run(&simulation, 10 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 2 * SECOND);
	simulation_set_wall(&simulation, -3600 * (int64_t)SECOND);
	simulation_run(&simulation, 80 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\n");
	expect_rows(&simulation.database, "SELECT min(second), max(second), sum(samples) FROM sample",
		    "-4|2|329\n");
	/* the cooldown is over by the other clock */
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "web|complete|11000|3000\nweb|complete|-3507000|3000\n");
	expect_rows(&simulation.database, "SELECT captures FROM incident", "1\n1\n");
	simulation_free(&simulation);
}
END_TEST

/* ---- baselines ---- */

START_TEST(a_baseline_is_history_alone)
{
	struct simulation simulation;
	struct control calm;

	simulation_put_on(&simulation, start_asleep(&simulation, WEB, "[baseline]\nevery = 10s\n", 1024), 0);
	calm = *simulation.kernel.objects.control;
	simulation_run(&simulation, 25 * SECOND);
	expect_rows(
		&simulation.database,
		"SELECT rule, state, trigger_mode, resource, cgroup, incident_id, " SINCE
		", ended_at - triggered_at, history_ns / 1000000000 FROM capture",
		"web|complete|baseline|NULL|NULL|NULL|10000|0|4\nweb|complete|baseline|NULL|NULL|NULL|20000|0|4\n");
	expect_rows(&simulation.database,
		    "SELECT capture_id, max(second), sum(samples) FROM sample GROUP BY capture_id",
		    "1|-1|188\n2|-1|188\n");
	expect_count(&simulation.database, "incident", 0);
	expect_count(&simulation.database, "usage", 0);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_CAPTURES), 0);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_BASELINES), 2);
	/* nothing more is recorded for it */
	ck_assert_uint_eq(simulation.kernel.objects.control->offcpu_min_ns, calm.offcpu_min_ns);
	ck_assert_uint_eq(simulation.kernel.objects.control->offcpu_slots_hz, calm.offcpu_slots_hz);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_baseline_has_no_capture_in_its_history)
{
	struct simulation simulation;

	simulation_put_on(
		&simulation,
		start_asleep(
			&simulation,
			"[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 4s\ncapture = 3s\ncooldown = 0s\n",
			"[baseline]\nevery = 10s\n", 1024),
		0);
	simulation_run(&simulation, 8 * SECOND);
	press(&simulation, "/web", 300);
	simulation_run(&simulation, 17 * SECOND);
	/* the capture ends at 12 s: the baseline that was due at 10 s comes at 16 s */
	expect_rows(&simulation.database, "SELECT trigger_mode, state, " SINCE " FROM capture",
		    "sampled|complete|9000\nbaseline|complete|16000\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_reload_turns_baselines_off_and_on)
{
	struct simulation simulation;

	simulation_put_on(&simulation, start_asleep(&simulation, WEB, "[baseline]\nevery = off\n", 1024), 0);
	simulation_run(&simulation, 60 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	simulation_write_settings(&simulation, "[baseline]\nevery = 10s\nkeep = 1min\n");
	/* the rule has had none since the start: it is due at once */
	simulation_run(&simulation, 5 * SECOND);
	expect_count(&simulation.database, "capture", 1);
	simulation_write_settings(&simulation, "[baseline]\nevery = 0\nkeep = 1h\n");
	simulation_run(&simulation, 60 * SECOND);
	expect_count(&simulation.database, "capture", 1);
	simulation_free(&simulation);
}
END_TEST

SUITE(recorder)
{
	Suite *suite = suite_create("recorder");
	TCase *one = simulation_case("one capture"), *history = simulation_case("history"),
	      *losses = simulation_case("losses"), *cooldown = simulation_case("cooldown"),
	      *several = simulation_case("several rules"), *processes = simulation_case("processes"),
	      *reloads = simulation_case("reloads"), *ends = simulation_case("ends"),
	      *baselines = simulation_case("baselines");

	tcase_add_test(one, a_capture_has_the_seconds_before_and_after_its_trigger);
	tcase_add_test(one, pressure_below_the_threshold_is_none);
	tcase_add_test(one, the_pressure_is_recorded_beside_the_samples);
	tcase_add_test(one, budgets_follow_the_captures);
	tcase_add_test(one, slots_of_a_daemon_that_was_killed_are_free);
	tcase_add_test(one, waits_are_recorded_and_those_that_have_not_ended);
	suite_add_tcase(suite, one);
	tcase_add_test(history, history_is_as_long_as_the_daemon_runs);
	tcase_add_test(history, history_does_not_reach_over_a_gap);
	tcase_add_test(history, a_machine_that_slept_has_its_history);
	tcase_add_test(history, a_ring_that_is_too_short_is_said_beforehand);
	suite_add_tcase(suite, history);
	tcase_add_test(losses, overwritten_slots_are_counted);
	tcase_add_test(losses, what_the_programs_lose_is_in_the_ledger);
	tcase_add_test(losses, samples_that_were_not_taken_are_counted);
	tcase_add_test(losses, what_recording_costs_is_in_the_capture);
	tcase_add_test(losses, time_that_the_kernel_does_not_count_is_not_zero);
	tcase_add_test(losses, a_capture_has_the_most_that_waited_and_for_how_long);
	tcase_add_test(losses, a_database_that_hangs_is_seen_in_the_queue);
	suite_add_tcase(suite, losses);
	tcase_add_test(cooldown, a_cooldown_hides_a_repeat);
	tcase_add_test(cooldown, worse_pressure_begins_a_capture_within_the_cooldown);
	tcase_add_test(cooldown, pressure_that_grows_for_ever_begins_three_more_captures);
	tcase_add_test(cooldown, a_trigger_within_its_own_capture_begins_none);
	tcase_add_test(cooldown, strangers_do_not_use_up_the_cooldown_of_a_rule);
	tcase_add_test(cooldown, strangers_cannot_have_captures_without_end);
	suite_add_tcase(suite, cooldown);
	tcase_add_test(several, two_rules_at_once_have_a_capture_each_of_their_own);
	tcase_add_test(several, a_rule_fires_while_another_one_is_captured);
	tcase_add_test(several, every_rule_that_matches_applies);
	tcase_add_test(several, cgroups_of_one_rule_have_a_capture_each);
	tcase_add_test(several, captures_beyond_the_limit_are_suppressed_and_said);
	tcase_add_test(several, a_rule_leaves_places_to_others);
	tcase_add_test(several, a_capture_leaves_memory_to_others);
	suite_add_tcase(suite, several);
	tcase_add_test(processes, a_target_that_ends_within_its_capture_is_in_it);
	tcase_add_test(processes, the_history_has_processes_that_ended_before);
	tcase_add_test(processes, a_process_id_that_is_used_again_is_another_process);
	tcase_add_test(processes, a_process_that_moves_into_the_cgroup_is_captured_from_then_on);
	tcase_add_test(processes, a_watch_without_a_target_begins_none);
	suite_add_tcase(suite, processes);
	tcase_add_test(reloads, a_capture_of_a_removed_rule_ends_as_usual);
	tcase_add_test(reloads, a_rule_that_changes_within_its_capture_changes_the_next_one);
	suite_add_tcase(suite, reloads);
	tcase_add_test(ends, a_daemon_that_ends_within_a_capture_keeps_it_as_interrupted);
	tcase_add_test(ends, a_capture_of_a_killed_daemon_is_marked_by_the_next_one);
	tcase_add_test(ends, a_database_that_hangs_loses_no_sample);
	tcase_add_test(ends, a_wall_clock_that_is_set_back_changes_no_span);
	suite_add_tcase(suite, ends);
	tcase_add_test(baselines, a_baseline_is_history_alone);
	tcase_add_test(baselines, a_baseline_has_no_capture_in_its_history);
	tcase_add_test(baselines, a_reload_turns_baselines_off_and_on);
	suite_add_tcase(suite, baselines);
	return suite;
}
