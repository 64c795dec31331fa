/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the rows of a committed capture are what the capture holds: samples, stacks, processes, pressure,
 * usage and losses, and that the views add them up.
 */
#include "common/base/shared_text.h"
#include "common/symbolizer/runtime_sign.h"
#include "consumer/capture/capture_samples.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>

START_TEST(every_table_has_what_the_capture_had)
{
	struct sample samples[] = {
		sample_make(10, TRIGGERED - 1500000000, 2, 3, 100),
		sample_make(10, TRIGGERED - 1, 2, 3, 100),
		sample_make(10, TRIGGERED - 2, 2, 3, 100),
		sample_make(11, TRIGGERED, 0, 2, 200),
		sample_make(11, TRIGGERED + 4999999999, -EFAULT, -EFAULT, 0),
		sample_make(666, TRIGGERED, 1, 1, 300),
	};
	_cleanup_capture_ struct capture *capture = NULL;
	struct store_fixture fixture;
	int64_t capture_id = 0;

	samples[0].stall = STALL_MEMORY | STALL_IO;
	samples[0].weight_ns = samples[1].weight_ns = samples[2].weight_ns = 21276595;
	samples[0].tid = 12;
	memcpy(samples[0].comm, "worker", 7);
	samples[3].kind = SAMPLE_OFF_CPU;
	samples[3].left_ns = samples[3].woken_ns = TRIGGERED;
	samples[3].time_ns = TRIGGERED + 1;
	samples[3].weight_ns = 0;
	samples[3].queued_ns = 1;
	samples[3].unwinder = UNWINDER_EH_FRAME | UNWINDER_FRAME_POINTER;
	samples[3].user_ended = UNWIND_ENDED_NO_RULE;
	samples[3].user_frames[1] = 0x8000000000000000U; /* a hostile stack may hold it */
	capture = capture_make(samples, ARRAY_SIZE(samples));
	capture->losses[LOSS_OVERWRITTEN] = 5;
	capture->losses[LOSS_WATCH_SUPPRESSED] = 2;
	store_fixture_start(&fixture);
	ck_assert_int_eq(store_begin_capture(fixture.store, &capture->trigger,
					     capture_available_history_ns(capture), &capture_id),
			 0);
	ck_assert_int_eq(capture_id, 1);
	expect_rows(&fixture, "SELECT capture_id, state, ended_at FROM capture", "1|recording|NULL\n");
	capture->capture_id = capture_id;
	expect_commit(&fixture, capture);
	expect_rows(&fixture,
		    "SELECT capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, "
		    "trigger_mode, cgroup, triggered_at, began_at, ended_at, history_ns, state, "
		    "observed_us, hz FROM capture",
		    "1|1|1|web|memory|some|50000|1000000|sampled|/system.slice/web.service|"
		    "1700000000123456789|1699999996123456789|1700000005123456789|4000000000|complete|77777|"
		    "47\n");
	expect_rows(&fixture, "SELECT process_count, stack_count, sample_count, interval_count FROM capture",
		    "2|3|5|1\n");
	expect_rows(&fixture,
		    "SELECT count(DISTINCT process_id), count(DISTINCT stack_id), sum(samples), "
		    "sum(iif(kind = 'off-cpu', samples, 0)) FROM sample",
		    "2|3|5|1\n");
	expect_rows(&fixture, "SELECT * FROM process",
		    "1|1|10|1010|nginx-10|NULL|33|/system.slice/web.service|web.service|NULL|NULL|NULL\n"
		    "2|1|11|1011|nginx-11|NULL|33|/system.slice/web.service|web.service|NULL|NULL|NULL\n"
		    "3|1|666|1666|nginx-666|NULL|33|/system.slice/web.service|web.service|NULL|NULL|NULL\n");
	expect_rows(&fixture, "SELECT role, process_id, tid, kind, second, samples FROM other_sample",
		    "other|3|666|on-cpu|0|1\n");
	expect_rows(&fixture, "SELECT * FROM cgroup", "7|/system.slice/web.service\n");
	expect_rows(&fixture, "SELECT path, build_id, version, kind FROM module",
		    "[kernel]|00ff||kernel\n/usr/bin/app|NULL||file\n");
	expect_rows(&fixture,
		    "SELECT offset, function, function_offset, file, line, inlined FROM frame WHERE offset "
		    "< 200 ORDER BY offset, module_id",
		    "-9223372036854775808|user_-9223372036854775808|4|NULL|NULL|0\n"
		    "100|kernel_100|4|NULL|NULL|0\n100|user_100|4|NULL|NULL|0\n"
		    "101|kernel_101|4|NULL|NULL|0\n101|user_101|4|NULL|NULL|0\n102|user_102|4|NULL|NULL|0\n");
	expect_rows(&fixture,
		    "SELECT stack_id, depth, truncated, unwinder, ended, length(fingerprint) FROM stack",
		    "1|5|0|frame-pointer|root|16\n2|2|1|mixed|no-rule|16\n"
		    "3|2|0|frame-pointer|root|16\n4|0|0|none|NULL|16\n");
	expect_rows(&fixture,
		    "SELECT stack_id, position, function FROM stack_frame JOIN frame USING(frame_id) ORDER "
		    "BY stack_id, position",
		    "1|0|kernel_100\n1|1|kernel_101\n1|2|user_100\n1|3|user_101\n1|4|user_102\n"
		    "2|0|user_200\n2|1|user_-9223372036854775808\n3|0|kernel_300\n3|1|user_300\n");
	expect_rows(&fixture, "SELECT * FROM sample ORDER BY second, tid, stack_id",
		    "1|1|12|worker|1|on-cpu|memory+io|-2|1|21276595|[[500,0]]\n"
		    "1|1|10|thread|1|on-cpu|none|-1|2|42553190|[[999,0],[999,0]]\n"
		    "1|2|11|thread|2|off-cpu|cpu|0|1|1|[[0,0,0]]\n"
		    "1|2|11|thread|4|on-cpu|none|4|1|1|[[999,0]]\n");
	expect_rows(&fixture, "SELECT reason, events FROM loss WHERE events > 0",
		    "kernel-stack-missing|1\noverwritten-slots|5\nstack-not-whole|1\nuser-stack-missing|1\n"
		    "watch-suppressed|2\n");
	expect_count(&fixture, "loss", LOSS_REASONS);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(pressure_and_usage_have_wall_clock_times)
{
	static const struct pressure_reading readings[] = {
		{ TRIGGERED, { { 100, 50 }, { true, true } }, PRESSURE_SYSTEM, PSI_MEMORY },
		{ TRIGGERED + 1000, { { 700, 0 }, { true, false } }, PRESSURE_CGROUP, PSI_CPU },
	};
	struct sample sample = sample_make(10, TRIGGERED, 1, 1, 1);
	_cleanup_capture_ struct capture *capture = capture_make(&sample, 1);
	struct usage_row *rows = calloc(2, sizeof(*rows));
	struct kernel_stat *stats;
	struct store_fixture fixture;

	capture->pressure.readings = malloc(sizeof(readings));
	memcpy(capture->pressure.readings, readings, sizeof(readings));
	capture->pressure.count = ARRAY_SIZE(readings);
	rows[0] = (struct usage_row){ .role = USAGE_OTHER,
				      .process = { .tgid = 77, .uid = 5, .started_ns = 9, .comm = "hog" },
				      .cgroup = shared_text_new("/other") };
	rows[0].process.sums.task = (struct task_usage){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 22 };
	rows[0].process.sums.rss_bytes = 10;
	rows[0].process.sums.rss_before_bytes = 3;
	rows[0].process.sums.stalled_io_ns = 11;
	rows[1] = (struct usage_row){ .role = USAGE_REST, .process = { .counts_io_delay = true } };
	rows[1].process.sums.task.io_delay_ns = 12;
	capture->usage.rows = rows;
	capture->usage.count = 2;
	capture->usage.ended = calloc(2, sizeof(*capture->usage.ended));
	capture->usage.ended[0] = (struct ended_row){
		.role = USAGE_OTHER,
		.key = { .comm = "true", .parent = "bash", .parent_tgid = 78 },
		.sums = { 5120, 2, 3, 4, 5, 6, 31, 32 },
		.cgroup = shared_text_new("/system.slice/docker-0123456789ab.scope"),
	};
	capture->usage.ended[1] = (struct ended_row){ .role = USAGE_REST,
						      .key = { .flags = ENDED_DENIED },
						      .sums = { .processes = 1 } };
	capture->usage.ended_count = 2;
	capture->usage.machine =
		(struct machine_time){ .from_ns = TRIGGERED - 20,
				       .to_ns = TRIGGERED + 30,
				       .total_ns = 100,
				       .parts_ns = { [MACHINE_OTHERS] = 1, [MACHINE_IDLE] = 99 } };
	capture->usage.bytes = (struct machine_bytes){ .known = true,
						       .read = { [BYTES_DISKS] = 5, [BYTES_UNACCOUNTED] = 5 },
						       .written = { 7, [BYTES_UNACCOUNTED] = -7 } };
	capture->usage.interrupts.rows = calloc(2, sizeof(*capture->usage.interrupts.rows));
	capture->usage.interrupts.rows[0] =
		(struct interrupt){ { INTERRUPT_HARD, 36 }, { 7, 25 }, "virtio1-req.0" };
	capture->usage.interrupts.rows[1] = (struct interrupt){ { INTERRUPT_TIMER, 0 }, { 5, 10 }, "" };
	capture->usage.interrupts.count = 2;
	capture->usage.interrupts.rest = (struct interrupt){ { INTERRUPT_HARD, 0 }, { 3, 1 }, "" };
	capture->usage.kills.rows = calloc(3, sizeof(*capture->usage.kills.rows));
	capture->usage.kills.rows[0] =
		(struct kill_row){ .record = { .how = KILL_OOM,
					       .time_ns = TRIGGERED + 5,
					       .tgid = 77,
					       .comm = "hog",
					       .rss_bytes = 4096,
					       .by_tgid = 78,
					       .by_comm = "bash",
					       .limit_bytes = 8192 },
				   .is_target = true,
				   .processes = 1,
				   .cgroup = strdup("/system.slice/docker-0123456789ab.scope/in"),
				   .by_cgroup = strdup("/system.slice/cron.service"),
				   .limit_cgroup = strdup("/system.slice/docker-0123456789ab.scope") };
	capture->usage.kills.rows[1] = (struct kill_row){ .record = { .how = KILL_SIGNAL,
								      .time_ns = TRIGGERED + 6,
								      .flags = KILL_DENIED | KILL_BY_DENIED },
							  .processes = 1 };
	capture->usage.kills.rows[2] = (struct kill_row){
		.record = { .how = KILL_SIGNAL, .time_ns = TRIGGERED + 7 }, .is_rest = true, .processes = 5
	};
	capture->usage.kills.count = 3;
	capture->cgroup_memory =
		(struct cgroup_memory){ .rows = calloc(2, sizeof(*capture->cgroup_memory.rows)),
					.count = 2,
					.from_ns = TRIGGERED + 1,
					.to_ns = TRIGGERED + 4 };
	capture->cgroup_memory.rows[0] =
		(struct cgroup_memory_row){ .cgroup = strdup("/"),
					    .before = { -1, 1, 2, 9, 8, 7, 20, 30 },
					    .after = { -1, 3, 4, 9, 10, 12, 25, 36 } };
	capture->cgroup_memory.rows[1] =
		(struct cgroup_memory_row){ .cgroup = strdup("/system.slice/cron.service"),
					    .before = { -1, -1, -1, -1, -1, -1, -1, -1 },
					    .after = { 1, 2, 3, 4, 5, 6, -1, -1 } };
	capture->usage.before.walked_ns = TRIGGERED - 20;
	capture->usage.to_ns = TRIGGERED + 30;
	stats = calloc(3, sizeof(*stats));
	stats[0] = (struct kernel_stat){ "vmstat", KERNEL_STAT_SYSTEM, "", "allocstall_normal", 5, 7 };
	stats[1] = (struct kernel_stat){ "io.stat", 1, "8:0", "rbytes", -1, 9 };
	stats[2] = (struct kernel_stat){ "vmstat", KERNEL_STAT_SYSTEM, "", "pgfault", 1, -1 };
	capture->kernel_stats = (struct kernel_stats){
		.stats = stats, .count = 3, .room = 3, .from_ns = TRIGGERED + 1, .to_ns = TRIGGERED + 2
	};
	capture->expected.cpu_ns = 2 * SECOND;
	capture->expected.received = 93;
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(
		&fixture,
		"SELECT at - 1700000000123456789, scope, resource, some_us, full_us FROM pressure ORDER BY at",
		"0|system|memory|100|50\n1000|/system.slice/web.service|cpu|700|NULL\n");
	expect_rows(
		&fixture,
		"SELECT comm, u.role, from_at - 1700000000123456789, to_at - 1700000000123456789, "
		"cpu_ns, run_delay_ns, io_delay_ns, stalled_cpu_ns, stalled_memory_ns, stalled_io_ns, "
		"major_faults, minor_faults, read_bytes, write_bytes, voluntary_switches, "
		"involuntary_switches, rss_bytes, rss_before_bytes, reclaims, reclaim_ns, cgroup, uid FROM usage u LEFT JOIN process "
		"USING(process_id) ORDER BY u.rowid",
		"hog|other|-20|30|1|2|NULL|0|0|11|4|5|6|7|8|9|10|3|22|21|/other|5\n"
		"NULL|rest|-20|30|0|0|12|0|0|0|0|0|0|0|0|0|0|0|0|0|NULL|NULL\n");
	expect_rows(
		&fixture,
		"SELECT role, comm, parent, parent_tgid, cgroup, unit, container, denied, processes, cpu_ns, "
		"run_delay_ns, major_faults, read_bytes, write_bytes, reclaims, reclaim_ns FROM ended ORDER BY rowid",
		"other|true|bash|78|/system.slice/docker-0123456789ab.scope|docker-0123456789ab.scope|0123456789ab|0|5120"
		"|2|3|4|5|6|32|31\nrest|NULL|NULL|NULL|NULL|NULL|NULL|1|1|0|0|0|0|0|0|0\n");
	expect_rows(
		&fixture,
		"SELECT part, from_at - 1700000000123456789, to_at - 1700000000123456789, ns, percent FROM machine_time "
		"WHERE ns > 0 ORDER BY ns",
		"others|-20|30|1|1.0\nidle|-20|30|99|99.0\n");
	expect_count(&fixture, "machine_time", MACHINE_PARTS);
	expect_rows(
		&fixture,
		"SELECT part, from_at - 1700000000123456789, to_at - 1700000000123456789, read_bytes, write_bytes "
		"FROM machine_bytes WHERE read_bytes <> 0 OR write_bytes <> 0 ORDER BY part",
		"disks|-20|30|5|0\ntargets|-20|30|0|7\nunaccounted|-20|30|5|-7\n");
	expect_count(&fixture, "machine_bytes", BYTES_PARTS);
	expect_rows(
		&fixture,
		"SELECT cgroup, unit, from_at - 1700000000123456789, to_at - 1700000000123456789, current_before_bytes, "
		"current_bytes, anon_before_bytes, anon_bytes, file_before_bytes, file_bytes, refaulted_bytes, scanned_bytes, "
		"reclaimed_bytes, device_read_bytes, device_written_bytes FROM cgroup_memory ORDER BY cgroup",
		"/|NULL|1|4|NULL|NULL|1|3|2|4|0|2|5|5|6\n"
		"/system.slice/cron.service|cron.service|1|4|NULL|1|NULL|2|NULL|3|NULL|NULL|NULL|NULL|NULL\n");
	expect_rows(
		&fixture,
		"SELECT at - 1700000000123456789, how, role, comm, tgid, cgroup, unit, container, rss_bytes, by_comm, by_tgid, "
		"by_cgroup, by_unit, limit_cgroup, limit_bytes, processes FROM killed ORDER BY rowid",
		"5|oom|target|hog|77|/system.slice/docker-0123456789ab.scope/in|docker-0123456789ab.scope|0123456789ab|4096|bash"
		"|78|/system.slice/cron.service|cron.service|/system.slice/docker-0123456789ab.scope|8192|1\n"
		"6|signal|other|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|1\n"
		"7|signal|rest|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|5\n");
	expect_rows(
		&fixture,
		"SELECT kind, number, name, from_at - 1700000000123456789, to_at - 1700000000123456789, count, ns, percent "
		"FROM interrupt ORDER BY rowid",
		"irq|36|virtio1-req.0|-20|30|7|25|25.0\nirq|NULL|local timer|-20|30|5|10|10.0\nirq|NULL|NULL|-20|30|3|1|1.0\n");
	expect_rows(
		&fixture,
		"SELECT role, program, processes, tgid, rss_before_bytes, rss_bytes, grown_bytes, reclaims, reclaim_ns, cpu_ns "
		"FROM memory_group",
		"other|hog|1|77|3|10|7|22|21|1\nother|true|5120|NULL|0|0|0|32|31|2\n");
	/* of memory, the resource that fired, those that ended hold none */
	expect_rows(
		&fixture,
		"SELECT program, processes, ended, tgid, parent, parent_tgid, unit, taken, cpu_ns, percent FROM culprit_group",
		"hog|1|0|77|NULL|NULL|NULL|10|1|100.0\ntrue|5120|5120|NULL|bash|78|docker-0123456789ab.scope|0|2|0.0\n");
	expect_rows(&fixture,
		    "SELECT from_at - 1700000000123456789, to_at - 1700000000123456789, scope, source, "
		    "device, name, before, after FROM statistic",
		    "1|2|system|vmstat|NULL|allocstall_normal|5|7\n"
		    "1|2|/system.slice|io.stat|8:0|rbytes|NULL|9\n1|2|system|vmstat|NULL|pgfault|1|NULL\n");
	expect_rows(
		&fixture,
		"SELECT expected_samples, received_samples, verdict, verdict_version, not_examined FROM capture",
		"94|93|kill|2|accounts\n");
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(an_interrupted_capture_has_that_state)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 1, 1);
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	capture->interrupted = true;
	capture->ended_ns = TRIGGERED + SECOND;
	expect_commit(&fixture, capture); /* without store_begin_capture() before it */
	expect_rows(&fixture, "SELECT capture_id, state, ended_at FROM capture",
		    "1|interrupted|1700000001123456789\n");
	ck_assert_int_eq(number(&fixture, "SELECT min(capture_id) FROM sample"), 1);
	store_fixture_free(&fixture);
}
END_TEST

/* The samples are lost; the row that says the trigger fired is kept. */
START_TEST(a_capture_given_up_stays_without_samples)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 1, 1);
	struct store_fixture fixture;
	int64_t capture_id = 0, other_id = 0;

	store_fixture_start(&fixture);
	ck_assert_int_eq(store_begin_capture(fixture.store, &capture->trigger, 5, &capture_id), 0);
	ck_assert_int_eq(store_begin_capture(fixture.store, &capture->trigger, 5, &other_id), 0);
	ck_assert_int_eq(store_give_up_capture(fixture.store, capture_id), 0);
	expect_rows(&fixture, "SELECT capture_id, state, history_ns, rule FROM capture",
		    "1|interrupted|5|web\n2|recording|5|web\n");
	store_fixture_free(&fixture);
}
END_TEST

/* resolved.depths[] is less than the depth of the stack: the frames beyond it are not stored. */
START_TEST(a_stack_the_resolver_cut_is_truncated)
{
	struct sample samples[] = { sample_make(1, TRIGGERED, 2, 3, 0x40),
				    sample_make(1, TRIGGERED, 2, 2, 0x40) };
	_cleanup_capture_ struct capture *capture = capture_make(samples, 2);
	struct resolved resolved;
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	resolve_by_hand(capture, false, "", &resolved);
	resolved.depths[0] = 4;  /* equal to the other stack, which is whole */
	resolved.frames_count--; /* the last frame belongs to this stack only */
	free(resolved.frames[resolved.frames_count].function);
	expect_commit_resolved(&fixture, capture, &resolved);
	expect_rows(&fixture, "SELECT depth, truncated FROM stack ORDER BY truncated", "4|0\n4|1\n");
	expect_rows(&fixture, "SELECT count(*), max(position) FROM stack_frame", "8|3\n");
	expect_rows(&fixture, "SELECT count(*), sum(samples) FROM sample", "2|2\n");
	resolved_free(&resolved);
	store_fixture_free(&fixture);
}
END_TEST

/* Adds an executable mapping of the process 12, of its executable. Returns its file. */
static struct mapped_file *map_executable(struct mappings *mappings, const char *path)
{
	char bytes[sizeof(struct mapping_record) + 64];
	const struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) },
					       .tgid = 12,
					       .started_ns = 1012,
					       .begins = 0x1000,
					       .ends = 0x2000,
					       .inode = 5,
					       .flags = MAPPING_IS_EXE,
					       .path_bytes = (uint32_t)strlen(path) };
	const struct mapping *mapping;

	HOLDS(record.path_bytes <= 64);
	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), path, record.path_bytes);
	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	ck_assert_int_eq(mappings_add_records(mappings, bytes, sizeof(record) + record.path_bytes),
			 (long)(sizeof(record) + record.path_bytes));
	ck_assert(!mappings_end_pass(mappings));
	mapping = mappings_find(mappings, 12, 1012, 0x1000);
	ck_assert_ptr_nonnull(mapping);
	return mapping->file;
}

START_TEST(the_runtime_is_what_was_read_last)
{
	struct sample sample = sample_make(12, TRIGGERED, 1, 1, 1);
	_cleanup_capture_ struct capture *by_name = capture_make(&sample, 1),
					 *by_content = capture_make(&sample, 1);
	struct store_fixture fixture;
	struct mapped_file *file;

	store_fixture_start(&fixture);
	file = map_executable(fixture.mappings, "/usr/bin/perl");
	expect_commit(&fixture, by_name);
	expect_rows(&fixture, "SELECT exe, runtime, runtime_evidence FROM process",
		    "/usr/bin/perl|perl|executes perl, which was not read\n");
	file->runtime = RUNTIME_NO_SIGN;
	expect_commit(&fixture, by_content);
	expect_rows(&fixture, "SELECT exe, runtime, runtime_evidence FROM process",
		    "/usr/bin/perl|native|no sign of a runtime in 1 file that it maps\n");
	store_fixture_free(&fixture);
}
END_TEST

/* A process moves between two cgroups that are gone when they are looked up: it is one row. */
START_TEST(samples_of_a_process_without_a_cgroup_add_up)
{
	struct sample sample = sample_make(12, TRIGGERED, 1, 1, 1);
	struct sample samples[] = { sample, sample, sample };
	_cleanup_capture_ struct capture *capture = NULL;
	struct store_fixture fixture;

	samples[1].cgroup_id = samples[2].cgroup_id = 8;
	samples[0].weight_ns = 100;
	capture = capture_make(samples, ARRAY_SIZE(samples));
	ck_assert_uint_eq(capture->processes_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		shared_text_free(capture->processes[i].cgroup);
		capture->processes[i].cgroup = NULL;
	}
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(&fixture, "SELECT tgid, cgroup FROM process", "12|NULL\n");
	expect_rows(&fixture, "SELECT tid, samples, weight_ns FROM sample", "12|3|102\n");
	expect_count(&fixture, "stack", 1);
	store_fixture_free(&fixture);
}
END_TEST

/* A weight that is samples by the period is not stored; the view has it, and a sum of both forms is right. */
START_TEST(a_usual_weight_is_not_stored)
{
	static const char *const expected[] = { "3|63829785|NULL\n", "3|21276695|21276695\n" };
	struct sample sample = sample_make(12, TRIGGERED, 1, 1, 1);
	struct sample samples[] = { sample, sample, sample };
	_cleanup_capture_ struct capture *capture = NULL;
	struct store_fixture fixture;

	/* two rows of the capture, because of the cgroups, and one of the database */
	samples[1].cgroup_id = samples[2].cgroup_id = 8;
	samples[0].weight_ns = 21276595;
	samples[1].weight_ns = samples[2].weight_ns = _i ? 50 : 21276595;
	capture = capture_make(samples, ARRAY_SIZE(samples));
	ck_assert_uint_eq(capture->rows_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		shared_text_free(capture->processes[i].cgroup);
		capture->processes[i].cgroup = NULL;
	}
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(&fixture, "SELECT s.samples, s.weight_ns, r.weight_ns FROM sample s, sample_row r",
		    expected[_i]);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(the_sums_of_views_are_right)
{
	struct sample samples[] = {
		sample_make(10, TRIGGERED - 1, 1, 2, 100), /* kernel_100, user_100, user_101 */
		sample_make(10, TRIGGERED, 1, 2, 100),
		sample_make(10, TRIGGERED + 1, 0, 3, 100), /* user_100, user_100, user_102: recursion */
		sample_make(10, TRIGGERED + 2, 0, 0, 0),
	};
	_cleanup_capture_ struct capture *capture = NULL;
	struct store_fixture fixture;

	samples[2].user_frames[1] = 100;
	capture = capture_make(samples, ARRAY_SIZE(samples));
	capture->losses[LOSS_OVERWRITTEN] = 5;
	capture->losses[LOSS_TORN] = 2;
	capture->losses[LOSS_UNKNOWN_PROCESS] = 1;
	capture->losses[LOSS_EVENTS] = 9;
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(&fixture,
		    "SELECT function, module_kind, samples, total_samples, percent, total_percent FROM "
		    "hot_function",
		    "kernel_100|kernel|2|2|50.0|50.0\nuser_100|file|1|3|25.0|75.0\n"
		    "user_101|file|0|2|0.0|50.0\nuser_102|file|0|1|0.0|25.0\n");
	expect_rows(&fixture,
		    "SELECT stack, samples FROM folded WHERE stack IS NOT NULL ORDER BY samples DESC",
		    "user_101;user_100;kernel_100_[k]|2\nuser_102;user_100;user_100|1\n");
	expect_rows(&fixture, "SELECT processes, stacks, samples, after_ns FROM capture_summary",
		    "1|3|4|5000000000\n");
	store_fixture_free(&fixture);
}
END_TEST

/* From the ring to capture_summary: a sample that is overwritten or torn is one loss. */
START_TEST(a_lost_sample_counts_once)
{
	struct sample sample = sample_make(10, TRIGGERED, 1, 2, 100);
	_cleanup_capture_ struct capture *capture = NULL;
	struct fake_ring ring;
	struct store_fixture fixture;
	struct rings rings;
	struct capture_trigger trigger = {
		.rule_id = 1, .rule = "web", .triggered_ns = TRIGGERED, .capture_ns = SECOND
	};

	fake_ring_make(&ring, 8);
	rings = (struct rings){ ring.slots, 8, 1, 0, NULL };
	capture = capture_begin(&trigger, &rings);
	for (int i = 0; i < 10; i++)
		fake_ring_write(&ring, &sample); /* the last two overwrite the first two */
	ring.slots[5].kernel_depth = 99;         /* no sample has that depth */
	capture_drain(capture, describe, NULL);
	capture_end(capture, TRIGGERED + SECOND, false);
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(&fixture, "SELECT samples, losses FROM capture_summary", "7|3\n");
	fake_ring_free(&ring);
	store_fixture_free(&fixture);
}
END_TEST

#define TOTALS                                                                                               \
	"SELECT (SELECT count(*) FROM stack), (SELECT count(*) FROM stack_frame), "                          \
	"(SELECT count(*) FROM frame), (SELECT count(*) FROM module), (SELECT count(*) FROM process)"

START_TEST(the_same_stack_is_stored_once)
{
	struct dice dice = dice_new(60);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 200);
	struct store_fixture fixture;
	_cleanup_free_ char *before = NULL;

	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	before = rows(&fixture, TOTALS);
	expect_commit(&fixture, capture);
	expect_rows(&fixture, TOTALS, before);
	ck_assert_int_eq(number(&fixture, "SELECT count(*) FROM sample WHERE capture_id = 1"),
			 number(&fixture, "SELECT count(*) FROM sample WHERE capture_id = 2"));
	ck_assert_int_eq(
		number(&fixture,
		       "SELECT count(*) FROM (SELECT stack_id, tid, samples FROM sample WHERE capture_id = 1 "
		       "EXCEPT SELECT stack_id, tid, samples FROM sample WHERE capture_id = 2)"),
		0);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(failed_symbolizers_are_a_loss)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct resolved resolved;
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	resolve_by_hand(capture, true, "", &resolved);
	resolved.failures = 3;
	expect_commit_resolved(&fixture, capture, &resolved);
	expect_rows(&fixture, "SELECT events, unit FROM loss WHERE reason = 'symbolizer-failed'",
		    "3|event\n");
	resolved_free(&resolved);
	store_fixture_free(&fixture);
}
END_TEST

static struct asking *asking_make(uint32_t kinds)
{
	struct capture_request request = {
		.everyone = true, .kinds = kinds, .for_ns = 5 * SECOND, .note = "who\tknows"
	};
	struct asking *asking = asking_new(&request);

	asking->uid = 1000;
	strcpy(asking->user, "alice");
	return asking;
}

/* Nothing fired: no rule, no resource, no incident; and each view has the capture without them. */
START_TEST(a_capture_on_demand_has_who_asked)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct store_fixture fixture;

	capture->trigger.asking = asking_make(CAPTURE_ON_CPU | CAPTURE_OFF_CPU);
	capture->trigger.mode = TRIGGER_MANUAL;
	capture->trigger.rule_id = 0;
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(
		&fixture,
		"SELECT rule_id, rule, resource, kind, stall_us, window_us, observed_us, trigger_mode, verdict, not_examined, "
		"incident_id, onset_at, asked_by_uid, asked_by, asked_for, note, state FROM capture",
		"NULL|NULL|NULL|NULL|NULL|NULL|NULL|manual|undetermined|accounts|NULL|NULL|1000|alice|--all --for 5s|who\\x09knows|complete\n");
	expect_rows(&fixture, "SELECT count(*) FROM incident", "0\n");
	expect_rows(&fixture, "SELECT rule, resource, samples, verdict FROM capture_summary",
		    "NULL|NULL|1|undetermined\n");
	expect_rows(&fixture, "SELECT count(*) FROM stall_stack", "0\n");
	expect_rows(&fixture, "SELECT count(*) > 0 FROM hot_function", "1\n");
	expect_rows(&fixture, "SELECT count(*), max(taken_unit) FROM culprit_group", "0|NULL\n");
	expect_rows(&fixture, "SELECT count(*) > 0 FROM data_quality", "1\n");
	expect_rows(&fixture, "SELECT expected_samples IS NOT NULL FROM capture", "1\n");
	store_fixture_free(&fixture);
}
END_TEST

/* It has its rule, and what the rings had; nothing fired, and what takes two walks or a span is not claimed to be 0. */
START_TEST(a_baseline_has_its_rule_and_no_incident)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct store_fixture fixture;

	capture->trigger.mode = TRIGGER_BASELINE;
	store_fixture_start(&fixture);
	ck_assert_int_eq(store_begin_capture(fixture.store, &capture->trigger, 0, &capture->capture_id), 0);
	expect_count(&fixture, "incident", 0);
	expect_commit(&fixture, capture);
	expect_rows(
		&fixture,
		"SELECT rule_id, rule, resource, kind, stall_us, window_us, observed_us, trigger_mode, verdict, not_examined, "
		"incident_id, onset_at, asked_by_uid, expected_samples, received_samples, state FROM capture",
		"1|web|NULL|NULL|NULL|NULL|NULL|baseline|NULL|NULL|NULL|NULL|NULL|NULL|NULL|complete\n");
	expect_rows(&fixture, "SELECT count(*) FROM incident", "0\n");
	expect_rows(&fixture, "SELECT rule, resource, samples, verdict FROM capture_summary",
		    "web|NULL|1|NULL\n");
	expect_rows(&fixture, "SELECT count(*) > 0 FROM hot_function", "1\n");
	expect_rows(
		&fixture, "SELECT group_concat(reason, ' ') FROM (SELECT reason FROM loss ORDER BY reason)",
		"capture-full cgroups-unwatched cpus-unsampled frames-unresolved growth-lost kernel-stack-missing mappings-cut "
		"others-full overwritten-slots stack-not-whole stack-truncated symbolizer-failed torn-slots "
		"unknown-process user-stack-missing wakers-lost\n");
	store_fixture_free(&fixture);
}
END_TEST

/* Of waiting alone, no samples on CPU are expected. */
START_TEST(looks_have_their_rows)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	const struct thread_state waits = { .tid = 10,
					    .thread = "waits",
					    .state = THREAD_DISK,
					    .call = 0,
					    .fd = 5,
					    .lock = 0xab,
					    .of_target = true },
				  runs = { .tid = 11,
					   .thread = "runs",
					   .stack = THREAD_STATE_NO_STACK,
					   .call = -1,
					   .fd = -1,
					   .of_target = true };
	struct store_fixture fixture;

	for (int32_t look = 0; look < 5; look++) {
		ck_assert_int_eq(thread_states_begin_look(&capture->thread_states, look / 2), 0);
		thread_states_count(&capture->thread_states);
		ck_assert_int_eq(thread_states_add(&capture->thread_states, look == 2 ? &runs : &waits), 0);
	}
	thread_states_settle(&capture->thread_states);
	capture->losses[LOSS_LOOKS] = 3;
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(
		&fixture,
		"SELECT tid, thread, role, state, syscall, fd, lock, stack_id IS NULL, second, seconds, samples, function IS "
		"NULL, below, threads FROM thread_states ORDER BY second, tid",
		"10|waits|target|D|read|5|00000000000000ab|0|0|1|2|0|NULL|0.4\n"
		"10|waits|target|D|read|5|00000000000000ab|0|1|1|1|0|NULL|0.2\n"
		"11|runs|target|running|NULL|NULL|NULL|1|1|1|1|1|NULL|0.2\n"
		"10|waits|target|D|read|5|00000000000000ab|0|2|1|1|0|NULL|0.2\n");
	expect_rows(&fixture, "SELECT second, looks, threads FROM thread_look", "0|2|2\n1|2|2\n2|1|1\n");
	expect_rows(&fixture, "SELECT events, unit FROM loss WHERE reason = 'looks-lost'", "3|thread\n");
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(a_capture_of_waiting_alone_expects_no_samples)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct store_fixture fixture;

	capture->trigger.asking = asking_make(CAPTURE_OFF_CPU);
	capture->trigger.asking->user[0] = '\0';
	capture->trigger.mode = TRIGGER_MANUAL;
	capture->trigger.rule_id = 0;
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(
		&fixture,
		"SELECT expected_samples, received_samples, asked_by_uid, asked_by, asked_for FROM capture",
		"NULL|NULL|1000|NULL|--all --for 5s --off-cpu\n");
	store_fixture_free(&fixture);
}
END_TEST

SUITE(store_capture)
{
	Suite *suite = suite_create("store_capture");
	TCase *contents = tcase_create("contents");

	tcase_add_test(contents, every_table_has_what_the_capture_had);
	tcase_add_test(contents, pressure_and_usage_have_wall_clock_times);
	tcase_add_test(contents, an_interrupted_capture_has_that_state);
	tcase_add_test(contents, a_capture_given_up_stays_without_samples);
	tcase_add_test(contents, a_stack_the_resolver_cut_is_truncated);
	tcase_add_test(contents, samples_of_a_process_without_a_cgroup_add_up);
	tcase_add_test(contents, the_runtime_is_what_was_read_last);
	tcase_add_loop_test(contents, a_usual_weight_is_not_stored, 0, 2);
	tcase_add_test(contents, the_sums_of_views_are_right);
	tcase_add_test(contents, a_lost_sample_counts_once);
	tcase_add_test(contents, the_same_stack_is_stored_once);
	tcase_add_test(contents, failed_symbolizers_are_a_loss);
	tcase_add_test(contents, a_capture_on_demand_has_who_asked);
	tcase_add_test(contents, a_baseline_has_its_rule_and_no_incident);
	tcase_add_test(contents, looks_have_their_rows);
	tcase_add_test(contents, a_capture_of_waiting_alone_expects_no_samples);
	suite_add_tcase(suite, contents);
	return suite;
}
