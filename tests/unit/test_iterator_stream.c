/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that records arrive whole, whatever pieces the stream comes in, and that a stream that ends within a
 * record, or whose callback fails, is an error.
 */
#include "common/base/cleanup.h"
#include "consumer/host/iterator_stream.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

/* ---- a stream of numbers, each behind its own length in bytes ---- */

struct stream {
	int fd;
	size_t bytes, chunk; /* 0: random sizes */
	char *data;
	struct dice dice;
};

static void *write_stream(void *user)
{
	struct stream *stream = user;

	for (size_t at = 0; at < stream->bytes;) {
		size_t chunk = stream->chunk ? stream->chunk : 1 + dice_below(&stream->dice, 5000);

		if (chunk > stream->bytes - at)
			chunk = stream->bytes - at;
		HOLDS(write(stream->fd, stream->data + at, chunk) == (ssize_t)chunk);
		at += chunk;
	}
	close(stream->fd);
	return NULL;
}

/* Record n: its length (2 bytes), n (4 bytes), and padding. */
#define RECORD_LEAST 6U

static void stream_make(struct stream *stream, uint32_t records, uint32_t longest, struct dice *dice)
{
	*stream = (struct stream){ .data = malloc((size_t)records * longest), .dice = *dice };
	for (uint32_t i = 0; i < records; i++) {
		uint16_t length = (uint16_t)(RECORD_LEAST + dice_below(dice, longest - RECORD_LEAST + 1));

		memcpy(stream->data + stream->bytes, &length, 2);
		memcpy(stream->data + stream->bytes + 2, &i, 4);
		memset(stream->data + stream->bytes + 6, (int)i, length - RECORD_LEAST);
		stream->bytes += length;
	}
}

struct taking {
	uint32_t next, fail_at;
};

static long collect(void *user, const char *records, size_t bytes)
{
	struct taking *taking = user;
	size_t taken = 0;

	while (bytes - taken >= RECORD_LEAST) {
		uint16_t length;
		uint32_t number;

		memcpy(&length, records + taken, 2);
		if (length > bytes - taken)
			break;
		memcpy(&number, records + taken + 2, 4);
		HOLDS(number == taking->next);
		for (uint16_t i = RECORD_LEAST; i < length; i++)
			HOLDS(records[taken + i] == (char)number);
		if (++taking->next == taking->fail_at)
			return -EILSEQ;
		taken += length;
	}
	return (long)taken;
}

static int read_stream(struct stream *stream, struct taking *taking)
{
	pthread_t writer;
	int ends[2], result;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	stream->fd = ends[1];
	ck_assert_int_eq(pthread_create(&writer, NULL, write_stream, stream), 0);
	result = iterator_stream_read(ends[0], collect, taking);
	while (read(ends[0], &(char[4096]){ 0 }, 4096) > 0)
		; /* lets the writer end */
	pthread_join(writer, NULL);
	close(ends[0]);
	return result;
}

static const size_t chunks[] = { 0, 1, 2, 3, 7, 64, 4095, 4096, 4097, 65535, 65536, 65537 };

START_TEST(records_arrive_in_pieces)
{
	struct dice dice = dice_new(140 + (uint64_t)_i);
	struct taking taking = { 0, 0 };
	struct stream stream;
	/* single bytes are slow: fewer records are enough */
	uint32_t records = chunks[_i] && chunks[_i] < 8 ? 300 : 3000;

	stream_make(&stream, records, 200, &dice);
	stream.chunk = chunks[_i];
	ck_assert_int_eq(read_stream(&stream, &taking), 0);
	ck_assert_uint_eq(taking.next, records);
	free(stream.data);
}
END_TEST

START_TEST(an_empty_stream_is_one)
{
	struct stream stream = { .data = NULL };
	struct taking taking = { 0, 0 };

	ck_assert_int_eq(read_stream(&stream, &taking), 0);
	ck_assert_uint_eq(taking.next, 0);
}
END_TEST

/* The stream may be cut at the end of a record and nowhere else. */
START_TEST(a_stream_that_is_cut)
{
	struct dice dice = dice_new(160);
	struct stream stream;
	size_t end = 0, whole = 0;

	stream_make(&stream, 8, 30, &dice);
	for (size_t bytes = 0, all = stream.bytes; bytes <= all; bytes++) {
		struct taking taking = { 0, 0 };
		uint16_t length;

		if (bytes == end) {
			memcpy(&length, stream.data + end, bytes < all ? 2 : 0);
			end += bytes < all ? length : 0;
			whole += bytes > 0;
			stream.bytes = bytes;
			ck_assert_int_eq(read_stream(&stream, &taking), 0);
		} else {
			stream.bytes = bytes;
			ck_assert_int_eq(read_stream(&stream, &taking), -EBADMSG);
		}
		ck_assert_uint_eq(taking.next, whole);
	}
	free(stream.data);
}
END_TEST

START_TEST(an_error_ends_it)
{
	struct dice dice = dice_new(161);
	struct taking taking = { 0, 50 };
	struct stream stream;

	stream_make(&stream, 100, 30, &dice);
	ck_assert_int_eq(read_stream(&stream, &taking), -EILSEQ);
	ck_assert_uint_eq(taking.next, 50);
	ck_assert_int_eq(iterator_stream_read(-1, collect, &taking), -EBADF);
	free(stream.data);
}
END_TEST

static long consume_nothing(void *user, const char *records, size_t bytes)
{
	(void)user;
	(void)records;
	(void)bytes;
	return 0;
}

/* A record larger than any buffer is an error, not an endless loop. */
START_TEST(a_record_that_never_ends)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "stream");
	_cleanup_free_ char *bytes = calloc(1, 200000);
	_cleanup_close_ int fd = -EBADF;

	file_put(path, bytes, 200000);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(iterator_stream_read(fd, consume_nothing, NULL), -EBADMSG);
	directory_remove(directory);
}
END_TEST

SUITE(iterator_stream)
{
	Suite *suite = suite_create("iterator_stream");
	TCase *records = tcase_create("records");

	tcase_add_loop_test(records, records_arrive_in_pieces, 0, ARRAY_SIZE(chunks));
	tcase_add_test(records, an_empty_stream_is_one);
	tcase_add_test(records, a_stream_that_is_cut);
	tcase_add_test(records, an_error_ends_it);
	tcase_add_test(records, a_record_that_never_ends);
	suite_add_tcase(suite, records);
	return suite;
}
