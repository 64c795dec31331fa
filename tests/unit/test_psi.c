/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the texts of pressure files are parsed or refused, and that the stall of a window follows from
 * the readings: by proportion between two, across the end of the ring, and after the total has fallen.
 */
#include "common/base/cleanup.h"
#include "common/kernel/psi.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>

#define SECOND 1000000000UL

/* ---- texts ---- */

#define SOME_LINE "some avg10=0.00 avg60=1.23 avg300=45.67 total=123456789\n"
#define FULL_LINE "full avg10=0.00 avg60=0.00 avg300=0.00 total=987\n"

struct text_case {
	const char *text;
	bool good, has_some, has_full;
	uint64_t some_us, full_us;
};

static const struct text_case text_cases[] = {
	{ SOME_LINE FULL_LINE, true, true, true, 123456789, 987 },
	{ SOME_LINE, true, true, false, 123456789, 0 },
	{ FULL_LINE, true, false, true, 0, 987 }, /* irq.pressure */
	{ "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", true, true, false, 0, 0 },
	{ "some avg10=100.00 avg60=99.99 avg300=1.00 total=18446744073709551615\n", true, true, false,
	  UINT64_MAX, 0 },
	{ "some avg10=0.00 avg60=0.00 avg300=0.00 total=7", true, true, false, 7, 0 },
	{ "", false, false, false, 0, 0 },
	{ "\n", false, false, false, 0, 0 },
	{ "some\n", false, false, false, 0, 0 },
	{ "some avg10=0.00 avg60=0.00 avg300=0.00 total=\n", false, false, false, 0, 0 },
	{ "some avg10=0.00 avg60=0.00 avg300=0.00 total=x\n", false, false, false, 0, 0 },
	{ "some avg10=0.00 avg60=0.00 avg300=0.00\n" FULL_LINE, false, false, false, 0, 0 },
	{ "any avg10=0.00 avg60=0.00 avg300=0.00 total=1\n", false, false, false, 0, 0 },
	{ SOME_LINE "more avg10=0.00 total=1\n", false, false, false, 0, 0 },
	{ SOME_LINE "\n" FULL_LINE, false, false, false, 0, 0 },
	{ " " SOME_LINE, false, false, false, 0, 0 },
};

START_TEST(texts)
{
	const struct text_case *one = &text_cases[_i];
	struct psi_totals totals, untouched;

	memset(&totals, 0x5a, sizeof(totals));
	untouched = totals;
	ck_assert_int_eq(psi_parse(one->text, &totals), one->good ? 0 : -EBADMSG);
	if (!one->good) {
		ck_assert_mem_eq(&totals, &untouched, sizeof(totals));
		return;
	}
	ck_assert_int_eq(totals.has[PSI_SOME], one->has_some);
	ck_assert_int_eq(totals.has[PSI_FULL], one->has_full);
	ck_assert_uint_eq(totals.us[PSI_SOME], one->some_us);
	ck_assert_uint_eq(totals.us[PSI_FULL], one->full_us);
}
END_TEST

/* A text that is cut before the number of its last line is refused. */
START_TEST(cut_texts)
{
	static const char text[] = SOME_LINE FULL_LINE;
	size_t first = sizeof(SOME_LINE) - 1;

	for (size_t bytes = 0; bytes <= sizeof(text) - 1; bytes++) {
		_cleanup_free_ char *cut = strndup(text, bytes);
		size_t begins = bytes <= first ? 0 : first;
		bool has_number = bytes == first || strstr(cut + begins, "total=");
		struct psi_totals totals;

		has_number = has_number && cut[bytes - 1] != '=';
		ck_assert_msg(psi_parse(cut, &totals) == (has_number ? 0 : -EBADMSG), "cut at %zu", bytes);
	}
}
END_TEST

START_TEST(reads_from_the_beginning_each_time)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "memory.pressure");
	_cleanup_close_ int fd = -EBADF;
	struct psi_totals totals;

	file_put(path, SOME_LINE FULL_LINE, strlen(SOME_LINE FULL_LINE));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(psi_read(fd, &totals), 0);
	ck_assert_uint_eq(totals.us[PSI_FULL], 987);
	totals = (struct psi_totals){ 0 };
	ck_assert_int_eq(psi_read(fd, &totals), 0);
	ck_assert_uint_eq(totals.us[PSI_SOME], 123456789);
	ck_assert_int_eq(psi_read(-1, &totals), -EBADF);
	directory_remove(directory);
}
END_TEST

/* The files of this kernel, where it has them. */
START_TEST(real_files)
{
	for (int i = 0; i < PSI_RESOURCES; i++) {
		_cleanup_close_ int fd = -EBADF;
		struct psi_totals totals;
		char path[64];

		snprintf(path, sizeof(path), "/proc/pressure/%s", psi_resource_names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue; /* no PSI, or no irq accounting */
		ck_assert_int_eq(psi_read(fd, &totals), 0);
		ck_assert_int_eq(totals.has[PSI_SOME], i != PSI_IRQ);
		ck_assert(totals.has[PSI_FULL]);
	}
}
END_TEST

struct arm_case {
	enum psi_kind kind;
	uint64_t stall_us, window_us;
	const char *text;
};

static const struct arm_case arm_cases[] = {
	{ PSI_SOME, 50000, 1000000, "some 50000 1000000" },
	{ PSI_FULL, 1, 10000000, "full 1 10000000" },
	{ PSI_FULL, UINT64_MAX, UINT64_MAX, "full 18446744073709551615 18446744073709551615" },
};

START_TEST(a_trigger_is_written_with_its_nul)
{
	const struct arm_case *one = &arm_cases[_i];
	char got[64] = "";
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(psi_arm(ends[1], one->kind, one->stall_us, one->window_us), 0);
	ck_assert_int_eq(read(ends[0], got, sizeof(got)), (ssize_t)strlen(one->text) + 1);
	ck_assert_str_eq(got, one->text);
	ck_assert_int_eq(psi_arm(ends[0], one->kind, one->stall_us, one->window_us), -EBADF);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* ---- windows ---- */

/* A reading each second from second 100 on; reading N adds N times 1,000 us to the total. */
static void fill(struct psi_window *window, uint64_t window_us, unsigned int readings)
{
	uint64_t total_us = 5000000;

	psi_window_begin(window, window_us);
	for (unsigned int i = 0; i < readings; i++) {
		total_us += 1000UL * i;
		psi_window_add(window, (100 + i) * SECOND, total_us);
	}
}

static uint64_t total_at(uint64_t reading)
{
	return 5000000 + 1000 * reading * (reading + 1) / 2;
}

struct growth_case {
	unsigned int readings, windows;
	uint64_t window_us, at_ms; /* since the first reading */
	uint64_t total_us, growth_us;
};

static const struct growth_case growth_cases[] = {
	/* windows that end on readings */
	{ 5, 1, 1000000, 4000, 5010000, 4000 },
	{ 5, 1, 2000000, 4000, 5010000, 7000 },
	{ 5, 2, 1000000, 4000, 5010000, 7000 },
	{ 5, 2, 2000000, 4000, 5010000, 10000 },
	{ 5, 1, 4000000, 4000, 5010000, 10000 },
	/* between readings: 4,000 us are added from 3 s to 4 s, half of them in the last 500 ms */
	{ 5, 1, 500000, 4000, 5010000, 2000 },
	{ 5, 1, 1500000, 4000, 5010000, 5500 },
	/* the total is newer than the newest reading: 600 us in 250 ms */
	{ 5, 1, 1000000, 4250, 5010600, 600 + 3000 },
	{ 5, 1, 500000, 4250, 5010600, 600 + 1000 },
	{ 5, 1, 250000, 4250, 5010600, 600 },
	{ 5, 1, 125000, 4250, 5010600, 300 },
	/* before the first reading nothing is added */
	{ 5, 1, 10000000, 4000, 5010000, 10000 },
	{ 5, 2, 10000000, 4000, 5010000, 10000 },
	{ 1, 1, 2000000, 0, 5000000, 0 },
	{ 1, 1, 2000000, 1000, 5000777, 777 },
	{ 0, 1, 2000000, 1000, 5000777, 0 },
	/* a total that fell */
	{ 5, 1, 2000000, 5000, 5009999, 0 },
	{ 5, 1, 2000000, 5000, 0, 0 },
};

START_TEST(growth)
{
	const struct growth_case *one = &growth_cases[_i];
	struct psi_window window;

	fill(&window, one->window_us, one->readings);
	ck_assert_uint_eq(
		psi_window_growth(&window, one->windows, 100 * SECOND + one->at_ms * 1000000, one->total_us),
		one->growth_us);
}
END_TEST

START_TEST(sixteen_readings_are_kept)
{
	for (unsigned int readings = 10; readings < 100; readings++) {
		uint64_t last = readings - 1, oldest = readings > PSI_READINGS ? readings - PSI_READINGS : 0;
		struct psi_window window;

		for (uint64_t seconds = 1; seconds <= 10; seconds++) {
			uint64_t from = last - oldest < 2 * seconds ? oldest : last - 2 * seconds;

			fill(&window, seconds * 1000000, readings);
			HOLDS(psi_window_growth(&window, 1, (100 + last) * SECOND, total_at(last)) ==
			      total_at(last) - total_at(last < seconds ? 0 : last - seconds));
			HOLDS(psi_window_growth(&window, 2, (100 + last) * SECOND, total_at(last)) ==
			      total_at(last) - total_at(from));
		}
	}
}
END_TEST

START_TEST(a_total_that_falls_starts_the_history_anew)
{
	struct psi_window window;

	fill(&window, 2000000, 20);
	psi_window_add(&window, 120 * SECOND, 300); /* a new cgroup of the same name */
	ck_assert_uint_eq(psi_window_growth(&window, 1, 120 * SECOND, 300), 0);
	psi_window_add(&window, 121 * SECOND, 700);
	ck_assert_uint_eq(psi_window_growth(&window, 1, 121 * SECOND, 700), 400);
	psi_window_add(&window, 121 * SECOND, 700); /* no time has passed */
	ck_assert_uint_eq(psi_window_growth(&window, 1, 121 * SECOND, 700), 400);
}
END_TEST

START_TEST(a_window_that_begins_before_time_0)
{
	struct psi_window window;

	psi_window_begin(&window, 10000000);
	psi_window_add(&window, SECOND, 1000);
	ck_assert_uint_eq(psi_window_growth(&window, 2, 2 * SECOND, 1500), 500);
	psi_window_begin(&window, 10000000);
	psi_window_add(&window, 0, 1000);
	ck_assert_uint_eq(psi_window_growth(&window, 1, SECOND, 1500), 500);
}
END_TEST

struct onset_case {
	uint64_t stall_us, window_us;
	uint64_t grown_us[5]; /* within each second, from 100 s on */
	uint64_t onset_ms;    /* since 100 s */
};

static const struct onset_case onset_cases[] = {
	/* calm, then 300 ms of the last second */
	{ 100000, 2000000, { 0, 0, 0, 0, 300000 }, 4700 },
	/* half of one second, then all of the next two */
	{ 100000, 2000000, { 0, 0, 500000, 1000000, 1000000 }, 2500 },
	/* it went on since the first reading */
	{ 100000, 2000000, { 1000000, 1000000, 1000000, 1000000, 1000000 }, 0 },
	/* less than a quarter of 100 ms in 2 s is calm: 12.5 ms in a second */
	{ 100000, 2000000, { 12499, 12499, 12499, 12499, 150000 }, 4850 },
	{ 100000, 2000000, { 0, 0, 12500, 12500, 150000 }, 2988 },
	/* a pause within the window that fired does not part two stalls, one before it does */
	{ 100000, 2000000, { 0, 0, 0, 100000, 0 }, 3900 },
	{ 100000, 2000000, { 0, 0, 100000, 0, 100000 }, 4900 },
	{ 100000, 3000000, { 0, 0, 100000, 0, 100000 }, 2900 },
	/* PSI's totals may grow by more than the time that has passed */
	{ 100000, 2000000, { 0, 0, 0, 0, 1000500 }, 4000 },
};

START_TEST(onset)
{
	const struct onset_case *one = &onset_cases[_i];
	uint64_t total_us = 7000000, got_ms;
	struct psi_window window;

	psi_window_begin(&window, one->window_us);
	psi_window_add(&window, 100 * SECOND, total_us);
	for (unsigned int i = 0; i < ARRAY_SIZE(one->grown_us); i++) {
		total_us += one->grown_us[i];
		psi_window_add(&window, (101 + i) * SECOND, total_us);
	}
	got_ms = (psi_window_onset(&window, one->stall_us) - 100 * SECOND + 500000) / 1000000;
	ck_assert_uint_eq(got_ms, one->onset_ms);
}
END_TEST

/* The growth is at most the total, and a longer window has no less of it. */
START_TEST(random_readings)
{
	struct dice dice = dice_new(50);

	for (int round = 0; round < 2000; round++) {
		uint64_t at_ns = SECOND * (1 + dice_below(&dice, 1000)), total_us = dice_roll(&dice) >> 8,
			 first_us = total_us;
		uint64_t before = 0;
		struct psi_window window;

		psi_window_begin(&window, 0);
		for (uint32_t i = dice_below(&dice, 40); i; i--) {
			psi_window_add(&window, at_ns, total_us);
			at_ns += dice_below(&dice, 3000000) * 1000UL;
			total_us += dice_below(&dice, 1000000);
		}
		for (uint64_t window_ns = 0; window_ns < 50 * SECOND; window_ns += 777 * 1000000) {
			uint64_t grown;

			window.window_ns = window_ns;
			grown = psi_window_growth(&window, 1, at_ns, total_us);
			HOLDS(grown <= total_us - first_us);
			HOLDS(grown >= before);
			before = grown;
		}
	}
}
END_TEST

SUITE(psi)
{
	Suite *suite = suite_create("psi");
	TCase *files = tcase_create("files"), *windows = tcase_create("windows");

	tcase_add_loop_test(files, texts, 0, ARRAY_SIZE(text_cases));
	tcase_add_test(files, cut_texts);
	tcase_add_test(files, reads_from_the_beginning_each_time);
	tcase_add_test(files, real_files);
	tcase_add_loop_test(files, a_trigger_is_written_with_its_nul, 0, ARRAY_SIZE(arm_cases));
	tcase_add_loop_test(windows, growth, 0, ARRAY_SIZE(growth_cases));
	tcase_add_loop_test(windows, onset, 0, (int)ARRAY_SIZE(onset_cases));
	tcase_add_test(windows, sixteen_readings_are_kept);
	tcase_add_test(windows, a_total_that_falls_starts_the_history_anew);
	tcase_add_test(windows, a_window_that_begins_before_time_0);
	tcase_add_test(windows, random_readings);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, windows);
	return suite;
}
