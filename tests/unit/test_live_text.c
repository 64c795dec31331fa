/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that what bourdond says of a second's samples is what `bourdon top --live` reads: names of others, the most samples
 * first, within limits that are said; and that a reader takes nothing else for it.
 */
#include "common/base/cleanup.h"
#include "common/protocol/live_line.h"
#include "consumer/worker/live_text.h"
#include "report/live/live_text.h"
#include "report/live/thread_history.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_NS 1234567890123456789LL

/* ---- a second ---- */

/* Two processes; frame 0 is of the kernel, 1, 2 and 4 are of a program, 3 is inlined in 2, 5 and 6 are in no file. */
static struct capture_process processes[] = {
	{ .tgid = 10, .uid = 1000, .comm = "ten", .cgroup = (char *)"/a.slice/b\t.service" },
	{ .tgid = 11, .uid = CAPTURE_NO_UID, .comm = "\033[31m" },
};
static struct resolved_module modules[] = {
	{ .kind = MODULE_KERNEL, .path = (char *)"[kernel]" },
	{ .kind = MODULE_FILE, .path = (char *)"/usr/bin/pro\ngram" },
	{ .kind = MODULE_ANONYMOUS, .path = (char *)"[anonymous]" },
};
static struct resolved_frame frames[] = {
	{ .module = 0, .function = (char *)"vfs_read" },
	{ .module = 1, .function = (char *)"main" },
	{ .module = 1, .function = (char *)"outer;", .inner = 3 },
	{ .module = 1, .function = (char *)"inner\t", .inlined = 1 },
	{ .module = 1, .function = (char *)"main", .offset = 7 }, /* elsewhere in main */
	{ .module = 2, .function = (char *)"[anonymous]+0x1000" },
	{ .module = 2, .function = (char *)"[anonymous]+0x2000" },
};

/* Stacks: of the kernel; inlined; as the first one, at another address; none; two in no file. */
static uint32_t of_stack_frame[] = { 0, 1, 2, 1, 0, 4, 5, 6 };
static struct stack stacks[] = { { .first = 0 }, { .first = 2 }, { .first = 4 },
				 { .first = 0 }, { .first = 6 }, { .first = 7 } };
static uint16_t depths[] = { 2, 2, 2, 0, 1, 1 };

static struct capture_row rows[] = {
	{ .process = 0, .stack = 0, .tid = 10, .thread = "ten", .samples = 3 },
	{ .process = 0, .stack = 1, .tid = 12, .thread = "twelve", .samples = 40 },
	{ .process = 0, .stack = 2, .tid = 10, .thread = "ten", .samples = 4 },
	{ .process = 1, .stack = 3, .tid = 11, .thread = "\033[31m", .samples = 1 },
	{ .process = 0, .stack = 0, .tid = 10, .thread = "ten", .second = 1, .samples = 1 },
	{ .process = 1, .stack = 4, .tid = 11, .thread = "\033[31m", .samples = 2 },
	{ .process = 1, .stack = 5, .tid = 11, .thread = "\033[31m", .samples = 3 },
};
static struct capture_event events[] = { { .row = 1, .cpu = 1 }, { .row = 1, .cpu = 3 } };

static const struct capture second = {
	.trigger = { .triggered_ns = 5000000000, .triggered_at = AT_NS, .hz = 99 },
	.ended_ns = 6010000000,
	.cpus = 4,
	.processes = processes,
	.processes_count = ARRAY_SIZE(processes),
	.stacks = { .stacks = stacks, .count = ARRAY_SIZE(stacks) },
	.rows = rows,
	.rows_count = ARRAY_SIZE(rows),
	.events = events,
	.events_count = ARRAY_SIZE(events),
	.losses = { [LOSS_OVERWRITTEN] = 2, [LOSS_OTHERS_FULL] = 3, [LOSS_TRUNCATED] = 100 },
};
static const struct resolved resolved = { .modules = modules,
					  .modules_count = ARRAY_SIZE(modules),
					  .frames = frames,
					  .frames_count = ARRAY_SIZE(frames),
					  .of_stack_frame = of_stack_frame,
					  .depths = depths };

static void expect(const struct thread_line *line, uint32_t times, const char *tid, const char *function,
		   const char *stack)
{
	ck_assert_uint_eq(line->times, times);
	ck_assert_str_eq(line->values[THREAD_TID], tid);
	ck_assert_str_eq(line->values[THREAD_FUNCTION], function);
	ck_assert_str_eq(line->stack, stack);
}

START_TEST(what_is_said_is_what_is_read)
{
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };
	char *text = live_text(&second, &resolved);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(live_text_read(text, &lines), 0);
	ck_assert_int_eq(lines.at_ns, AT_NS);
	ck_assert_uint_eq(lines.looks, 100); /* 1.01 s */
	ck_assert_uint_eq(lines.cpus, 4);
	ck_assert_uint_eq(lines.left_out, 5);
	ck_assert_uint_eq(lines.missed, 0);
	ck_assert_uint_eq(lines.malformed, 0);
	ck_assert(lines.ends_second);
	/* the most first; one line for all addresses and parts of a second */
	ck_assert_uint_eq(lines.count, 4);
	expect(&lines.lines[0], 40, "12", "inner\t", "inner\t;outer:;main");
	expect(&lines.lines[1], 8, "10", "vfs_read", "vfs_read_[k];main");
	expect(&lines.lines[2], 5, "11", "[anonymous]", "[anonymous]");
	expect(&lines.lines[3], 1, "11", THREAD_NONE, THREAD_NONE);
	ck_assert_str_eq(lines.lines[0].values[THREAD_COMM], "twelve");
	ck_assert_str_eq(lines.lines[0].values[THREAD_PROCESS], "ten");
	ck_assert_str_eq(lines.lines[0].values[THREAD_TGID], "10");
	ck_assert_str_eq(lines.lines[0].values[THREAD_UID], "1000");
	ck_assert_str_eq(lines.lines[0].values[THREAD_CPU], "3");
	ck_assert_str_eq(lines.lines[0].values[THREAD_CGROUP], "/a.slice/b\t.service");
	ck_assert_str_eq(lines.lines[0].values[THREAD_MODULE], "pro\ngram");
	ck_assert_str_eq(lines.lines[1].values[THREAD_MODULE], "[kernel]");
	ck_assert_str_eq(lines.lines[2].values[THREAD_PROCESS], "\033[31m");
	ck_assert_str_eq(lines.lines[2].values[THREAD_UID], THREAD_NONE);
	ck_assert_str_eq(lines.lines[2].values[THREAD_CPU], THREAD_NONE);
	ck_assert_str_eq(lines.lines[2].values[THREAD_CGROUP], THREAD_NONE);
}
END_TEST

/* A history of samples counts CPUs. */
START_TEST(samples_are_cpus)
{
	static const struct thread_view view = { .columns = { THREAD_FUNCTION },
						 .columns_count = 1,
						 .origin = THREADS_SAMPLED,
						 .all_states = true,
						 .window = 1,
						 .sort = 1 };
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };
	struct thread_history *history = calloc(1, sizeof(*history));
	struct thread_groups groups;

	ck_assert_int_eq(live_text_read(live_text(&second, &resolved), &lines), 0);
	ck_assert_int_eq(thread_history_add(history, &lines), 0);
	ck_assert_int_eq(thread_history_end_second(history), 0);
	ck_assert_int_eq(history->seconds[0].at_ns, AT_NS);
	ck_assert_int_eq(thread_history_group(history, &view, 0, &groups), 0);
	ck_assert_uint_eq(groups.count, 4);
	ck_assert_str_eq(groups.groups[0].values[0], "inner\t");
	ck_assert_double_eq_tol(groups.groups[0].average, 0.4, 1e-9);
	ck_assert_double_eq_tol(groups.groups[1].average, 0.08, 1e-9);
	ck_assert_double_eq_tol(groups.all, 0.54, 1e-9);
	ck_assert_double_eq_tol(
		thread_groups_cell(&groups, &groups.groups[0], THREAD_CELLS - 1, THREAD_CELLS), 0.4, 1e-6);
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
}
END_TEST

/* ---- limits ---- */

/* A capture of so many threads; thread i has i + 1 samples. The caller frees its rows. */
static struct capture many_threads(uint32_t count)
{
	struct capture capture = second;

	capture.events_count = 0;
	capture.rows_count = count;
	capture.rows = calloc(count, sizeof(*capture.rows));
	for (uint32_t i = 0; i < count; i++)
		capture.rows[i] = (struct capture_row){ .stack = 0, .tid = i + 1, .samples = i + 1 };
	return capture;
}

START_TEST(the_fewest_samples_are_left_out)
{
	struct capture capture = many_threads(LIVE_LINES_MAX + 3);
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };

	ck_assert_int_eq(live_text_read(live_text(&capture, &resolved), &lines), 0);
	ck_assert_uint_eq(lines.count, LIVE_LINES_MAX);
	ck_assert_uint_eq(lines.lines[0].times, LIVE_LINES_MAX + 3);
	ck_assert_uint_eq(lines.left_out, 5 + 1 + 2 + 3);
	free(capture.rows);
}
END_TEST

START_TEST(a_second_is_of_bounded_size)
{
	struct capture capture = many_threads(LIVE_LINES_MAX);
	struct resolved_frame long_frames[ARRAY_SIZE(frames)];
	struct resolved of_long = resolved;
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };
	char name[LIVE_STACK_BYTES - 100];
	uint64_t said = 0;
	char *text;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(long_frames, frames, sizeof(frames));
	long_frames[0].function = name;
	long_frames[1].function = name;
	of_long.frames = long_frames;
	text = live_text(&capture, &of_long);
	ck_assert_uint_le(strlen(text), LIVE_BYTES_MAX + 3 * LIVE_STACK_BYTES);
	ck_assert_int_eq(live_text_read(text, &lines), 0);
	ck_assert_uint_gt(lines.count, 100);
	for (uint32_t i = 0; i < lines.count; i++) {
		ck_assert_uint_le(strlen(lines.lines[i].stack), LIVE_STACK_BYTES + 4);
		ck_assert_ptr_nonnull(strstr(lines.lines[i].stack, "_[k];..."));
		said += lines.lines[i].times;
	}
	ck_assert_uint_eq(said + lines.left_out, LIVE_LINES_MAX * (LIVE_LINES_MAX + 1) / 2 + 5);
	free(capture.rows);
}
END_TEST

/* ---- what is no second ---- */

#define SAMPLE "sample\tcount=1\ttgid=1\ttid=2\n"
#define SECOND "second\tat_ns=1\tticks=9\tcpus=2\tsamples=1\tleft_out=0\n"

static const struct {
	const char *text;
	int result;
	uint32_t count, malformed;
} texts[] = {
	{ SAMPLE SECOND, 0, 1, 0 },
	{ SECOND, 0, 0, 0 },
	{ "missed\tseconds=3\n" SECOND, 0, 0, 0 },
	{ "", -EPROTO, 0, 0 },
	{ SAMPLE, -EPROTO, 0, 0 },
	{ "second\n", -EPROTO, 0, 0 },
	{ "second\tat_ns=1\tticks=0\tcpus=2\tleft_out=0\n", -EPROTO, 0, 0 },
	{ "second\tat_ns=-1\tticks=9\tcpus=2\tleft_out=0\n", -EPROTO, 0, 0 },
	{ "second\tat_ns=9999999999999999999\tticks=9\tcpus=2\tleft_out=0\n", -EPROTO, 0, 0 },
	{ "second\tat_ns=1\tticks=9\tcpus=2\tleft_out=99999999999999999999\n", -EPROTO, 0, 0 },
	{ "second\tat_ns=1\tticks=9\tcpus=0\tleft_out=0\n", -EPROTO, 0, 0 },
	/* lines that are left out */
	{ "sample\n" SECOND, 0, 0, 1 },
	{ "sample\tcount\n" SECOND, 0, 0, 1 },
	{ "other\ta=b\n" SECOND, 0, 0, 1 },
	{ "missed\tseconds=x\n" SECOND, 0, 0, 1 },
	{ "sample\tcount=0\ttgid=1\ttid=2\n" SECOND, 0, 0, 1 },
	{ "sample\tcount=4294967296\ttgid=1\ttid=2\n" SECOND, 0, 0, 1 },
	{ "sample\tcount=1\ttgid=-1\ttid=2\n" SECOND, 0, 0, 1 },
	{ "sample\tcount=1\ttgid=1\ttid=2x\n" SECOND, 0, 0, 1 },
	{ "sample\tcount=1\ttgid=1\n" SECOND, 0, 0, 1 },
	{ "sample\tcount=1\ttgid=1\ttid=2\tuid=root\n" SECOND, 0, 0, 1 },
	{ "sample\tcount=1\ttgid=1\ttid=2\tcpu=65536\n" SAMPLE SECOND, 0, 1, 1 },
};

START_TEST(hostile_lines)
{
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };

	ck_assert_int_eq(live_text_read(strdup(texts[_i].text), &lines), texts[_i].result);
	ck_assert_uint_eq(lines.count, texts[_i].count);
	ck_assert_uint_eq(lines.malformed, texts[_i].malformed);
	for (uint32_t i = 0; i < lines.count; i++)
		for (uint32_t column = 0; column < THREAD_COLUMNS; column++)
			ck_assert_ptr_nonnull(lines.lines[i].values[column]);
	ck_assert_uint_eq(lines.missed, strncmp(texts[_i].text, "missed\tseconds=3", 16) ? 0 : 3);
}
END_TEST

SUITE(live_text)
{
	Suite *suite = suite_create("live_text");
	TCase *said = tcase_create("said"), *read = tcase_create("read");

	tcase_add_test(said, what_is_said_is_what_is_read);
	tcase_add_test(said, samples_are_cpus);
	tcase_add_test(said, the_fewest_samples_are_left_out);
	tcase_add_test(said, a_second_is_of_bounded_size);
	tcase_add_loop_test(read, hostile_lines, 0, ARRAY_SIZE(texts));
	suite_add_tcase(suite, said);
	suite_add_tcase(suite, read);
	return suite;
}
