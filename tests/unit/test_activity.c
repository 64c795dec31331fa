/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a look at all threads is read wherever its stream is cut, that damaged ones are refused, and what a minute says of
 * its looks: sums, the least and the most, and times, also of keys for which there was no room.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/store/activity_rows.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

#define AT 1700000000000000000
#define SECOND_NS 1000000000UL

static struct cgroups *cgroups;
static struct activity_slot *slots;
static struct activity_look look;

static void set_up(void)
{
	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	slots = calloc(ACTIVITY_SLOTS, sizeof(*slots));
	ck_assert_ptr_nonnull(slots);
	look = (struct activity_look){ .header = { RECORD_ACTIVITY, sizeof(look) }, .number = 1 };
}

static void tear_down(void)
{
	cgroups_free(cgroups);
	free(slots);
}

static struct activity_key key_of(const char *comm, uint16_t state)
{
	struct activity_key key = {
		.cgroup_id = 1, .uid = 33, .call = 0, .function = KERNEL_FRAME_UNKNOWN, .state = state
	};

	strcpy(key.comm, comm);
	return key;
}

/* ---- looks ---- */

static void begin_look(void)
{
	look.number++;
	look.threads = 0;
	memset(look.others, 0, sizeof(look.others));
}

static void count(uint32_t slot, const struct activity_key *key, uint32_t threads)
{
	slots[slot] = (struct activity_slot){ .key = *key, .look = look.number, .threads = threads };
	look.threads += threads;
}

/* The record of a cgroup with this path, and that of the look. Returns the bytes. */
static size_t make_stream(char *stream, const char *path)
{
	const struct cgroup_record cgroup = { .header = { RECORD_CGROUP, sizeof(cgroup) },
					      .cgroup_id = 1,
					      .path_bytes = (uint32_t)strlen(path) };

	memcpy(stream, &cgroup, sizeof(cgroup));
	memcpy(stream + sizeof(cgroup), path, strlen(path));
	memcpy(stream + sizeof(cgroup) + strlen(path), &look, sizeof(look));
	return sizeof(cgroup) + strlen(path) + sizeof(look);
}

START_TEST(a_stream_is_read_wherever_it_is_cut)
{
	char bytes[256];
	size_t length = make_stream(bytes, "/a.slice/b.service");

	for (size_t cut = 0; cut <= length; cut++) {
		struct activity_stream stream = { .cgroups = cgroups };
		long first = activity_counts_read(&stream, bytes, cut);

		ck_assert_int_ge(first, 0);
		ck_assert_int_le(first, (long)cut);
		ck_assert(stream.is_whole == (cut == length));
		ck_assert_int_eq(activity_counts_read(&stream, bytes + first, length - (size_t)first),
				 (long)length - first);
		ck_assert(stream.is_whole);
		ck_assert_uint_eq(stream.look.number, look.number);
	}
	ck_assert_str_eq(cgroups_path(cgroups, 1), "/a.slice/b.service");
}
END_TEST

START_TEST(damaged_streams_are_refused)
{
	struct activity_stream stream = { .cgroups = cgroups };
	struct record_header header = { RECORD_LOOK, sizeof(struct look_record) };
	char bytes[512];
	size_t length;

	ck_assert_int_eq(activity_counts_read(&stream, (char *)&header, sizeof(header)), -EBADMSG);
	header = (struct record_header){ RECORD_ACTIVITY, sizeof(look) - 1 };
	ck_assert_int_eq(activity_counts_read(&stream, (char *)&header, sizeof(header)), -EBADMSG);
	length = make_stream(bytes, "no path");
	ck_assert_int_eq(activity_counts_read(&stream, bytes, length), -EBADMSG);
	/* nothing follows the last record */
	length = make_stream(bytes, "/");
	memcpy(bytes + length, bytes, length);
	ck_assert_int_eq(activity_counts_read(&stream, bytes, 2 * length), -EBADMSG);
}
END_TEST

START_TEST(slots_of_other_looks_are_not_counted)
{
	const struct activity_key running = key_of("one", THREAD_RUNNING), waits = key_of("two", THREAD_DISK);
	struct activity_counts counts = { 0 };

	count(0, &running, 7);
	begin_look();
	count(ACTIVITY_SLOTS - 1, &waits, 2);
	look.others[THREAD_SLEEPING] = 3;
	look.threads += 3;
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
	ck_assert_uint_eq(counts.count, 1);
	ck_assert_str_eq(counts.rows[0].key.comm, "two");
	ck_assert_uint_eq(counts.rows[0].threads, 2);
	activity_counts_free(&counts);
}
END_TEST

START_TEST(counts_that_do_not_add_up_are_refused)
{
	struct activity_key key = key_of("one", THREAD_RUNNING);
	struct activity_counts counts = { 0 };

	count(3, &key, 7);
	look.threads--;
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), -EBADMSG);
	begin_look();
	count(3, &key, UINT32_MAX);
	count(4, &key, UINT32_MAX);
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), -EBADMSG);
	begin_look();
	look.others[ACTIVITY_STATES - 1] = look.threads = 1;
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), -EBADMSG);
	begin_look();
	key.state = THREAD_STATES;
	count(3, &key, 1);
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), -EBADMSG);
	/* a name without an end is cut */
	begin_look();
	key.state = THREAD_STOPPED;
	memset(key.comm, 'x', sizeof(key.comm));
	count(3, &key, 1);
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
	ck_assert_uint_eq(strlen(counts.rows[0].key.comm), ABI_COMM_BYTES - 1);
	activity_counts_free(&counts);
}
END_TEST

static void make_rows(struct activity_rows *rows, struct activity_minute *minute)
{
	static const char text[] = "0 _text\n4096 waits\n8192 moves disk\n";
	const struct kernel_symbols symbols = { .text = text, .bytes = sizeof(text) - 1 };

	ck_assert_int_eq(activity_rows_make(rows, minute, &symbols), 0);
}

/* Whatever a compromised process of the daemon's user wrote there. */
START_TEST(garbage_breaks_nothing)
{
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS);
	struct activity_counts counts = { 0 };
	struct dice dice = dice_new(0xac7);
	struct activity_rows rows;
	uint32_t step = 0;

	ck_assert_ptr_nonnull(minute);
	for (int round = 0; round < 20; round++) {
		uint64_t sum = 0;

		begin_look();
		for (uint32_t i = 0; i < ACTIVITY_SLOTS; i++) {
			for (size_t byte = 0; byte < sizeof(slots[i]); byte++)
				((uint8_t *)&slots[i])[byte] = (uint8_t)dice_roll(&dice);
			if (dice_below(&dice, 4))
				continue;
			slots[i].look = look.number;
			if (round % 2) {
				slots[i].key.state %= THREAD_STATES;
				slots[i].threads = 1 + slots[i].threads % 1000;
				sum += slots[i].threads;
			}
		}
		look.threads = (uint32_t)sum;
		if (!activity_counts_copy(&counts, &look, slots))
			activity_minute_add(minute, step++, &counts, cgroups);
	}
	ck_assert_uint_gt(minute->looks, 0);
	activity_minute_end(minute, step, cgroups);
	make_rows(&rows, minute);
	activity_rows_bound(&rows, 20000);
	activity_rows_free(&rows);
	activity_counts_free(&counts);
	activity_minute_free(minute);
}
END_TEST

/* ---- minutes ---- */

/* Adds a look with one key, or with none for 0 threads. */
static void add_look(struct activity_minute *minute, uint32_t step, const struct activity_key *key,
		     uint32_t threads)
{
	struct activity_counts counts = { 0 };

	begin_look();
	if (threads)
		count(0, key, threads);
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
	activity_minute_add(minute, step, &counts, cgroups);
	activity_counts_free(&counts);
}

START_TEST(times_say_when_the_number_changes)
{
	/* 9: no look */
	static const struct {
		const char *threads, *times;
		uint32_t sum, least, most;
	} cases[] = {
		{ "3333", "[[0,3]]", 12, 3, 3 },
		{ "0330", "[[1,3],[3,0]]", 6, 0, 3 },
		{ "1221", "[[0,1],[1,2],[3,1]]", 6, 1, 2 },
		{ "0001", "[[3,1]]", 1, 0, 1 },
		{ "1000", "[[0,1],[1,0]]", 1, 0, 1 },
		{ "1001", "[[0,1],[1,0],[3,1]]", 2, 0, 1 },
		{ "1991", "[[0,1]]", 2, 1, 1 },
		{ "9919", "[[2,1]]", 1, 1, 1 },
		{ "1909", "[[0,1],[2,0]]", 1, 0, 1 },
		{ "2995", "[[0,2],[3,5]]", 7, 2, 5 },
	};
	const struct activity_key key = key_of("comm", THREAD_DISK);
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS);
	struct activity_rows rows;

	ck_assert_ptr_nonnull(minute);
	for (uint32_t i = 0; i < 4; i++)
		if (cases[_i].threads[i] != '9')
			add_look(minute, i, &key, (uint32_t)cases[_i].threads[i] - '0');
	activity_minute_end(minute, 4, cgroups);
	make_rows(&rows, minute);
	ck_assert_uint_eq(rows.count, 1);
	ck_assert_str_eq(rows.rows[0].times, cases[_i].times);
	ck_assert_uint_eq(rows.rows[0].sums.threads, cases[_i].sum);
	ck_assert_uint_eq(rows.rows[0].sums.least, cases[_i].least);
	ck_assert_uint_eq(rows.rows[0].sums.most, cases[_i].most);
	activity_rows_free(&rows);
	activity_minute_free(minute);
}
END_TEST

/* Two cgroups with one path, and two places in one function, are one row, whose numbers are of both together. */
START_TEST(keys_with_the_same_words_are_one_row)
{
	const struct cgroup_record record = { .path_bytes = 2, .cgroup_id = 1 },
				   other = { .path_bytes = 2, .cgroup_id = 2 };
	struct activity_key key = key_of("comm", THREAD_DISK), same = key;
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS);
	struct activity_counts counts = { 0 };
	struct activity_rows rows;
	struct activity_words words;

	ck_assert_ptr_nonnull(minute);
	key.function = 8192 + 16;
	same.function = 8192 + 32;
	same.cgroup_id = 2;
	cgroups_learn(cgroups, &record, "/a");
	cgroups_learn(cgroups, &other, "/a");
	for (uint32_t step = 0; step < 3; step++) {
		begin_look();
		count(0, &key, 2);
		if (step)
			count(1, &same, step);
		ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
		activity_minute_add(minute, step, &counts, cgroups);
	}
	activity_minute_end(minute, 3, cgroups);
	make_rows(&rows, minute);
	ck_assert_uint_eq(rows.count, 1);
	ck_assert_str_eq(rows.rows[0].times, "[[0,2],[1,3],[2,4]]");
	ck_assert_uint_eq(rows.rows[0].sums.threads, 9);
	activity_rows_words(&rows, &rows.rows[0], &words);
	ck_assert_str_eq(words.state, "D");
	ck_assert_str_eq(words.comm, "comm");
	ck_assert_str_eq(words.syscall, "read");
	ck_assert_str_eq(words.cgroup, "/a");
	ck_assert_str_eq(words.function, "moves [disk]");
	ck_assert_int_eq(words.uid, 33);
	activity_rows_free(&rows);
	activity_counts_free(&counts);
	activity_minute_free(minute);
}
END_TEST

/* ---- bounds ---- */

static uint64_t sum_of(const struct activity_rows *rows)
{
	struct activity_sums sums;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		sum += rows->rows[i].is_folded ? 0 : rows->rows[i].sums.threads;
	for (uint32_t state = 0; state < THREAD_STATES; state++)
		sum += activity_rows_rest(rows, state, &sums) ? sums.threads : 0;
	return sum;
}

/* A look at many keys that no other look has. Returns its threads. */
static uint32_t add_crowd(struct activity_minute *minute, uint32_t step, uint32_t keys)
{
	struct activity_counts counts = { 0 };
	char comm[ABI_COMM_BYTES];

	begin_look();
	for (uint32_t i = 0; i < keys; i++) {
		struct activity_key key;

		snprintf(comm, sizeof(comm), "%u-%u", step, i);
		key = key_of(comm, i % 2 ? THREAD_SLEEPING : THREAD_RUNNING);
		count(i, &key, 1 + i % 3);
	}
	look.others[THREAD_IDLE] = 5;
	look.threads += 5;
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
	activity_minute_add(minute, step, &counts, cgroups);
	activity_counts_free(&counts);
	return look.threads;
}

START_TEST(ten_thousand_keys_stay_within_the_bound)
{
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS);
	const struct activity_key large = key_of("large", THREAD_DISK);
	struct activity_rows rows;
	uint64_t threads = 0, bytes;
	uint32_t kept = 0;

	ck_assert_ptr_nonnull(minute);
	for (uint32_t step = 0; step < 4; step++)
		threads += add_crowd(minute, step, 2500);
	add_look(minute, 4, &large, 1000);
	activity_minute_end(minute, 5, cgroups);
	make_rows(&rows, minute);
	ck_assert_uint_eq(rows.count, 10001);
	for (uint32_t i = 0; i < rows.count; i++)
		rows.rows[i].key_bytes = 100;
	bytes = activity_rows_bound(&rows, 21504);
	ck_assert_uint_le(bytes, 21504);
	ck_assert_uint_gt(bytes, 20000);
	ck_assert_uint_eq(sum_of(&rows), threads + 1000);
	for (uint32_t i = 0; i < rows.count; i++) {
		ck_assert_ptr_null(rows.rows[i].times);
		kept += !rows.rows[i].is_folded;
		if (rows.rows[i].state == THREAD_DISK)
			ck_assert(!rows.rows[i].is_folded);
		else if (!rows.rows[i].is_folded)
			ck_assert_uint_eq(rows.rows[i].sums.threads, 3);
	}
	ck_assert_uint_gt(kept, 100);
	/* again, with less room */
	bytes = activity_rows_bound(&rows, 2000);
	ck_assert_uint_le(bytes, 2000);
	ck_assert_uint_eq(sum_of(&rows), threads + 1000);
	activity_rows_free(&rows);
	activity_minute_free(minute);
}
END_TEST

/* However many they are: a user who sleeps in deep cgroups takes the room of nobody who runs. */
START_TEST(rows_of_the_idle_go_before_those_of_fewer_threads_that_ran)
{
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS);
	struct activity_counts counts = { 0 };
	struct activity_rows rows;
	char comm[ABI_COMM_BYTES];

	ck_assert_ptr_nonnull(minute);
	begin_look();
	for (uint32_t i = 0; i < 24; i++) {
		struct activity_key key;

		snprintf(comm, sizeof(comm), "%u", i);
		key = key_of(comm, i < 4 ? THREAD_SLEEPING : THREAD_RUNNING);
		count(i, &key, i < 4 ? 10 : 1);
	}
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
	activity_minute_add(minute, 0, &counts, cgroups);
	activity_minute_end(minute, 1, cgroups);
	make_rows(&rows, minute);
	for (uint32_t i = 0; i < rows.count; i++)
		rows.rows[i].key_bytes = rows.rows[i].state == THREAD_SLEEPING ? 7700 : 100;
	ck_assert_uint_le(activity_rows_bound(&rows, 5000), 5000);
	ck_assert_uint_eq(sum_of(&rows), 60);
	for (uint32_t i = 0; i < rows.count; i++)
		ck_assert_int_eq(rows.rows[i].is_folded, rows.rows[i].state == THREAD_SLEEPING);
	activity_rows_free(&rows);
	activity_counts_free(&counts);
	activity_minute_free(minute);
}
END_TEST

START_TEST(times_of_the_idle_and_of_the_smallest_go_first)
{
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS);
	struct activity_counts counts = { 0 };
	const struct activity_key keys[] = { key_of("asleep", THREAD_SLEEPING), key_of("few", THREAD_RUNNING),
					     key_of("many", THREAD_RUNNING) };
	struct activity_rows rows;
	uint64_t bytes;

	ck_assert_ptr_nonnull(minute);
	begin_look();
	count(0, &keys[0], 100);
	count(1, &keys[1], 1);
	count(2, &keys[2], 10);
	ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
	activity_minute_add(minute, 0, &counts, cgroups);
	activity_minute_end(minute, 1, cgroups);
	make_rows(&rows, minute);
	bytes = activity_rows_bound(&rows, UINT64_MAX);
	for (int gone = 1; gone <= 3; gone++) {
		const char *const names[] = { "asleep", "few", "many" };

		bytes = activity_rows_bound(&rows, bytes - 1);
		for (uint32_t i = 0; i < rows.count; i++) {
			struct activity_words words;

			activity_rows_words(&rows, &rows.rows[i], &words);
			for (int name = 0; name < 3; name++)
				if (!strcmp(words.comm, names[name]))
					ck_assert(!rows.rows[i].times == (name < gone));
			ck_assert(!rows.rows[i].is_folded);
		}
	}
	activity_rows_free(&rows);
	activity_counts_free(&counts);
	activity_minute_free(minute);
}
END_TEST

/* More keys than a minute holds, which come and go at each look: nothing is lost. */
START_TEST(what_finds_no_room_counts_as_rest)
{
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS / 10);
	struct activity_rows rows;
	uint64_t threads = 0;

	ck_assert_ptr_nonnull(minute);
	for (uint32_t step = 0; step < 3; step++)
		threads += add_crowd(minute, step, ACTIVITY_SLOTS);
	activity_minute_end(minute, 3, cgroups);
	ck_assert_uint_eq(minute->rows_count, ACTIVITY_ROWS_MAX);
	make_rows(&rows, minute);
	ck_assert_uint_eq(rows.count, ACTIVITY_ROWS_MAX);
	ck_assert_uint_eq(sum_of(&rows), threads);
	activity_rows_free(&rows);
	activity_minute_free(minute);
}
END_TEST

START_TEST(rows_whose_changes_find_no_room_count_as_rest)
{
	struct activity_minute *minute = activity_minute_new(AT, SECOND_NS / 10);
	struct activity_counts counts = { 0 };
	struct activity_sums sums;
	struct activity_rows rows;
	uint64_t threads = 0;
	bool any = false;

	ck_assert_ptr_nonnull(minute);
	for (uint32_t step = 0; step < 400; step += 2) {
		begin_look();
		for (uint32_t i = 0; i < ACTIVITY_SLOTS; i++) {
			char comm[ABI_COMM_BYTES];
			struct activity_key key;

			snprintf(comm, sizeof(comm), "%u", i);
			key = key_of(comm, THREAD_RUNNING);
			count(i, &key, 1 + (step / 2 + i) % 2);
		}
		threads += look.threads;
		ck_assert_int_eq(activity_counts_copy(&counts, &look, slots), 0);
		activity_minute_add(minute, step, &counts, cgroups);
	}
	activity_minute_end(minute, 400, cgroups);
	ck_assert_uint_eq(minute->changes_count, ACTIVITY_CHANGES_MAX);
	for (uint32_t i = 0; i < minute->rows_count; i++)
		any |= !minute->rows[i].is_rest;
	ck_assert(any);
	make_rows(&rows, minute);
	ck_assert(activity_rows_rest(&rows, THREAD_RUNNING, &sums));
	ck_assert_uint_gt(sums.least, 0);
	ck_assert_uint_eq(sum_of(&rows), threads);
	activity_rows_free(&rows);
	activity_counts_free(&counts);
	activity_minute_free(minute);
}
END_TEST

SUITE(activity)
{
	Suite *suite = suite_create("activity");
	TCase *activity = tcase_create("activity");

	tcase_add_checked_fixture(activity, set_up, tear_down);
	tcase_add_test(activity, a_stream_is_read_wherever_it_is_cut);
	tcase_add_test(activity, damaged_streams_are_refused);
	tcase_add_test(activity, slots_of_other_looks_are_not_counted);
	tcase_add_test(activity, counts_that_do_not_add_up_are_refused);
	tcase_add_test(activity, garbage_breaks_nothing);
	tcase_add_loop_test(activity, times_say_when_the_number_changes, 0, 10);
	tcase_add_test(activity, keys_with_the_same_words_are_one_row);
	tcase_add_test(activity, ten_thousand_keys_stay_within_the_bound);
	tcase_add_test(activity, rows_of_the_idle_go_before_those_of_fewer_threads_that_ran);
	tcase_add_test(activity, times_of_the_idle_and_of_the_smallest_go_first);
	tcase_add_test(activity, what_finds_no_room_counts_as_rest);
	tcase_add_test(activity, rows_whose_changes_find_no_room_count_as_rest);
	suite_add_tcase(suite, activity);
	return suite;
}
