/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the texts of the kernel about processes are parsed, whatever name a process has, and that other
 * texts are refused.
 */
#include "common/base/cleanup.h"
#include "common/system/files.h"
#include "loader/grant/process_text.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

/* ---- /proc/PID/stat ---- */

#define BEHIND " 1 2 3 4 5 4194560 7 8 9 10 11 12 13 14 20 0 1 0 4711 22 23\n"

struct stat_case {
	const char *text;
	int result;
	struct process_stat expected;
};

static const struct stat_case stat_cases[] = {
	{ "7 (sh) S" BEHIND, 0, { 'S', 4194560, 4711 } },
	{ "7 (a b) R" BEHIND, 0, { 'R', 4194560, 4711 } },
	{ "7 () Z" BEHIND, 0, { 'Z', 4194560, 4711 } },
	{ "7 (x) S 1 2 3 4 5 0 7 8 9 10 11 12 13 14 20 0 1 0 1 22) Z" BEHIND, 0, { 'Z', 4194560, 4711 } },
	{ "7 (\n) (\xff) D" BEHIND, 0, { 'D', 4194560, 4711 } },
	{ "7 (x) S 1 2 3 4 5 4294967295 7 8 9 10 11 12 13 14 20 0 1 0 18446744073709551615 22",
	  0,
	  { 'S', UINT32_MAX, UINT64_MAX } },
	{ "7 (x) S 1 2 3 4 -1 6 7 8 9 10 11 12 13 14 -20 0 1 0 5 22", 0, { 'S', 6, 5 } },
	{ "", -EBADMSG, { 0 } },
	{ "7 (x", -EBADMSG, { 0 } },
	{ "7 (x)", -EBADMSG, { 0 } },
	{ "7 (x) ", -EBADMSG, { 0 } },
	{ "7 (x) S", -EBADMSG, { 0 } },
	{ "7 (x)S" BEHIND, -EBADMSG, { 0 } },
	{ "7 (x) SS" BEHIND, -EBADMSG, { 0 } },
	{ "7 x S" BEHIND, -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 4294967296 7 8 9 10 11 12 13 14 20 0 1 0 4711 22", -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 -6 7 8 9 10 11 12 13 14 20 0 1 0 4711 22", -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 0x6 7 8 9 10 11 12 13 14 20 0 1 0 4711 22", -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0 1 0 18446744073709551616 22", -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0 1 0 -1 22", -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0 1 0 4711", -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0 1 0", -EBADMSG, { 0 } },
	{ "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0 1 0 ", -EBADMSG, { 0 } },
};

START_TEST(stats)
{
	const struct stat_case *one = &stat_cases[_i];
	struct process_stat stat = { 0 };

	ck_assert_int_eq(process_text_stat(one->text, &stat), one->result);
	ck_assert_int_eq(stat.state, one->expected.state);
	ck_assert_uint_eq(stat.flags, one->expected.flags);
	ck_assert_uint_eq(stat.start_ticks, one->expected.start_ticks);
}
END_TEST

/* ---- /proc/PID/status ---- */

struct status_case {
	const char *text;
	int result;
	struct process_status expected;
};

static const struct status_case status_cases[] = {
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\nNSpid:\t7\n", 0, { 7, { 0 } } },
	{ "Name:\tsh\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t7\t8\t1\nNSpgid:\t9\n",
	  0,
	  { 1, { 1, 2, 3, 4 } } },
	{ "Name:\tsh\nUid:\t0\t4294967295\t0\t0\nNSpid:\t4294967295\n",
	  0,
	  { UINT32_MAX, { 0, UINT32_MAX, 0, 0 } } },
	/* the kernel escapes a newline in a name */
	{ "Name:\t\\nUid:\t9\t9\t\nUid:\t1\t2\t3\t4\nNSpid:\t7\n", 0, { 7, { 1, 2, 3, 4 } } },
	{ "", -EBADMSG, { 0 } },
	{ "Name:\tsh\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t\t0\t0\t0\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t-1\t0\t0\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t4294967296\t0\t0\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0 0 0 0\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\t0\nNSpid:\t7\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\nNSpid:\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\nNSpid:\t0\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\nNSpid:\t7\t\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\nNSpid:\t7\t../8\n", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\nNSpid:\t7", -EBADMSG, { 0 } },
	{ "Name:\tsh\nUid:\t0\t0\t0\t0\nNSpid:\t4294967296\n", -EBADMSG, { 0 } },
};

START_TEST(statuses)
{
	const struct status_case *one = &status_cases[_i];
	struct process_status status = { 0 };

	ck_assert_int_eq(process_text_status(one->text, &status), one->result);
	ck_assert_mem_eq(status.uids, one->expected.uids, sizeof(status.uids));
	ck_assert_uint_eq(status.innermost_id, one->expected.innermost_id);
}
END_TEST

/* ---- /proc/PID/maps ---- */

struct mapping_case {
	const char *line;
	int result;
	struct process_mapping expected;
};

static const struct mapping_case mapping_cases[] = {
	{ "00400000-00401000 r-xp 00000000 fe:00 1234    /bin/true\n", 0, { 0x400000, 0x401000, true } },
	{ "7f00000000ff-7fffffffffff r--p 0 00:00 0\n", 0, { 0x7f00000000ff, 0x7fffffffffff, false } },
	{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n",
	  0,
	  { 0xffffffffff600000, 0xffffffffff601000, true } },
	{ "1000-2000 rwxs 0 00:00 0 x-x r-xp\n", 0, { 0x1000, 0x2000, true } },
	{ "1000-2000 rw-x 0 00:00 0\n", 0, { 0x1000, 0x2000, false } },
	{ "", -EBADMSG, { 0 } },
	{ "\n", -EBADMSG, { 0 } },
	{ "1000\n", -EBADMSG, { 0 } },
	{ "1000-\n", -EBADMSG, { 0 } },
	{ "1000-2000\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-xpp 0\n", -EBADMSG, { 0 } },
	{ "-2000 r-xp 0\n", -EBADMSG, { 0 } },
	{ " 1000-2000 r-xp 0\n", -EBADMSG, { 0 } },
	{ "0x1000-2000 r-xp 0\n", -EBADMSG, { 0 } },
	{ "1000-2000-3000 r-xp 0\n", -EBADMSG, { 0 } },
	{ "ABC000-BBC000 r-xp 0\n", -EBADMSG, { 0 } },
	{ "2000-2000 r-xp 0\n", -EBADMSG, { 0 } },
	{ "3000-2000 r-xp 0\n", -EBADMSG, { 0 } },
	{ "10000000000000000-10000000000001000 r-xp 0\n", -EBADMSG, { 0 } },
};

START_TEST(mappings)
{
	const struct mapping_case *one = &mapping_cases[_i];
	struct process_mapping mapping = { 0 };

	ck_assert_int_eq(process_text_mapping(one->line, &mapping), one->result);
	ck_assert_uint_eq(mapping.begins, one->expected.begins);
	ck_assert_uint_eq(mapping.ends, one->expected.ends);
	ck_assert(mapping.executable == one->expected.executable);
}
END_TEST

/* ---- files of this kernel ---- */

START_TEST(files_of_this_process)
{
	_cleanup_free_ char *stat_text = NULL, *status_text = NULL, *maps_text = NULL;
	uint64_t own = (uint64_t)(uintptr_t)process_text_stat;
	struct process_mapping mapping;
	struct process_status status;
	struct process_stat stat;
	uid_t real, effective, saved;
	size_t bytes;
	bool found = false;

	ck_assert_int_eq(file_read_text(AT_FDCWD, "/proc/self/stat", 1 << 16, &stat_text, &bytes), 0);
	ck_assert_int_eq(process_text_stat(stat_text, &stat), 0);
	ck_assert_int_eq(stat.state, 'R');
	ck_assert_uint_gt(stat.start_ticks, 0);
	ck_assert_int_eq(file_read_text(AT_FDCWD, "/proc/self/status", 1 << 16, &status_text, &bytes), 0);
	ck_assert_int_eq(process_text_status(status_text, &status), 0);
	ck_assert_int_eq(getresuid(&real, &effective, &saved), 0);
	ck_assert_uint_eq(status.uids[PROCESS_REAL], real);
	ck_assert_uint_eq(status.uids[PROCESS_EFFECTIVE], effective);
	ck_assert_uint_eq(status.uids[PROCESS_SAVED], saved);
	ck_assert_uint_eq(status.innermost_id, (uint32_t)getpid());
	ck_assert_int_eq(file_read_text(AT_FDCWD, "/proc/self/maps", 16 << 20, &maps_text, &bytes), 0);
	for (char *line = strtok(maps_text, "\n"); line; line = strtok(NULL, "\n")) {
		ck_assert_int_eq(process_text_mapping(line, &mapping), 0);
		found |= mapping.executable && mapping.begins <= own && own < mapping.ends;
	}
	ck_assert(found);
}
END_TEST

SUITE(process_text)
{
	Suite *suite = suite_create("process_text");
	TCase *tests = tcase_create("process_text");

	tcase_add_loop_test(tests, stats, 0, ARRAY_SIZE(stat_cases));
	tcase_add_loop_test(tests, statuses, 0, ARRAY_SIZE(status_cases));
	tcase_add_loop_test(tests, mappings, 0, ARRAY_SIZE(mapping_cases));
	tcase_add_test(tests, files_of_this_process);
	suite_add_tcase(suite, tests);
	return suite;
}
