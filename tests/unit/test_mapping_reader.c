/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that all records of the iterator arrive, and that an iterator that blocks, like a FIFO without a
 * writer, does not keep its reader waiting longer than its deadline.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/symbols/mapping_reader.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define STREAM_BYTES 200000U /* some chunks, and a part of one */
#define SHORT_NS (CLOCK_SECOND_NS / 20)
#define LONG_NS (20 * CLOCK_SECOND_NS)

struct taken {
	char bytes[STREAM_BYTES];
	size_t count;
	int result; /* read instead of the iterator */
};

struct slice {
	struct taken taken;
	uint64_t deadline_ns;
};

/* Records of seven bytes. */
static long collect(void *user, const char *records, size_t bytes)
{
	struct taken *taken = user;
	size_t whole = bytes - bytes % 7;

	if (taken->result)
		return taken->result;
	if (taken->count + whole > sizeof(taken->bytes))
		return -EBADMSG;
	memcpy(taken->bytes + taken->count, records, whole);
	taken->count += whole;
	return (long)whole;
}

static int read_within(struct mapping_reader *reader, uint64_t patience_ns, struct taken *taken)
{
	const struct mapping_request few = { MAPPINGS_OF_FEW, 1 };

	taken->count = 0;
	return mapping_reader_read(reader, &few, clock_monotonic_ns() + patience_ns, collect, taken);
}

START_TEST(all_records_arrive_and_no_wait_is_endless)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "mappings");
	_cleanup_free_ char *stream = malloc(STREAM_BYTES);
	_cleanup_free_ struct taken *taken = calloc(1, sizeof(*taken));
	struct kernel_objects kernel = { .directory_fd = open(directory, O_PATH | O_CLOEXEC) };
	struct mapping_reader *reader;
	int writer;

	for (size_t i = 0; i < STREAM_BYTES; i++)
		stream[i] = (char)(i * i >> 3);
	file_put(path, stream, STREAM_BYTES - STREAM_BYTES % 7);
	ck_assert_int_eq(mapping_reader_start(&reader, &kernel), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(read_within(reader, LONG_NS, taken), 0);
		ck_assert_uint_eq(taken->count, STREAM_BYTES - STREAM_BYTES % 7);
		ck_assert_mem_eq(taken->bytes, stream, taken->count);
	}
	/* a reader that gives up is followed by the next */
	taken->result = -EBADMSG;
	ck_assert_int_eq(read_within(reader, LONG_NS, taken), -EBADMSG);
	taken->result = 0;
	ck_assert_int_eq(read_within(reader, LONG_NS, taken), 0);
	ck_assert_uint_eq(taken->count, STREAM_BYTES - STREAM_BYTES % 7);

	ck_assert_int_eq(unlink(path) || mkfifo(path, 0600), 0);
	ck_assert_int_eq(read_within(reader, SHORT_NS, taken), -ETIMEDOUT);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(read_within(reader, LONG_NS, taken), -EBUSY);
	/* the records arrive when their reader has given up: the next call gets them */
	writer = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(unlink(path), 0);
	file_put(path, stream, 14);
	ck_assert_int_eq(write(writer, stream, 7), 7);
	close(writer);
	while (read_within(reader, LONG_NS, taken) == -EBUSY)
		;
	ck_assert_uint_eq(taken->count, 7);
	ck_assert_int_eq(read_within(reader, LONG_NS, taken), 0);
	ck_assert_uint_eq(taken->count, 14);

	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(read_within(reader, LONG_NS, taken), -ENOENT);
	mapping_reader_free(reader);
	close(kernel.directory_fd);
	directory_remove(directory);
}
END_TEST

/* Reads until the deadline has passed. */
static long collect_until(void *user, const char *records, size_t bytes)
{
	struct slice *slice = user;

	while (clock_monotonic_ns() < slice->deadline_ns)
		;
	return collect(&slice->taken, records, bytes);
}

/* A pass that its deadline ends goes on where it was, also when another pass came between. */
START_TEST(a_pass_goes_on_after_its_deadline)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "mappings");
	_cleanup_free_ char *stream = malloc(STREAM_BYTES), *whole = malloc(STREAM_BYTES);
	_cleanup_free_ struct slice *slice = calloc(1, sizeof(*slice));
	_cleanup_free_ struct taken *taken = calloc(1, sizeof(*taken));
	const struct mapping_request many = { MAPPINGS_OF_MANY, 1 };
	_cleanup_free_ struct control *control = calloc(1, sizeof(*control));
	struct kernel_objects kernel = { .directory_fd = open(directory, O_PATH | O_CLOEXEC),
					 .control = control };
	size_t used = 0, slices = 0;
	struct mapping_reader *reader;
	int result;

	for (size_t i = 0; i < STREAM_BYTES; i++)
		stream[i] = (char)(i * i >> 3);
	file_put(path, stream, STREAM_BYTES - STREAM_BYTES % 7);
	ck_assert_int_eq(mapping_reader_start(&reader, &kernel), 0);
	do {
		slice->taken.count = 0;
		slice->deadline_ns = clock_monotonic_ns() + CLOCK_SECOND_NS / 10;
		result = mapping_reader_read(reader, &many, slice->deadline_ns, collect_until, slice);
		ck_assert_uint_le(used + slice->taken.count, STREAM_BYTES);
		memcpy(whole + used, slice->taken.bytes, slice->taken.count);
		used += slice->taken.count;
		slices++;
		ck_assert_uint_eq(control->mappings_of, MAPPINGS_OF_MANY);
		ck_assert_int_eq(read_within(reader, LONG_NS, taken), 0);
		ck_assert_uint_eq(taken->count, STREAM_BYTES - STREAM_BYTES % 7);
		ck_assert_uint_eq(control->mappings_of, MAPPINGS_OF_FEW);
	} while (result == -EINPROGRESS || result == -EBUSY);
	ck_assert_int_eq(result, 0);
	ck_assert_uint_ge(slices, 3);
	ck_assert_uint_eq(used, STREAM_BYTES - STREAM_BYTES % 7);
	ck_assert_mem_eq(whole, stream, used);
	mapping_reader_free(reader);
	close(kernel.directory_fd);
	directory_remove(directory);
}
END_TEST

/* The blocked thread is left behind; the process ends all the same. */
START_TEST(the_process_can_end_while_the_reader_is_blocked)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "mappings");
	_cleanup_free_ struct taken *taken = calloc(1, sizeof(*taken));
	struct kernel_objects kernel = { .directory_fd = open(directory, O_PATH | O_CLOEXEC) };
	struct mapping_reader *reader;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(mapping_reader_start(&reader, &kernel), 0);
	ck_assert_int_eq(read_within(reader, SHORT_NS, taken), -ETIMEDOUT);
	mapping_reader_free(reader);
	directory_remove(directory);
}
END_TEST

SUITE(mapping_reader)
{
	Suite *suite = suite_create("mapping_reader");
	TCase *tests = tcase_create("reader");

	tcase_add_test(tests, all_records_arrive_and_no_wait_is_endless);
	tcase_add_test(tests, a_pass_goes_on_after_its_deadline);
	tcase_add_test(tests, the_process_can_end_while_the_reader_is_blocked);
	suite_add_tcase(suite, tests);
	return suite;
}
