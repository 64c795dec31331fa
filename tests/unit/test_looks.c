/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a look is read wherever its stream is cut, that a thread that is where it was has what the look before told of
 * it, that what is missing is asked for again, and that no damaged record is read.
 */
#include "common/base/cleanup.h"
#include "consumer/host/looks.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

struct stream {
	char *bytes;
	size_t length;
};

static void put(struct stream *stream, const struct look_record *record, const int32_t *frames)
{
	size_t frames_bytes = record->depth * sizeof(*frames);

	stream->bytes = realloc(stream->bytes, stream->length + sizeof(*record) + frames_bytes);
	ck_assert_ptr_nonnull(stream->bytes);
	memcpy(stream->bytes + stream->length, record, sizeof(*record));
	if (frames_bytes)
		memcpy(stream->bytes + stream->length + sizeof(*record), frames, frames_bytes);
	stream->length += sizeof(*record) + frames_bytes;
}

static struct look_record record_of(uint32_t tid, uint16_t depth)
{
	return (struct look_record){ .header = { RECORD_LOOK, sizeof(struct look_record) },
				     .tid = tid,
				     .tgid = 7,
				     .started_ns = 9,
				     .lock = tid + 100,
				     .call = (int32_t)tid,
				     .fd = 3,
				     .comm = "thread",
				     .state = THREAD_DISK,
				     .depth = depth };
}

/* The thread has not run since. */
static struct look_record same(uint32_t tid)
{
	struct look_record record = record_of(tid, 0);

	record.flags = LOOK_SAME;
	record.call = record.fd = -1;
	record.lock = 0;
	return record;
}

static void take(struct looks *looks, struct stream *stream)
{
	looks_begin(looks);
	ck_assert_int_eq(looks_add(looks, stream->bytes, stream->length), (long)stream->length);
	free(stream->bytes);
	*stream = (struct stream){ 0 };
}

START_TEST(a_thread_that_stays_is_completed)
{
	static const int32_t frames[] = { 11, 12, 13 };
	struct looks looks = { 0 };
	struct stream stream = { 0 };
	struct look_record record;

	for (uint32_t tid = 1; tid <= 3; tid++) {
		record = record_of(tid, (uint16_t)tid);
		put(&stream, &record, frames);
	}
	take(&looks, &stream);
	/* through several looks; thread 2 ends, and the others come in another order */
	for (int look = 0; look < 3; look++) {
		record = same(3);
		put(&stream, &record, NULL);
		record = same(1);
		record.state = THREAD_QUEUED;
		put(&stream, &record, NULL);
		take(&looks, &stream);
	}
	ck_assert_uint_eq(looks.last.count, 2);
	ck_assert_uint_eq(looks.lost, 0);
	ck_assert(!looks.has_missing);
	for (uint32_t i = 0; i < 2; i++) {
		const struct look *look = &looks.last.looks[i];
		uint32_t tid = i ? 1 : 3;

		ck_assert_uint_eq(look->record.tid, tid);
		ck_assert_uint_eq(look->record.depth, tid);
		ck_assert_int_eq(look->record.call, (int)tid);
		ck_assert_int_eq(look->record.fd, 3);
		ck_assert_uint_eq(look->record.lock, tid + 100);
		ck_assert_uint_eq(look->record.state, i ? THREAD_QUEUED : THREAD_DISK);
		ck_assert_int_eq(memcmp(looks.last.frames.all + look->first, frames, tid * sizeof(*frames)),
				 0);
	}
	looks_free(&looks);
}
END_TEST

START_TEST(what_is_missing_is_asked_for_again)
{
	struct control control = { .looks_series = 4 };
	struct looks looks = { 0 };
	struct stream stream = { 0 };
	struct look_record record = record_of(1, 0);

	put(&stream, &record, NULL);
	take(&looks, &stream);
	/* another process had the number; and a thread of which no look told */
	record = same(1);
	record.started_ns++;
	put(&stream, &record, NULL);
	record = same(2);
	put(&stream, &record, NULL);
	take(&looks, &stream);
	ck_assert_uint_eq(looks.last.count, 0);
	ck_assert_uint_eq(looks.lost, 2);
	ck_assert(looks.has_missing);
	looks_forget(&looks, &control);
	ck_assert_uint_eq(control.looks_series, 5);
	ck_assert(!looks.has_missing);
}
END_TEST

START_TEST(a_stream_may_be_cut_anywhere)
{
	int32_t frames[LOOK_FRAMES];
	struct stream stream = { 0 };

	for (int32_t i = 0; i < (int32_t)LOOK_FRAMES; i++)
		frames[i] = KERNEL_FRAME_UNKNOWN + i;
	for (uint32_t tid = 1; tid <= 5; tid++) {
		struct look_record record = record_of(tid, (uint16_t)(tid * 8 > 32 ? 32 : tid * 8));

		put(&stream, &record, frames);
	}
	for (size_t cut = 0; cut <= stream.length; cut++) {
		struct looks looks = { 0 };
		long first, rest;

		looks_begin(&looks);
		first = looks_add(&looks, stream.bytes, cut);
		HOLDS(first >= 0 && (size_t)first <= cut);
		rest = looks_add(&looks, stream.bytes + first, stream.length - (size_t)first);
		HOLDS((size_t)(first + rest) == stream.length);
		HOLDS(looks.last.count == 5 && !looks.lost);
		HOLDS(!memcmp(looks.last.frames.all + looks.last.looks[4].first, frames, sizeof(frames)));
		looks_free(&looks);
	}
	free(stream.bytes);
}
END_TEST

static void spoil_type(struct look_record *record)
{
	record->header.type = RECORD_TASK;
}

static void spoil_bytes(struct look_record *record)
{
	record->header.bytes--;
}

static void spoil_depth(struct look_record *record)
{
	record->depth = LOOK_FRAMES + 1;
}

static void spoil_state(struct look_record *record)
{
	record->state = THREAD_STATES;
}

static void spoil_of(struct look_record *record)
{
	record->of = SAMPLE_OF_KERNEL + 1;
}

static void spoil_same(struct look_record *record)
{
	record->flags = LOOK_SAME;
}

static void (*const spoilers[])(struct look_record *record) = { spoil_type,  spoil_bytes, spoil_depth,
								spoil_state, spoil_of,    spoil_same };

START_TEST(a_damaged_record_ends_the_look)
{
	static const int32_t frames[LOOK_FRAMES + 1];
	struct looks looks = { 0 };
	struct stream stream = { 0 };
	struct look_record record = record_of(1, 2);

	put(&stream, &record, frames);
	spoilers[_i](&record);
	put(&stream, &record, frames);
	looks_begin(&looks);
	ck_assert_int_eq(looks_add(&looks, stream.bytes, stream.length), -EBADMSG);
	looks_free(&looks);
	free(stream.bytes);
}
END_TEST

START_TEST(a_name_without_an_end_is_cut)
{
	struct looks looks = { 0 };
	struct stream stream = { 0 };
	struct look_record record = record_of(1, 0);

	memset(record.comm, 'x', sizeof(record.comm));
	put(&stream, &record, NULL);
	take(&looks, &stream);
	ck_assert_str_eq(looks.last.looks[0].record.comm, "xxxxxxxxxxxxxxx");
	looks_free(&looks);
}
END_TEST

START_TEST(threads_that_wait_at_one_place_share_its_frames)
{
	static const int32_t one[] = { 11, 12, 13 }, other[] = { 21, 12, 13 };
	struct looks looks = { 0 };
	struct stream stream = { 0 };
	struct look_record record;

	for (uint32_t tid = 1; tid <= 4; tid++) {
		record = record_of(tid, 3);
		put(&stream, &record, tid == 3 ? other : one);
	}
	take(&looks, &stream);
	ck_assert_uint_eq(looks.last.frames.count, 9);
	for (uint32_t tid = 1; tid <= 4; tid++) {
		record = same(tid);
		put(&stream, &record, NULL);
	}
	take(&looks, &stream);
	ck_assert_uint_eq(looks.last.frames.count, 9);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_int_eq(memcmp(looks.last.frames.all + looks.last.looks[i].first,
					i == 2 ? other : one, sizeof(one)),
				 0);
	looks_free(&looks);
}
END_TEST

/* Looks at `calm` threads that sleep, and `waiting` ones in D, all of which are where they were before if flags say so. */
static void look_at_many(struct looks *looks, uint32_t calm, uint32_t waiting, uint8_t flags)
{
	looks_begin(looks);
	for (uint32_t tid = 1; tid <= calm + waiting; tid++) {
		struct look_record record = record_of(tid, 0);

		record.flags = flags;
		record.state = tid <= calm ? THREAD_SLEEPING : THREAD_DISK;
		HOLDS(looks_add(looks, (const char *)&record, sizeof(record)) == sizeof(record));
	}
}

START_TEST(threads_beyond_the_limit_are_counted)
{
	struct looks looks = { 0 };

	look_at_many(&looks, 6144 + 3, 2048 + 2, 0);
	ck_assert_uint_eq(looks.last.count, 8192);
	ck_assert_uint_eq(looks.lost, 5);
	/* those without room do not make the kernel tell all stacks again */
	look_at_many(&looks, 6144 + 3, 2048 + 2, LOOK_SAME);
	look_at_many(&looks, 6144 + 3, 2048 + 2, LOOK_SAME);
	ck_assert_uint_eq(looks.last.count, 8192);
	ck_assert_uint_eq(looks.lost, 5);
	ck_assert(!looks.has_missing);
	/* until there is room for them */
	look_at_many(&looks, 1, 0, LOOK_SAME);
	ck_assert(!looks.has_missing);
	look_at_many(&looks, 2, 0, LOOK_SAME);
	ck_assert_uint_eq(looks.lost, 1);
	ck_assert(looks.has_missing);
	looks_begin(&looks);
	ck_assert_uint_eq(looks.last.count, 0);
	ck_assert_uint_eq(looks.lost, 0);
	looks_free(&looks);
}
END_TEST

SUITE(looks)
{
	Suite *suite = suite_create("looks");
	TCase *tests = tcase_create("looks");

	tcase_add_test(tests, a_thread_that_stays_is_completed);
	tcase_add_test(tests, threads_that_wait_at_one_place_share_its_frames);
	tcase_add_test(tests, what_is_missing_is_asked_for_again);
	tcase_add_test(tests, a_stream_may_be_cut_anywhere);
	tcase_add_loop_test(tests, a_damaged_record_ends_the_look, 0, ARRAY_SIZE(spoilers));
	tcase_add_test(tests, a_name_without_an_end_is_cut);
	tcase_add_test(tests, threads_beyond_the_limit_are_counted);
	suite_add_tcase(suite, tests);
	return suite;
}
