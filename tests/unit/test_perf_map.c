/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the names that a perf map gives to addresses: the last line that covers an address counts, whatever
 * else is in the file.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/perf_map.h"
#include "common/symbolizer/symbolizer.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

/* The caller frees. */
static struct symbolize_reply *ask(const char *map, size_t length, const struct symbolize_request *request)
{
	_cleanup_close_ int fd = memfd_create("map", MFD_CLOEXEC);
	struct symbolize_reply *reply = malloc(sizeof(*reply));

	HOLDS(fd >= 0 && write(fd, map, length) == (ssize_t)length);
	memset(reply, 0xa5, sizeof(*reply));
	HOLDS(symbolizer_reply_is_valid(reply, perf_map_name(fd, request, reply), request));
	HOLDS(reply->count == request->count);
	return reply;
}

static void expect(const char *map, uint64_t address, const char *name, uint64_t function_offset)
{
	const struct symbolize_request request = { .count = 1, .offsets = { address } };
	_cleanup_free_ struct symbolize_reply *reply = ask(map, strlen(map), &request);
	_cleanup_free_ char *found =
		strndup(reply->text + reply->frames[0].name, reply->frames[0].name_bytes);

	ck_assert_str_eq(found, name);
	ck_assert_uint_eq(reply->frames[0].function_offset, *name ? function_offset : 0);
	ck_assert_uint_eq(reply->frames[0].file_bytes, 0);
}

struct map_case {
	const char *map;
	uint64_t address;
	const char *name;
	uint64_t function_offset;
};

static const struct map_case map_cases[] = {
	{ "1000 20 first\n1020 10 second\n", 0x1000, "first", 0 },
	{ "1000 20 first\n1020 10 second\n", 0x101f, "first", 0x1f },
	{ "1000 20 first\n1020 10 second\n", 0x1020, "second", 0 },
	{ "1000 20 first\n1020 10 second\n", 0x1030, "", 0 },
	{ "1000 20 first\n1020 10 second\n", 0xfff, "", 0 },
	/* a later line replaces an earlier one */
	{ "1000 20 old\n1010 20 new\n", 0x1010, "new", 0 },
	{ "1000 20 old\n1010 20 new\n", 0x100f, "old", 0xf },
	{ "1010 20 old\n1000 40 new\n1000 8 newest\n", 0x1010, "new", 0x10 },
	{ "1010 20 old\n1000 40 new\n1000 8 newest\n", 0x1007, "newest", 7 },
	/* names as runtimes write them */
	{ "0x1000 0x20 LazyCompile:~f /x.js:1:2\n", 0x1000, "LazyCompile:~f /x.js:1:2", 0 },
	{ "1000\t20\t Lfoo;::bar@7\n", 0x1000, "Lfoo;::bar@7", 0 },
	{ "1000 20 _ZN3hog5outerEj\n", 0x1000, "_ZN3hog5outerEj", 0 },
	{ "7fFFabcd1000 1F name\n", 0x7fffabcd101e, "name", 0x1e },
	{ "1000 20 caf\xc3\xa9\n", 0x1000, "caf\xc3\xa9", 0 },
	{ "1000 20 \x1b[31mred\x07\r\n", 0x1000, "?[31mred??", 0 },
	/* invalid lines */
	{ "", 0x1000, "", 0 },
	{ "\n\n\n", 0x1000, "", 0 },
	{ "1000 20 unfinished", 0x1000, "", 0 },
	{ "1000 20 good\n1000 20\n1000\n1000 20 \n", 0x1000, "good", 0 },
	{ "1000 20 good\nxyz 20 bad\n-1000 20 bad\n+1000 20 bad\n 1000 20 bad\n", 0x1000, "good", 0 },
	{ "1000 20 good\n1000 -1 bad\n1000 2g bad\n1000,20 bad\n1000 0x bad\n", 0x1000, "good", 0 },
	{ "1000 20 good\n00000000000000000001000 20 bad\n", 0x1000, "good", 0 },
	{ "1000 0 empty\n", 0x1000, "", 0 },
	{ "0 ffffffffffffffff all\n1000 20 good\n", 0x1000, "good", 0 },
	{ "0 ffffffffffffffff all\n", 0x1000, "", 0 },
	{ "ffffffffffffff00 1000 wraps\n", 0x10, "", 0 },
	{ "ffffffffffffff00 1000 wraps\n", 0xffffffffffffffff, "wraps", 0xff },
	{ "0 7fffffffffffffff half\n", 0x1000, "half", 0x1000 },
};

START_TEST(lines)
{
	const struct map_case *one = &map_cases[_i];

	expect(one->map, one->address, one->name, one->function_offset);
}
END_TEST

START_TEST(a_name_of_megabytes)
{
	size_t length = 3 << 20;
	_cleanup_free_ char *map = malloc(length + 100);
	const struct symbolize_request request = { .count = 2, .offsets = { 0x2000, 0x1005 } };
	_cleanup_free_ struct symbolize_reply *reply = NULL;

	memset(map, 'n', length);
	memcpy(map, "1000 20 ", 8);
	strcpy(map + length, "\n2000 10 behind\n");
	reply = ask(map, length + 16, &request);
	ck_assert_uint_eq(reply->frames[0].name_bytes, 6);
	ck_assert_uint_eq(reply->frames[1].name_bytes, SYMBOLIZE_NAME_BYTES);
	ck_assert_uint_eq(reply->frames[1].function_offset, 5);
}
END_TEST

/* Lines that cross the chunks in which the file is read, compared with the last name of each address. */
START_TEST(against_a_table)
{
	struct dice dice = dice_new(260);
	uint32_t last[1024] = { 0 };
	_cleanup_free_ char *map = malloc(1 << 20);
	size_t bytes = 0;

	for (uint32_t i = 1; i <= 9000; i++) {
		uint32_t begins = dice_below(&dice, 1024), size = dice_below(&dice, 40);

		bytes += (size_t)sprintf(map + bytes, "%x %x function_%u\n", begins, size, i);
		for (uint32_t j = begins; j < begins + size && j < 1024; j++)
			last[j] = i;
	}
	for (uint32_t from = 0; from < 1024; from += SYMBOLIZE_BATCH) {
		struct symbolize_request request = { .count = SYMBOLIZE_BATCH };
		_cleanup_free_ struct symbolize_reply *reply = NULL;

		for (uint32_t i = 0; i < SYMBOLIZE_BATCH; i++) /* in random order */
			request.offsets[i] = from + (i * 37) % SYMBOLIZE_BATCH;
		reply = ask(map, bytes, &request);
		for (uint32_t i = 0; i < SYMBOLIZE_BATCH; i++) {
			char name[32] = "";

			if (last[request.offsets[i]])
				snprintf(name, sizeof(name), "function_%u", last[request.offsets[i]]);
			HOLDS(reply->frames[i].name_bytes == strlen(name) &&
			      !memcmp(reply->text + reply->frames[i].name, name, strlen(name)));
		}
	}
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
	const struct symbolize_request request = { .count = 1, .offsets = { 0x1000 } };
	_cleanup_free_ struct symbolize_reply *reply = malloc(sizeof(*reply));
	_cleanup_close_ int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	HOLDS(symbolizer_reply_is_valid(reply, perf_map_name(directory, &request, reply), &request));
	ck_assert_uint_eq(reply->frames[0].name_bytes, 0);
	HOLDS(symbolizer_reply_is_valid(reply, perf_map_name(-1, &request, reply), &request));
	ck_assert_uint_eq(reply->frames[0].name_bytes, 0);
}
END_TEST

SUITE(perf_map)
{
	Suite *suite = suite_create("perf_map");
	TCase *maps = tcase_create("maps");

	tcase_add_loop_test(maps, lines, 0, ARRAY_SIZE(map_cases));
	tcase_add_test(maps, a_name_of_megabytes);
	tcase_add_test(maps, against_a_table);
	tcase_add_test(maps, files_that_cannot_be_read);
	suite_add_tcase(suite, maps);
	return suite;
}
