/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which groups of latencies are on, and when a rule on a latency fires: whose values count, within which window, how many there
 * have to be; that cooldowns and counters are those of other triggers; and what such a capture, the status and metrics have.
 */
#include "common/base/cleanup.h"
#include "consumer/watch/event_watches.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <unistd.h>

#define MS (SECOND / 1000)
#define REST "history = 4s\ncapture = 3s\ncooldown = 60s\n"
#define QUEUED "[rule queued]\ncomm = nginx\nlatency = runqueue.p99 > 20ms / 10s\n" REST
#define GROUP(group) (1U << LATENCY_##group)

/* So many events of this metric took so long, now, of this owner. */
static void measure(struct simulation *simulation, uint32_t metric, uint64_t owner, uint64_t ns,
		    uint64_t count)
{
	fake_kernel_measure(&simulation->kernel, simulation->now_ns, metric, owner, ns, count);
}

static struct simulated_process *run_in(struct simulation *simulation, uint32_t tgid, const char *comm,
					const char *cgroup)
{
	struct simulated_process *process = simulation_begin(simulation, tgid, comm, cgroup);

	simulation_put_on(simulation, process, 0);
	return process;
}

/* A daemon with these rules on programs that offer all groups, for 10 s, and a process nginx in /web. */
static struct simulated_process *start(struct simulation *simulation, const char *rules, const char *settings)
{
	struct simulated_process *nginx;

	simulation_make(simulation, rules, settings, 1024);
	simulation->kernel.objects.control->latency_loaded = LATENCY_ALL;
	simulation_make_cgroup(simulation, "/web");
	simulation_make_cgroup(simulation, "/other");
	simulation_start(simulation);
	nginx = run_in(simulation, 101, "nginx", "/web");
	simulation_run(simulation, 10 * SECOND);
	return nginx;
}

/* Those that are on. */
static uint32_t on(const struct simulation *simulation)
{
	return simulation->kernel.objects.control->latency;
}

#define SINCE "(triggered_at - 1700000000000000000) / 1000000"

static void expect_captures(struct simulation *simulation, const char *expected)
{
	expect_rows(
		&simulation->database,
		"SELECT rule, trigger_mode, cgroup, " SINCE
		", latency_metric || ' ' || latency_quantile FROM capture WHERE trigger_mode <> 'baseline' ORDER BY capture_id",
		expected);
}

/* ---- which groups are on ---- */

START_TEST(groups_are_on_while_a_rule_or_a_capture_wants_them)
{
	struct simulation simulation;
	int client;

	start(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\nprobes = block, lock\n", NULL);
	ck_assert_uint_eq(on(&simulation), GROUP(BLOCK) | GROUP(LOCK));
	/* that of a trigger comes with it */
	simulation_write_rules(&simulation,
			       "[rule a]\ncomm = nginx\nlatency = exec.p50 > 1s / 5s\nprobes = none\n");
	simulation_run(&simulation, 2 * SECOND);
	ck_assert_uint_eq(on(&simulation), GROUP(EXEC));
	simulation_write_rules(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\nprobes = none\n");
	simulation_run(&simulation, 2 * SECOND);
	ck_assert_uint_eq(on(&simulation), 0);
	client = simulation_connect(&simulation, "capture\tfor_ns=2000000000\tkinds=3\tprobes=1\tpids=101\n");
	simulation_run(&simulation, SECOND);
	ck_assert_uint_eq(on(&simulation), GROUP(RUNQUEUE));
	simulation_run(&simulation, 2 * SECOND);
	ck_assert_uint_eq(on(&simulation), 0);
	close(client);
	/* a rule that says nothing wants all */
	simulation_write_rules(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\n");
	simulation_run(&simulation, 2 * SECOND);
	ck_assert_uint_eq(on(&simulation), LATENCY_ALL);
	simulation_stop(&simulation);
	ck_assert_uint_eq(simulation.kernel.objects.control->latency, 0);
	simulation_start(&simulation);
	simulation_free(&simulation);
}
END_TEST

START_TEST(what_the_loader_does_not_offer_is_a_warning)
{
	struct simulation simulation;

	simulation_make(
		&simulation,
		"[rule a]\ncomm = x\nio.some = 1%\nprobes = block, lock\n"
		"[rule b]\ncomm = x\nlatency = exec.p50 > 1s / 7s\n[rule c]\ncomm = x\nio.some = 1%\n",
		NULL, 1024);
	simulation.kernel.objects.control->latency_loaded = GROUP(LOCK);
	simulation_start(&simulation);
	expect_logged(
		&simulation,
		"test.conf:1: rule a wants latencies of groups that the kernel programs do not measure: block; "
		"give them to bourdon-load --probes, if this kernel has them\n");
	expect_logged(&simulation,
		      "rule b wants latencies of groups that the kernel programs do not measure: exec;");
	expect_logged(&simulation,
		      "rule b: the window of exec.p50 is 10 s: latencies are counted in spans of 5 s\n");
	expect_not_logged(&simulation, "rule c wants");
	ck_assert_uint_eq(on(&simulation), GROUP(LOCK));
	simulation_free(&simulation);
}
END_TEST

/* ---- what fires ---- */

START_TEST(a_latency_begins_a_capture_at_the_end_of_an_epoch)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, QUEUED, NULL);

	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, MS, 980);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 20);
	simulation_run(&simulation, 4 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	simulation_run(&simulation, 6 * SECOND);
	expect_captures(&simulation, "queued|latency|/web|15000|runqueue p99\n");
	/* the bucket of 30 ms ends at 31.5 ms */
	expect_rows(
		&simulation.database,
		"SELECT resource, kind, stall_us, window_us, observed_us, latency_limit_ns, latency_observed_ns, latency_window_ns, "
		"state, (triggered_at - onset_at) / 1000000000 FROM capture",
		"NULL|NULL|NULL|NULL|NULL|20000000|31457280|10000000000|complete|10\n");
	expect_rows(
		&simulation.database, "SELECT triggers FROM rule",
		"[{\"metric\":\"runqueue\",\"quantile\":\"p99\",\"limit_ns\":20000000,\"window_ns\":10000000000}]\n");
	expect_rows(&simulation.database, "SELECT captures, resource FROM incident_summary", "1|runqueue\n");
	expect_logged(&simulation,
		      "rule queued fired: runqueue p99 31.5 ms > 20 ms in 10 s, of 1000 events (/web)\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_CAPTURES), 1);
	simulation_free(&simulation);
}
END_TEST

/* Too few events, too few of them long, others' events, and too short a time. */
START_TEST(what_does_not_fire)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, QUEUED, NULL), *other;

	other = run_in(&simulation, 102, "perl", "/other");
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 19);
	measure(&simulation, METRIC_RUNQUEUE, other->cgroup_id, 30 * MS, 1000);
	measure(&simulation, METRIC_RUNQUEUE, 0, 30 * MS, 1000);
	simulation_run(&simulation, 30 * SECOND);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, MS, 990);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 10);
	simulation_run(&simulation, 30 * SECOND);
	/* the limit is within this bucket */
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 20 * MS + 1, 1000);
	measure(&simulation, METRIC_LOCK, nginx->cgroup_id, 30 * MS, 1000);
	simulation_run(&simulation, 30 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	simulation_free(&simulation);
}
END_TEST

/* Epochs that the kernel's table has no more. The last one has to be long, too: what is over does not fire. */
START_TEST(a_window_may_be_longer_than_the_table)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(
		&simulation, "[rule a]\ncomm = nginx\nlatency = runqueue.p50 > 20ms / 1min\n" REST, NULL);

	for (unsigned int i = 0; i < 9; i++) {
		measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 2);
		simulation_run(&simulation, 5 * SECOND);
	}
	expect_count(&simulation.database, "capture", 0);
	/* 20 of 20 */
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 2);
	simulation_run(&simulation, 20 * SECOND);
	expect_captures(&simulation, "a|latency|/web|60000|runqueue p50\n");
	simulation_run(&simulation, 100 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 0);
	expect_count(&simulation.database, "capture", 1);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_cooldown_hides_latencies_of_the_same_cgroup_and_metric)
{
	struct simulation simulation;
	struct simulated_process *
		nginx = start(
		       &simulation,
		       "[rule queued]\ncomm = nginx\nlatency = runqueue.p99 > 20ms / 5s, lock.p99 > 1ms / 5s\n" REST,
		       NULL),
	       *other = run_in(&simulation, 102, "nginx", "/other");

	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	measure(&simulation, METRIC_RUNQUEUE, other->cgroup_id, 30 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	measure(&simulation, METRIC_LOCK, nginx->cgroup_id, 2 * MS, 100);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "queued|latency|/web|15000|runqueue p99\n"
				     "queued|latency|/other|25000|runqueue p99\n"
				     "queued|latency|/web|30000|lock p99\n");
	simulation_run(&simulation, 60 * SECOND);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 100);
	simulation_run(&simulation, 10 * SECOND);
	expect_rows(&simulation.database,
		    "SELECT capture_id, events FROM loss WHERE reason = 'watch-suppressed' AND events",
		    "4|1\n");
	simulation_free(&simulation);
}
END_TEST

/* None of the two alone has enough. */
START_TEST(a_rule_for_slices_or_the_system_adds_cgroups_up)
{
	static const char *const watches[] = { "slice", "system" }, *const expected[] = {
		"queued|latency|/web|20000|runqueue p99\n", "queued|latency|NULL|20000|runqueue p99\n"
	};

	for (size_t i = 0; i < ARRAY_SIZE(watches); i++) {
		struct simulation simulation;
		struct simulated_process *a, *b;
		char rules[256];

		snprintf(rules, sizeof(rules), QUEUED "watch = %s\n", watches[i]);
		start(&simulation, rules, NULL);
		simulation_make_cgroup(&simulation, "/web/a");
		simulation_make_cgroup(&simulation, "/web/b");
		a = run_in(&simulation, 102, "nginx", "/web/a");
		b = run_in(&simulation, 103, "nginx", "/web/b");
		simulation_run(&simulation, 5 * SECOND);
		measure(&simulation, METRIC_RUNQUEUE, a->cgroup_id, 30 * MS, 12);
		measure(&simulation, METRIC_RUNQUEUE, b->cgroup_id, 30 * MS, 12);
		simulation_run(&simulation, 10 * SECOND);
		expect_captures(&simulation, expected[i]);
		simulation_free(&simulation);
	}
}
END_TEST

/* Of the whole host, unless the rule names cgroups; a rule of all processes of the host has what nobody is told of, too. */
START_TEST(what_has_no_owner_is_of_the_whole_system)
{
	struct simulation simulation;
	struct simulated_process *nginx =
		start(&simulation,
		      "[rule disk]\ncomm = nginx\nlatency = block.p99 > 100ms / 5s\n" REST
		      "[rule own]\ncomm = nginx\ncgroup = /web\nlatency = block.p99 > 100ms / 5s\n" REST
		      "[rule irq]\ncomm = nginx\nlatency = softirq.p99 > 1ms / 5s\n" REST
		      "[rule all]\ncomm = *\nwatch = system\nlatency = lock.p99 > 1ms / 5s\n" REST,
		      NULL);

	measure(&simulation, METRIC_BLOCK, 4711, 200 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	measure(&simulation, METRIC_SOFTIRQ, 0, 2 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	measure(&simulation, METRIC_LOCK, 0, 2 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	/* writeback of the cgroup, whoever runs there */
	measure(&simulation, METRIC_BLOCK, nginx->cgroup_id, 200 * MS, 100);
	simulation_run(&simulation, 10 * SECOND);
	expect_captures(&simulation, "disk|latency|NULL|15000|block p99\n"
				     "irq|latency|NULL|20000|softirq p99\n"
				     "all|latency|NULL|25000|lock p99\n"
				     "own|latency|/web|30000|block p99\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_reload_keeps_the_cooldown_of_the_same_condition)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, QUEUED, NULL);

	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	simulation_write_rules(&simulation,
			       "[rule queued]\ncomm = nginx\ncpu.some = 99%\nlatency = exec.p50 > 1s / 5s\n"
			       "latency = runqueue.p99 > 20ms / 10s\n" REST);
	simulation_run(&simulation, 2 * SECOND);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_SUPPRESSED), 1);
	/* another limit is another condition */
	simulation_write_rules(&simulation,
			       "[rule queued]\ncomm = nginx\nlatency = runqueue.p99 > 10ms / 10s\n" REST);
	simulation_run(&simulation, 3 * SECOND);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 100);
	simulation_run(&simulation, 5 * SECOND);
	expect_rows(&simulation.database, "SELECT count(*) FROM capture WHERE trigger_mode = 'latency'",
		    "2\n");
	simulation_free(&simulation);
}
END_TEST

START_TEST(its_status_tells_of_latencies)
{
	struct simulation simulation;
	struct simulated_process *nginx = start(&simulation, QUEUED "probes = none\n", NULL);
	const struct histogram_tally bad = { .epoch = simulation.now_ns / HISTOGRAM_EPOCH_NS,
					     .events = 100,
					     .overflow = 30 };
	const char *answer;
	int client;

	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS, 100);
	fake_kernel_add_tally(&simulation.kernel, METRIC_RUNQUEUE, &bad);
	simulation_run(&simulation, 5 * SECOND);
	client = simulation_connect(&simulation, "status\n");
	simulation_settle(&simulation);
	answer = simulation_answer(client);
	ck_assert_ptr_nonnull(
		strstr(answer, "\nlatencies\ton=runqueue\toffered=runqueue, offcpu, block, lock, "));
	ck_assert_ptr_nonnull(
		strstr(answer, "\nlatency\tmetric=runqueue\tevents=200\tlost=30\tunpaired=0\tabsurd=0\n"));
	ck_assert_ptr_nonnull(strstr(
		answer,
		"\tlatency=runqueue.p99\tlimit_ns=20000000\twindow_us=10000000\ttrigger_mode=latency\tstate=cooldown\t"));
	ck_assert_ptr_nonnull(strstr(answer, "of the events of runqueue found no room"));
	close(client);
	simulation_free(&simulation);
}
END_TEST

/* ---- metrics ---- */

static char *text_of(const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_gt((int)getdelim(&text, &room, '\0', file), 0);
	return text;
}

START_TEST(metrics_sum_up_what_is_measured)
{
	struct simulation simulation;
	_cleanup_free_ char *text = NULL;
	struct simulated_process *nginx;
	char settings[512], path[256];
	struct own_latency *own;

	simulation_make(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\nprobes = runqueue, lock\n", NULL,
			1024);
	snprintf(path, sizeof(path), "%s/bourdon.prom", simulation.state_dir);
	snprintf(settings, sizeof(settings), "[metrics]\ntextfile = %s\ninterval = 1s\n", path);
	simulation_write_settings(&simulation, settings);
	simulation.kernel.objects.control->latency_loaded = LATENCY_ALL;
	simulation_make_cgroup(&simulation, "/web");
	simulation_start(&simulation);
	nginx = run_in(&simulation, 101, "nginx", "/web");
	simulation_run(&simulation, 10 * SECOND);
	measure(&simulation, METRIC_RUNQUEUE, nginx->cgroup_id, 1500, 7);
	measure(&simulation, METRIC_RUNQUEUE, 0, 30 * MS, 2);
	fake_kernel_add_tally(&simulation.kernel, METRIC_RUNQUEUE,
			      &(struct histogram_tally){ .epoch = simulation.now_ns / HISTOGRAM_EPOCH_NS,
							 .events = 5,
							 .overflow = 5,
							 .unpaired = 3,
							 .absurd = 1 });
	simulation_run(&simulation, 30 * SECOND);
	own = &simulation.counters.latencies[METRIC_RUNQUEUE];
	ck_assert_uint_eq(atomic_load(&own->lost), 5);
	ck_assert_uint_eq(atomic_load(&own->unpaired), 3);
	text = text_of(path);
	ck_assert_ptr_nonnull(
		strstr(text, "bourdon_latency_seconds_bucket{metric=\"runqueue\",le=\"1.024e-06\"} 0\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "bourdon_latency_seconds_bucket{metric=\"runqueue\",le=\"2.048e-06\"} 7\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "bourdon_latency_seconds_bucket{metric=\"runqueue\",le=\"0.016777216\"} 7\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "bourdon_latency_seconds_bucket{metric=\"runqueue\",le=\"0.033554432\"} 9\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "bourdon_latency_seconds_bucket{metric=\"runqueue\",le=\"+Inf\"} 9\n"));
	ck_assert_ptr_nonnull(strstr(text, "bourdon_latency_seconds_sum{metric=\"runqueue\"} 0.060010500\n"));
	ck_assert_ptr_nonnull(strstr(text, "bourdon_latency_seconds_count{metric=\"lock\"} 0\n"));
	ck_assert_ptr_nonnull(strstr(text, "bourdon_latency_lost_total{metric=\"runqueue\"} 5\n"));
	ck_assert_ptr_nonnull(strstr(text, "bourdon_latency_absurd_total{metric=\"runqueue\"} 1\n"));
	ck_assert_ptr_null(strstr(text, "metric=\"block\""));
	simulation_free(&simulation);
}
END_TEST

SUITE(latency_trigger)
{
	Suite *suite = suite_create("latency_trigger");
	TCase *tests = simulation_case("latency_trigger");

	tcase_add_test(tests, groups_are_on_while_a_rule_or_a_capture_wants_them);
	tcase_add_test(tests, what_the_loader_does_not_offer_is_a_warning);
	tcase_add_test(tests, a_latency_begins_a_capture_at_the_end_of_an_epoch);
	tcase_add_test(tests, what_does_not_fire);
	tcase_add_test(tests, a_window_may_be_longer_than_the_table);
	tcase_add_test(tests, a_cooldown_hides_latencies_of_the_same_cgroup_and_metric);
	tcase_add_test(tests, a_rule_for_slices_or_the_system_adds_cgroups_up);
	tcase_add_test(tests, what_has_no_owner_is_of_the_whole_system);
	tcase_add_test(tests, a_reload_keeps_the_cooldown_of_the_same_condition);
	tcase_add_test(tests, its_status_tells_of_latencies);
	tcase_add_test(tests, metrics_sum_up_what_is_measured);
	suite_add_tcase(suite, tests);
	return suite;
}
