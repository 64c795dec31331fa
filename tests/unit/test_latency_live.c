/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that whoever watches latencies has its groups measured for as long as it stays, and gets what each interval has; that what
 * bourdond says of an interval is what `bourdon latency --live` reads; and that a reader takes nothing else for it.
 */
#include "common/base/cleanup.h"
#include "common/protocol/latency_line.h"
#include "consumer/store/latency_rows.h"
#include "consumer/worker/latency_lines.h"
#include "report/latency/latency_lines.h"
#include "tests/unit/helpers.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MS (SECOND / 1000)
#define EPOCH HISTOGRAM_EPOCH_NS
#define GROUP(group) (1U << LATENCY_##group)

/* ---- who watches ---- */

/* A daemon on programs that offer all groups but `fork`, for 10 s, and a process nginx in /web. */
static struct simulated_process *start(struct simulation *simulation, const char *rules)
{
	struct simulated_process *nginx;

	simulation_make(simulation, rules, NULL, 1024);
	simulation->kernel.objects.control->latency_loaded = LATENCY_ALL & ~GROUP(FORK);
	simulation_make_cgroup(simulation, "/web");
	simulation_start(simulation);
	nginx = simulation_begin(simulation, 101, "nginx", "/web");
	simulation_put_on(simulation, nginx, 0);
	simulation_run(simulation, 10 * SECOND);
	return nginx;
}

static uint32_t on(const struct simulation *simulation)
{
	return simulation->kernel.objects.control->latency;
}

static int watch(struct simulation *simulation, const char *groups)
{
	char line[128];
	int client;

	snprintf(line, sizeof(line), LATENCY_WATCH "\tgroups=%s\n", groups);
	client = simulation_connect(simulation, line);
	simulation_run(simulation, SECOND / 2);
	return client;
}

/* To the next half second of an epoch. */
static void run_to_epoch(struct simulation *simulation)
{
	simulation_run(simulation, EPOCH - simulation->now_ns % EPOCH + SECOND / 2);
}

/* A second later the interval that has ended was read, named and said. */
static struct latency_interval hear(struct simulation *simulation, int client)
{
	struct latency_interval interval;
	_cleanup_free_ char *text = NULL;

	simulation_run(simulation, 2 * SECOND);
	text = strdup(simulation_answer(client));
	ck_assert_int_eq(latency_lines_read(text, &interval), 0);
	ck_assert_uint_eq(interval.malformed, 0);
	return interval;
}

static const struct latency_metric *metric_of(const struct latency_interval *interval, const char *name)
{
	for (uint32_t i = 0; i < interval->latencies.metrics_count; i++)
		if (!strcmp(interval->latencies.metrics[i].metric, name))
			return &interval->latencies.metrics[i];
	return NULL;
}

static int64_t count_of(const struct latency_interval *interval, const char *name, enum latency_span span)
{
	const struct latency_metric *metric = metric_of(interval, name);

	return metric && metric->labels_count ? metric->labels[0].spans[span].count : 0;
}

START_TEST(groups_are_on_for_as_long_as_somebody_watches)
{
	struct simulation simulation;
	int first, second;

	start(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\nprobes = exec\n");
	ck_assert_uint_eq(on(&simulation), GROUP(EXEC));
	first = watch(&simulation, "block, lock");
	ck_assert_uint_eq(on(&simulation), GROUP(EXEC) | GROUP(BLOCK) | GROUP(LOCK));
	second = watch(&simulation, "lock,fork");
	ck_assert_uint_eq(on(&simulation), GROUP(EXEC) | GROUP(BLOCK) | GROUP(LOCK));
	expect_logged(&simulation, " watches latencies\n");
	close(first);
	simulation_run(&simulation, SECOND / 2);
	ck_assert_uint_eq(on(&simulation), GROUP(EXEC) | GROUP(LOCK));
	/* another request of it changes nothing; it has gone then, too */
	close(second);
	simulation_run(&simulation, SECOND / 2);
	ck_assert_uint_eq(on(&simulation), GROUP(EXEC));
	first = watch(&simulation, "all");
	ck_assert_uint_eq(on(&simulation), LATENCY_ALL & ~GROUP(FORK));
	simulation_stop(&simulation);
	ck_assert_uint_eq(simulation.kernel.objects.control->latency, 0);
	ck_assert_ptr_nonnull(strstr(simulation_answer(first), "interrupted\n"));
	close(first);
	simulation_start(&simulation);
	simulation_free(&simulation);
}
END_TEST

START_TEST(what_cannot_be_measured_is_refused)
{
	static const struct {
		const char *groups, *why;
	} cases[] = {
		{ "fork", "refused\twhy=the kernel programs do not measure these latencies;" },
		{ "none", "refused\twhy=the kernel programs do not measure these latencies;" },
		{ "disk", "refused\twhy=the request names no groups of latencies\n" },
		{ "", "refused\twhy=the request names no groups of latencies\n" },
	};
	struct simulation simulation;

	start(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\nprobes = none\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int client = watch(&simulation, cases[i].groups);

		ck_assert_ptr_nonnull(strstr(simulation_answer(client), cases[i].why));
		ck_assert_uint_eq(on(&simulation), 0);
		close(client);
	}
	simulation_free(&simulation);
}
END_TEST

START_TEST(each_interval_has_what_was_measured_in_it)
{
	struct simulation simulation;
	struct simulated_process *nginx =
		start(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\nprobes = none\n");
	const uint64_t owner = nginx->cgroup_id;
	int client;

	run_to_epoch(&simulation);
	client = watch(&simulation, "runqueue");
	fake_kernel_measure(&simulation.kernel, simulation.now_ns, METRIC_RUNQUEUE, owner, 30 * MS, 7);
	/* of a group that is off */
	fake_kernel_measure(&simulation.kernel, simulation.now_ns, METRIC_LOCK, owner, 30 * MS, 7);
	run_to_epoch(&simulation);
	fake_kernel_measure(&simulation.kernel, simulation.now_ns, METRIC_RUNQUEUE, owner, 2 * MS, 50);
	for (int i = 0; i < 3; i++) {
		static const int64_t expected[][2] = { { 0, 7 }, { 7, 50 }, { 50, 0 } };
		_cleanup_latency_interval_ struct latency_interval interval = hear(&simulation, client);
		const struct latency_metric *metric = metric_of(&interval, "runqueue");

		ck_assert_int_eq(count_of(&interval, "runqueue", LATENCY_BEFORE), expected[i][0]);
		ck_assert_int_eq(count_of(&interval, "runqueue", LATENCY_DURING), expected[i][1]);
		ck_assert_ptr_null(metric_of(&interval, "lock"));
		ck_assert_str_eq(metric->labels[0].label, "/web");
		ck_assert_int_eq(interval.to_at - interval.from_at, (int64_t)EPOCH);
		/* it was off for the first part */
		ck_assert(metric->measured[LATENCY_DURING].is_known);
		ck_assert_int_eq(metric->measured[LATENCY_BEFORE].is_known, i > 0);
		ck_assert_int_eq(metric->measured[LATENCY_DURING].to_at, interval.to_at);
		ck_assert_int_eq(metric->measured[LATENCY_DURING].from_at > interval.from_at, i == 0);
		ck_assert_int_eq(metric->measured[LATENCY_DURING].events, expected[i][1]);
		run_to_epoch(&simulation);
	}
	expect_count(&simulation.database, "histogram_row", 0);
	close(client);
	simulation_free(&simulation);
}
END_TEST

START_TEST(what_was_measured_already_is_shown_at_once)
{
	struct simulation simulation;
	struct simulated_process *nginx =
		start(&simulation, "[rule a]\ncomm = nginx\nio.some = 1%\nprobes = runqueue\n");
	_cleanup_latency_interval_ struct latency_interval interval = { 0 };
	int client;

	run_to_epoch(&simulation);
	fake_kernel_measure(&simulation.kernel, simulation.now_ns, METRIC_RUNQUEUE, nginx->cgroup_id, 30 * MS,
			    7);
	run_to_epoch(&simulation);
	client = watch(&simulation, "runqueue,exec");
	interval = hear(&simulation, client);
	ck_assert_int_eq(count_of(&interval, "runqueue", LATENCY_DURING), 7);
	ck_assert_ptr_null(metric_of(&interval, "exec")); /* it was off */
	ck_assert_str_eq(simulation_answer(client), "");
	close(client);
	simulation_free(&simulation);
}
END_TEST

/* ---- what is said ---- */

#define WALL_NS 1700000000000000000LL

static struct latency_value values[] = {
	{ .key = { .metric = METRIC_RUNQUEUE, .owner = 7, .bucket = 200 }, .span = 1, .count = 2, .sum = 9 },
	{ .key = { .metric = METRIC_RUNQUEUE, .owner = 7, .bucket = 100 }, .span = 1, .count = 5, .sum = 8 },
	{ .key = { .metric = METRIC_RUNQUEUE, .bucket = 100 }, .span = 0, .count = 3, .sum = 7 },
	{ .key = { .metric = METRIC_LOCK, .detail = LOCK_MUTEX, .object = 5, .bucket = 90 },
	  .span = 1,
	  .count = 1,
	  .sum = 4 },
};
static struct latency_owner owners[] = { { 7, "web\t\033[31m.service" } };
static char function[] = "do_unlinkat";
static struct latency_caller callers[] = { { 5, function } };

static struct latency said(void)
{
	return (struct latency){
		.groups = GROUP(RUNQUEUE) | GROUP(LOCK),
		.since_ns = { [LATENCY_LOCK] = 100 * EPOCH + SECOND },
		.before_ns = 99 * EPOCH,
		.from_ns = 100 * EPOCH,
		.until_ns = 101 * EPOCH,
		.values = values,
		.values_count = ARRAY_SIZE(values),
		.events = { [1] = { [METRIC_RUNQUEUE] = { .events = 8,
							  .lost = 1,
							  .unpaired = 2,
							  .absurd = 3 } } },
		.owners = owners,
		.owners_count = 1,
		.callers = callers,
		.callers_count = 1,
	};
}

START_TEST(what_is_said_is_what_is_read)
{
	const struct latency latency = said();
	_cleanup_free_ char *text = latency_lines(&latency, WALL_NS);
	_cleanup_latency_interval_ struct latency_interval interval = { 0 };
	const struct latency_metric *runqueue, *lock;

	ck_assert_int_eq(latency_lines_read(text, &interval), 0);
	ck_assert_uint_eq(interval.malformed, 0);
	ck_assert_int_eq(interval.from_at, WALL_NS + 100 * (int64_t)EPOCH);
	ck_assert_int_eq(interval.to_at, WALL_NS + 101 * (int64_t)EPOCH);
	runqueue = metric_of(&interval, "runqueue");
	lock = metric_of(&interval, "lock");
	ck_assert_uint_eq(runqueue->labels_count, 2);
	ck_assert_str_eq(runqueue->labels[0].label, "other");
	ck_assert_int_eq(runqueue->labels[0].spans[LATENCY_BEFORE].count, 3);
	ck_assert_str_eq(runqueue->labels[1].label, "web\t\033[31m.service");
	ck_assert_int_eq(runqueue->labels[1].spans[LATENCY_DURING].count, 7);
	ck_assert_int_eq(runqueue->labels[1].spans[LATENCY_DURING].sum, 17);
	ck_assert_uint_eq(runqueue->labels[1].spans[LATENCY_DURING].buckets_count, 2);
	ck_assert_int_eq(runqueue->labels[1].spans[LATENCY_DURING].p50, (int64_t)bucket_begins(101));
	ck_assert_int_eq(runqueue->labels[1].spans[LATENCY_DURING].most, (int64_t)bucket_begins(201));
	ck_assert_int_eq(runqueue->measured[LATENCY_DURING].lost, 1);
	ck_assert_int_eq(runqueue->measured[LATENCY_DURING].absurd, 3);
	ck_assert(runqueue->measured[LATENCY_DURING].is_partial);
	ck_assert_str_eq(lock->labels[0].label, "mutex do_unlinkat");
	ck_assert_int_eq(lock->measured[LATENCY_DURING].from_at, interval.from_at + (int64_t)SECOND);
	ck_assert(!lock->measured[LATENCY_BEFORE].is_known);
}
END_TEST

START_TEST(an_interval_is_of_bounded_size)
{
	static struct latency_value many[LATENCY_ROWS_MAX];
	static struct latency_owner of_many[LATENCY_ROWS_MAX];
	static char names[LATENCY_ROWS_MAX][1200];
	struct latency latency = said();
	_cleanup_latency_interval_ struct latency_interval interval = { 0 };
	_cleanup_free_ char *text = NULL;
	int64_t told = 0;

	for (uint32_t i = 0; i < LATENCY_ROWS_MAX; i++) {
		memset(names[i], 'x', sizeof(names[i]) - 1);
		snprintf(names[i], 8, "%07u", i);
		names[i][7] = 'x';
		of_many[i] = (struct latency_owner){ i + 1, names[i] };
		many[i] = (struct latency_value){
			.key = { .metric = METRIC_RUNQUEUE, .owner = i + 1, .bucket = 9 },
			.span = 1,
			.count = 1
		};
	}
	latency.values = many;
	latency.owners = of_many;
	latency.values_count = latency.owners_count = LATENCY_ROWS_MAX;
	text = latency_lines(&latency, WALL_NS);
	ck_assert_uint_le(strlen(text), LATENCY_BYTES_MAX + 4096);
	ck_assert_int_eq(latency_lines_read(text, &interval), 0);
	for (uint32_t i = 0; i < interval.latencies.metrics[0].labels_count; i++)
		told += interval.latencies.metrics[0].labels[i].spans[LATENCY_DURING].count;
	ck_assert_int_gt(told, 1000);
	ck_assert_int_eq(told + interval.left_out, LATENCY_ROWS_MAX);
}
END_TEST

/* ---- what is no interval ---- */

#define BUCKET "bucket\tmetric=lock\tlabel=a\tspan=during\tbucket=9\tcount=2\tsum=3\n"
#define MEASURED                                                                                             \
	"measured\tmetric=lock\tspan=during\tfrom_at=1\tto_at=2\twanted_ns=1\tevents=2\tlost=0\tunpaired=0\tabsurd=0\n"
#define INTERVAL "interval\tfrom_at=1\tto_at=2\tleft_out=0\n"

static const struct {
	const char *text;
	int result;
	uint32_t metrics, malformed;
} texts[] = {
	{ MEASURED BUCKET INTERVAL, 0, 1, 0 },
	{ INTERVAL, 0, 0, 0 },
	{ "missed\tintervals=3\n" INTERVAL, 0, 0, 0 },
	{ "", -EPROTO, 0, 0 },
	{ BUCKET, -EPROTO, 0, 0 },
	{ "interval\n", -EPROTO, 0, 0 },
	{ "interval\tfrom_at=1\tto_at=-2\tleft_out=0\n", -EPROTO, 0, 0 },
	{ "interval\tfrom_at=1\tto_at=99999999999999999999\tleft_out=0\n", -EPROTO, 0, 0 },
	/* lines that are left out */
	{ "bucket\n" INTERVAL, 0, 0, 1 },
	{ "bucket\tmetric\n" INTERVAL, 0, 0, 1 },
	{ "other\ta=b\n" INTERVAL, 0, 0, 1 },
	{ "missed\tintervals=x\n" INTERVAL, 0, 0, 1 },
	{ "bucket\tmetric=lock\tspan=during\tbucket=9\tcount=2\tsum=3\n" INTERVAL, 0, 0, 1 },
	{ "bucket\tmetric=lock\tlabel=a\tspan=during\tbucket=x\tcount=2\tsum=3\n" INTERVAL, 0, 0, 1 },
	{ "bucket\tmetric=lock\tlabel=a\tspan=during\tbucket=9\tcount=-2\tsum=3\n" INTERVAL, 0, 0, 1 },
	/* as in a database, what bourdond would not write says nothing */
	{ "bucket\tmetric=lock\tlabel=a\tspan=after\tbucket=9\tcount=2\tsum=3\n" INTERVAL, 0, 0, 0 },
	{ "bucket\tmetric=lock\tlabel=a\tspan=during\tbucket=511\tcount=2\tsum=3\n" INTERVAL, 0, 0, 0 },
	{ "measured\tmetric=lock\tspan=during\n" INTERVAL, 0, 0, 1 },
};

START_TEST(hostile_lines)
{
	_cleanup_latency_interval_ struct latency_interval interval = { 0 };
	_cleanup_free_ char *text = strdup(texts[_i].text);

	ck_assert_int_eq(latency_lines_read(text, &interval), texts[_i].result);
	ck_assert_uint_eq(interval.latencies.metrics_count, texts[_i].metrics);
	if (!texts[_i].result)
		ck_assert_uint_eq(interval.malformed, texts[_i].malformed);
	ck_assert_uint_eq(interval.missed, strncmp(texts[_i].text, "missed\tintervals=3", 18) ? 0 : 3);
}
END_TEST

SUITE(latency_live)
{
	Suite *suite = suite_create("latency_live");
	TCase *watched = simulation_case("watched"), *said_of_it = tcase_create("said"),
	      *read = tcase_create("read");

	tcase_add_test(watched, groups_are_on_for_as_long_as_somebody_watches);
	tcase_add_test(watched, what_cannot_be_measured_is_refused);
	tcase_add_test(watched, each_interval_has_what_was_measured_in_it);
	tcase_add_test(watched, what_was_measured_already_is_shown_at_once);
	tcase_add_test(said_of_it, what_is_said_is_what_is_read);
	tcase_add_test(said_of_it, an_interval_is_of_bounded_size);
	tcase_add_loop_test(read, hostile_lines, 0, ARRAY_SIZE(texts));
	suite_add_tcase(suite, watched);
	suite_add_tcase(suite, said_of_it);
	suite_add_tcase(suite, read);
	return suite;
}
