/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the text of the metrics (tests/e2e/alerts.bats gives it to promtool), that the number of series has a bound, and that
 * the file is replaced in one step, follows the settings and goes with the daemon.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/version.h"
#include "consumer/store/metrics.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/stat.h>

static char *text_of(const struct metrics_facts *facts)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	metrics_text(facts, out);
	fclose(out);
	return text;
}

/* The text that begins with `start` begins with `expected`; shows where it does not. */
static void expect_lines(const char *text, const char *start, const char *expected)
{
	const char *at = strstr(text, start);
	size_t same = 0;

	ck_assert_msg(at != NULL, "no %s", start);
	while (expected[same] && at[same] == expected[same])
		same++;
	ck_assert_msg(!expected[same], "'%.60s', not '%.60s'", at + same, expected + same);
}

START_TEST(text_of_all_metrics)
{
	static const struct metrics_series series[] = {
		{ .rule = "web",
		  .resource = "cpu",
		  .cause = "neighbour",
		  .captures = 3,
		  .last_at = 1700000000123456789 },
		{ .rule = "a\"b\\c\n\x1b",
		  .resource = "io",
		  .cause = "device",
		  .captures = 1,
		  .last_at = 1700000001000000000 },
		{ .rule = "kills",
		  .resource = "",
		  .cause = "kill",
		  .captures = 2,
		  .last_at = 1700000002000000000 },
	};
	uint64_t losses[LOSS_REASONS] = { [LOSS_OVERWRITTEN] = 7 };
	uint64_t counters[OWN_COUNTERS] = { [OWN_ASKED] = 5,
					    [OWN_ASKED_REFUSED] = 1,
					    [OWN_RELOADS] = 2,
					    [OWN_JOURNAL_ENTRIES] = 8,
					    [OWN_SUPPRESSED] = 9 };
	struct own_counters own = { 0 };
	const struct program_costs costs = {
		.each = { { .name = { "offcpu_switch" }, .runs = 3, .run_ns = 1500, .missed = 2 } },
		.count = 1,
		.are_counted = true,
	};
	const struct metrics_facts facts = {
		.own = &own,
		.costs = &costs,
		.series = series,
		.series_count = 3,
		.losses = losses,
		.counters = counters,
		.has_psi = { [PSI_CPU] = true, [PSI_IRQ] = true },
		.psi = { [PSI_CPU] = { { 1500000, 0 }, { true, true } },
			 [PSI_IRQ] = { { 0, 2000001 }, { false, true } } },
		.averages = { [PSI_CPU] = { { 12.5, 3, 0.25 } }, [PSI_IRQ] = { { 0 }, { 1, 2, 3 } } },
		.used = { 2500000000, 13631488, 4500000000, -1 },
		.database_bytes = 1234567,
		.database_bytes_max = 256UL << 20,
		.started_at = 1690000000000000000,
	};
	_cleanup_free_ char *got = NULL;

	own_queue_note(&own, OWN_QUEUE_ONCPU, (struct own_level){ 40, 250000000 });
	own_queue_note(&own, OWN_QUEUE_ONCPU, (struct own_level){ 12, 2000000 });
	got = text_of(&facts);
	expect_lines(got, "# HELP bourdon_build_info",
		     "# HELP bourdon_build_info The version of bourdond; always 1.\n"
		     "# TYPE bourdon_build_info gauge\n"
		     "bourdon_build_info{version=\"" BOURDON_VERSION "\",abi=\"");
	expect_lines(
		got, "# HELP bourdon_start_time_seconds",
		"# HELP bourdon_start_time_seconds When bourdond began to run.\n"
		"# TYPE bourdon_start_time_seconds gauge\n"
		"bourdon_start_time_seconds 1690000000.000\n"
		"# HELP bourdon_captures_total Captures that were written, by the rule, the resource that fired and the verdict.\n"
		"# TYPE bourdon_captures_total counter\n"
		"bourdon_captures_total{rule=\"web\",resource=\"cpu\",cause=\"neighbour\"} 3\n"
		"bourdon_captures_total{rule=\"a\\\"b\\\\c\\\\x0a\\\\x1b\",resource=\"io\",cause=\"device\"} 1\n"
		"bourdon_captures_total{rule=\"kills\",resource=\"\",cause=\"kill\"} 2\n"
		"# HELP bourdon_capture_last_trigger_timestamp_seconds When the newest of these captures was triggered.\n"
		"# TYPE bourdon_capture_last_trigger_timestamp_seconds gauge\n"
		"bourdon_capture_last_trigger_timestamp_seconds{rule=\"web\",resource=\"cpu\",cause=\"neighbour\"} 1700000000.123\n"
		"bourdon_capture_last_trigger_timestamp_seconds{rule=\"a\\\"b\\\\c\\\\x0a\\\\x1b\",resource=\"io\",cause=\"device\"} 1700000001.000\n"
		"bourdon_capture_last_trigger_timestamp_seconds{rule=\"kills\",resource=\"\",cause=\"kill\"} 1700000002.000\n"
		"# HELP bourdon_capture_losses_total What the ledgers of captures say is missing, in the unit of the reason.\n"
		"# TYPE bourdon_capture_losses_total counter\n"
		"bourdon_capture_losses_total{reason=\"overwritten-slots\",unit=\"sample\"} 7\n");
	expect_lines(
		got, "# HELP bourdon_requests_total",
		"# HELP bourdon_requests_total Requests for captures and live seconds on the control socket.\n"
		"# TYPE bourdon_requests_total counter\n"
		"bourdon_requests_total{result=\"begun\"} 5\n"
		"bourdon_requests_total{result=\"refused\"} 1\n"
		"# HELP bourdon_reloads_total Times that a changed configuration was read.\n"
		"# TYPE bourdon_reloads_total counter\n"
		"bourdon_reloads_total{result=\"done\"} 2\n"
		"bourdon_reloads_total{result=\"refused\"} 0\n"
		"# HELP bourdon_journal_entries_total Captures that the journal took an entry of, and those that it did not.\n"
		"# TYPE bourdon_journal_entries_total counter\n"
		"bourdon_journal_entries_total{result=\"taken\"} 8\n"
		"bourdon_journal_entries_total{result=\"lost\"} 0\n"
		"# HELP bourdon_triggers_suppressed_total Triggers that began no capture: within a cooldown, or with too many captures under way.\n"
		"# TYPE bourdon_triggers_suppressed_total counter\n"
		"bourdon_triggers_suppressed_total 9\n"
		"# HELP bourdon_pressure_stall_seconds_total Time that threads of the whole system stalled, by PSI.\n"
		"# TYPE bourdon_pressure_stall_seconds_total counter\n"
		"bourdon_pressure_stall_seconds_total{resource=\"cpu\",kind=\"some\"} 1.500000\n"
		"bourdon_pressure_stall_seconds_total{resource=\"cpu\",kind=\"full\"} 0.000000\n"
		"bourdon_pressure_stall_seconds_total{resource=\"irq\",kind=\"full\"} 2.000001\n"
		"# HELP bourdon_pressure_ratio Share of the time that threads of the whole system stalled, by PSI.\n"
		"# TYPE bourdon_pressure_ratio gauge\n"
		"bourdon_pressure_ratio{resource=\"cpu\",kind=\"some\",window=\"10s\"} 0.1250\n"
		"bourdon_pressure_ratio{resource=\"cpu\",kind=\"some\",window=\"60s\"} 0.0300\n"
		"bourdon_pressure_ratio{resource=\"cpu\",kind=\"some\",window=\"300s\"} 0.0025\n"
		"bourdon_pressure_ratio{resource=\"cpu\",kind=\"full\",window=\"10s\"} 0.0000\n"
		"bourdon_pressure_ratio{resource=\"cpu\",kind=\"full\",window=\"60s\"} 0.0000\n"
		"bourdon_pressure_ratio{resource=\"cpu\",kind=\"full\",window=\"300s\"} 0.0000\n"
		"bourdon_pressure_ratio{resource=\"irq\",kind=\"full\",window=\"10s\"} 0.0100\n"
		"bourdon_pressure_ratio{resource=\"irq\",kind=\"full\",window=\"60s\"} 0.0200\n"
		"bourdon_pressure_ratio{resource=\"irq\",kind=\"full\",window=\"300s\"} 0.0300\n"
		"# HELP bourdon_cpu_seconds_total CPU time of bourdond; its children, which find names, are in that of the unit.\n"
		"# TYPE bourdon_cpu_seconds_total counter\n"
		"bourdon_cpu_seconds_total 2.5\n"
		"# HELP bourdon_resident_memory_bytes Memory of bourdond.\n"
		"# TYPE bourdon_resident_memory_bytes gauge\n"
		"bourdon_resident_memory_bytes 13631488\n"
		"# HELP bourdon_unit_cpu_seconds_total CPU time of bourdond's unit, children included.\n"
		"# TYPE bourdon_unit_cpu_seconds_total counter\n"
		"bourdon_unit_cpu_seconds_total 4.5\n"
		"# HELP bourdon_database_bytes Size of the database and its log.\n"
		"# TYPE bourdon_database_bytes gauge\n"
		"bourdon_database_bytes 1234567\n"
		"# HELP bourdon_database_limit_bytes Size at which the oldest captures are removed: max_size.\n"
		"# TYPE bourdon_database_limit_bytes gauge\n"
		"bourdon_database_limit_bytes 268435456\n"
		"# HELP bourdon_queue_depth What waits for bourdond in each of its queues.\n"
		"# TYPE bourdon_queue_depth gauge\n"
		"bourdon_queue_depth{queue=\"oncpu\"} 12\n"
		"bourdon_queue_depth{queue=\"offcpu\"} 0\n"
		"bourdon_queue_depth{queue=\"events\"} 0\n"
		"bourdon_queue_depth{queue=\"jobs\"} 0\n"
		"# HELP bourdon_queue_depth_most The most that has waited in it since the start.\n"
		"# TYPE bourdon_queue_depth_most gauge\n"
		"bourdon_queue_depth_most{queue=\"oncpu\"} 40\n"
		"bourdon_queue_depth_most{queue=\"offcpu\"} 0\n"
		"bourdon_queue_depth_most{queue=\"events\"} 0\n"
		"bourdon_queue_depth_most{queue=\"jobs\"} 0\n"
		"# HELP bourdon_queue_lag_seconds How late the rings were drained, or how long the oldest job of the worker thread waited.\n"
		"# TYPE bourdon_queue_lag_seconds gauge\n"
		"bourdon_queue_lag_seconds{queue=\"oncpu\"} 0.002\n"
		"bourdon_queue_lag_seconds{queue=\"offcpu\"} 0\n"
		"bourdon_queue_lag_seconds{queue=\"jobs\"} 0\n"
		"# HELP bourdon_queue_lag_most_seconds The longest since the start.\n"
		"# TYPE bourdon_queue_lag_most_seconds gauge\n"
		"bourdon_queue_lag_most_seconds{queue=\"oncpu\"} 0.25\n"
		"bourdon_queue_lag_most_seconds{queue=\"offcpu\"} 0\n"
		"bourdon_queue_lag_most_seconds{queue=\"jobs\"} 0\n"
		"# HELP bourdon_program_missed_runs_total Runs of in-kernel programs that the kernel left out.\n"
		"# TYPE bourdon_program_missed_runs_total counter\n"
		"bourdon_program_missed_runs_total{program=\"offcpu_switch\"} 2\n"
		"# HELP bourdon_program_runs_total Runs of in-kernel programs while kernel.bpf_stats_enabled is 1.\n"
		"# TYPE bourdon_program_runs_total counter\n"
		"bourdon_program_runs_total{program=\"offcpu_switch\"} 3\n"
		"# HELP bourdon_program_seconds_total What these runs took.\n"
		"# TYPE bourdon_program_seconds_total counter\n"
		"bourdon_program_seconds_total{program=\"offcpu_switch\"} 0.000001500\n");
	ck_assert_ptr_null(strstr(got, "bourdon_unit_memory_bytes"));
}
END_TEST

/* Instead of zeros. */
START_TEST(programs_that_the_kernel_does_not_count)
{
	const uint64_t losses[LOSS_REASONS] = { 0 }, counters[OWN_COUNTERS] = { 0 };
	const struct program_costs costs = { .each = { { .name = { "offcpu_switch" }, .runs = 3 } },
					     .count = 1 };
	const struct own_counters own = { 0 };
	const struct metrics_facts facts = {
		.own = &own, .costs = &costs, .losses = losses, .counters = counters
	};
	_cleanup_free_ char *got = text_of(&facts);

	ck_assert_ptr_nonnull(
		strstr(got, "bourdon_program_missed_runs_total{program=\"offcpu_switch\"} 0\n"));
	ck_assert_ptr_null(strstr(got, "bourdon_program_runs_total"));
	ck_assert_ptr_null(strstr(got, "bourdon_program_seconds_total"));
}
END_TEST

START_TEST(averages)
{
	double got[PSI_KINDS][METRICS_AVERAGES] = { 0 };

	ck_assert_int_eq(metrics_parse_averages("some avg10=1.50 avg60=0.25 avg300=0.00 total=5\n"
						"full avg10=0.10 avg60=2.00 avg300=99.99 total=4\n",
						got),
			 0);
	ck_assert_double_eq_tol(got[PSI_SOME][0], 1.5, 1e-9);
	ck_assert_double_eq_tol(got[PSI_SOME][1], 0.25, 1e-9);
	ck_assert_double_eq_tol(got[PSI_FULL][2], 99.99, 1e-9);
	ck_assert_int_eq(metrics_parse_averages("full avg10=0.10 avg60=2.00 avg300=1.00 total=4\n", got), 0);
	ck_assert_int_eq(metrics_parse_averages("some avg10=x total=5\n", got), -EBADMSG);
}
END_TEST

START_TEST(own_cgroup)
{
	char cgroup[OWN_CGROUP_BYTES];

	own_cgroup_parse("1:cpu:/x\n0::/system.slice/bourdond.service\n", cgroup);
	ck_assert_str_eq(cgroup, "/system.slice/bourdond.service");
	own_cgroup_parse("0::/system.slice/bourdond.service", cgroup);
	ck_assert_str_eq(cgroup, "/system.slice/bourdond.service");
	/* a daemon that was started by hand shares its cgroup with others */
	own_cgroup_parse("0::/user.slice/user-0.slice/session-1.scope\n", cgroup);
	ck_assert_str_eq(cgroup, "");
	own_cgroup_parse("10::/x.service\n", cgroup);
	ck_assert_str_eq(cgroup, "");
	own_cgroup_parse("", cgroup);
	ck_assert_str_eq(cgroup, "");
}
END_TEST

/* ---- the file ---- */

struct host {
	char *directory;
	struct settings settings;
	struct own_usage usage;
	struct own_counters counters;
	struct kernel_objects kernel;
	struct metrics metrics;
};

static void host_make(struct host *host)
{
	*host = (struct host){ .directory = directory_make(), .kernel.directory_fd = -EBADF };
	snprintf(host->settings.metrics_file, sizeof(host->settings.metrics_file), "%s/b.prom",
		 host->directory);
	host->settings.metrics_ns = 15 * CLOCK_SECOND_NS;
	own_usage_open(&host->usage);
	metrics_open(&host->metrics, host->directory, &host->kernel, &host->usage, &host->counters,
		     TRIGGERED_AT);
}

static void host_free(struct host *host)
{
	metrics_close(&host->metrics);
	own_usage_close(&host->usage);
	directory_remove(host->directory);
	free(host->directory);
}

/* The caller frees; NULL: there is no such file. */
static char *file_text(const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	if (file)
		ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, file), 0);
	else
		free(TAKE_PTR(text));
	return text;
}

static void add(struct host *host, const char *rule, enum psi_resource resource, enum verdict_kind verdict)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	const struct resolved resolved = { .unresolved = 2 };

	snprintf(capture->trigger.rule, sizeof(capture->trigger.rule), "%s", rule);
	capture->trigger.psi.resource = resource;
	capture->losses[LOSS_TORN] = 1;
	metrics_add(&host->metrics, capture, &resolved, verdict);
}

START_TEST(file_follows_the_settings_and_goes_with_the_daemon)
{
	SKIP_IF(no_pressure());
	_cleanup_free_ char *first = NULL, *second = NULL, *other = NULL;
	char path[sizeof(((struct settings *)0)->metrics_file)];
	struct host host;
	struct stat at;

	host_make(&host);
	strcpy(path, host.settings.metrics_file);
	ck_assert_uint_eq(host.metrics.due_ns, 0);
	umask(027);
	metrics_follow(&host.metrics, &host.settings, TRIGGERED);
	ck_assert_uint_eq(host.metrics.due_ns, TRIGGERED);
	metrics_write(&host.metrics, TRIGGERED);
	HOLDS(host.metrics.due_ns > TRIGGERED + 10 * CLOCK_SECOND_NS);
	first = file_text(path);
	ck_assert_ptr_nonnull(strstr(first, "\nbourdon_resident_memory_bytes "));
	ck_assert_ptr_nonnull(strstr(first, "{resource=\"memory\",kind=\"full\",window=\"300s\"} "));
	ck_assert_ptr_null(strstr(first, "bourdon_captures_total"));
	/* the collector is another user */
	ck_assert_int_eq(stat(path, &at), 0);
	ck_assert_uint_eq(at.st_mode & 07777, 0644);
	add(&host, "web", PSI_CPU, VERDICT_NEIGHBOUR);
	add(&host, "web", PSI_CPU, VERDICT_NEIGHBOUR);
	add(&host, "web", PSI_CPU, VERDICT_OWN_THREADS);
	metrics_write(&host.metrics, TRIGGERED);
	second = file_text(path);
	ck_assert_ptr_nonnull(strstr(second, "{rule=\"web\",resource=\"cpu\",cause=\"neighbour\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(second, "{rule=\"web\",resource=\"cpu\",cause=\"own threads\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(second, "{reason=\"torn-slots\",unit=\"sample\"} 3\n"));
	ck_assert_ptr_nonnull(strstr(second, "{reason=\"frames-unresolved\",unit=\"frame\"} 6\n"));
	/* another file: the one before would say for ever what was then */
	snprintf(host.settings.metrics_file, sizeof(host.settings.metrics_file), "%s/c.prom", host.directory);
	metrics_follow(&host.metrics, &host.settings, TRIGGERED);
	ck_assert_int_ne(access(path, F_OK), 0);
	metrics_write(&host.metrics, TRIGGERED);
	other = file_text(host.settings.metrics_file);
	ck_assert_ptr_nonnull(other);
	metrics_close(&host.metrics);
	ck_assert_int_ne(access(host.settings.metrics_file, F_OK), 0);
	/* nor is anything else left */
	ck_assert_int_eq(rmdir(host.directory), 0);
	ck_assert_int_eq(mkdir(host.directory, 0700), 0);
	host_free(&host);
}
END_TEST

START_TEST(off_writes_nothing)
{
	struct host host;

	host_make(&host);
	metrics_follow(&host.metrics, &host.settings, TRIGGERED);
	metrics_write(&host.metrics, TRIGGERED);
	host.settings.metrics_file[0] = '\0';
	metrics_follow(&host.metrics, &host.settings, TRIGGERED);
	ck_assert_uint_eq(host.metrics.due_ns, 0);
	ck_assert_int_eq(rmdir(host.directory), 0);
	ck_assert_int_eq(mkdir(host.directory, 0700), 0);
	host_free(&host);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_counted_and_logged_once)
{
	_cleanup_free_ char *said = NULL;
	struct host host;
	int saved;

	host_make(&host);
	snprintf(host.settings.metrics_file, sizeof(host.settings.metrics_file), "%s/missing/b.prom",
		 host.directory);
	metrics_follow(&host.metrics, &host.settings, TRIGGERED);
	saved = log_divert();
	metrics_write(&host.metrics, TRIGGERED);
	metrics_write(&host.metrics, TRIGGERED);
	said = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(said, "cannot write metrics to "));
	ck_assert_ptr_null(strstr(strstr(said, "cannot write metrics to ") + 1, "cannot write metrics to "));
	ck_assert_uint_eq(own_counted(&host.counters, OWN_METRICS_LOST), 2);
	/* it is tried again */
	HOLDS(host.metrics.due_ns > TRIGGERED);
	host_free(&host);
}
END_TEST

START_TEST(series_have_a_bound)
{
	struct host host;
	uint64_t more = 0;

	host_make(&host);
	for (unsigned int i = 0; i < METRICS_SERIES_MAX + 100; i++) {
		char rule[32];

		snprintf(rule, sizeof(rule), "rule-%u", i);
		add(&host, rule, PSI_CPU, i & 1 ? VERDICT_NEIGHBOUR : VERDICT_DEVICE);
	}
	ck_assert_uint_eq(host.metrics.series_count, METRICS_SERIES_MAX + 2);
	for (size_t i = METRICS_SERIES_MAX; i < host.metrics.series_count; i++) {
		ck_assert_str_eq(host.metrics.series[i].rule, "(more)");
		more += host.metrics.series[i].captures;
	}
	ck_assert_uint_eq(more, 100);
	host_free(&host);
}
END_TEST

SUITE(metrics)
{
	Suite *suite = suite_create("metrics");
	TCase *words = tcase_create("text"), *file = tcase_create("file");

	tcase_add_test(words, text_of_all_metrics);
	tcase_add_test(words, averages);
	tcase_add_test(words, programs_that_the_kernel_does_not_count);
	tcase_add_test(words, own_cgroup);
	tcase_add_test(file, file_follows_the_settings_and_goes_with_the_daemon);
	tcase_add_test(file, off_writes_nothing);
	tcase_add_test(file, a_file_that_cannot_be_written_is_counted_and_logged_once);
	tcase_add_test(file, series_have_a_bound);
	suite_add_tcase(suite, words);
	suite_add_tcase(suite, file);
	return suite;
}
