/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that an index has for each offset of a span what was said of one of them, before and after it is written; that spans do
 * not overlap; that its size is bounded; and that content which is cut or changed is refused or read, and never more than it has.
 */
#include "common/base/cleanup.h"
#include "consumer/symbols/name_index.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

#define OFFSETS 4000U

static const struct name_source source = {
	.build_id = "00ff", .has_bias = true, .bias = -4096, .debug_file = { 1, 2, 3, 4, 5, 6 }
};

static struct frame_name name_make(const char *function, int64_t function_offset, const char *file,
				   uint32_t line)
{
	return (struct frame_name){ function, function ? strlen(function) : 0, function_offset,
				    file,     file ? strlen(file) : 0,         line };
}

/* Appends "FUNCTION+OFFSET FILE:LINE;". */
static int describe(void *user, const struct frame_name *name)
{
	fprintf(user, "%.*s+%ld %.*s:%u;", (int)name->function_bytes, name->function ? name->function : "",
		name->function_offset, (int)name->file_bytes, name->file ? name->file : "", name->line);
	return 0;
}

/* The caller frees. "none" if nobody asked about the offset. */
static char *look_up(const struct name_index *index, uint64_t offset)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int result = name_index_find(index, offset, describe, out);

	HOLDS(!result || result == -ENOENT);
	if (result)
		fprintf(out, "none");
	fclose(out);
	return text;
}

static void expect(const struct name_index *index, uint64_t offset, const char *text)
{
	_cleanup_free_ char *found = look_up(index, offset);

	ck_assert_str_eq(found, text);
}

/* Writes and reads it. */
static struct name_index *again(struct name_index *index)
{
	struct kept_bytes content = { 0 };
	struct name_index *read = NULL;

	ck_assert_int_eq(name_index_write(index, &content), 0);
	ck_assert_int_eq(name_index_read(content.bytes, content.used, &read), 0);
	kept_bytes_free(&content);
	name_index_free(index);
	return read;
}

START_TEST(a_span_is_known_as_a_whole)
{
	const struct frame_name outer_and_inner[] = { name_make("outer", 30, "a.c", 7),
						      name_make("inner", 5, "b.c", 9) };
	const struct frame_name unnamed = name_make(NULL, 0, NULL, 0), placed = name_make(NULL, 0, "a.c", 3);
	struct name_index *index = name_index_new(&source);

	expect(index, 100, "none");
	ck_assert(!name_index_has_changed(index));
	ck_assert_int_eq(name_index_add(index, 100, 4, 10, outer_and_inner, 2), 0);
	ck_assert_int_eq(name_index_add(index, 110, 0, 5, &unnamed, 1), 0);
	ck_assert_int_eq(name_index_add(index, 50, 50, 6, &placed, 1), 0);
	ck_assert(name_index_has_changed(index));
	for (int round = 0; round < 2; round++) {
		expect(index, 96, "outer+26 a.c:7;inner+1 b.c:9;");
		expect(index, 100, "outer+30 a.c:7;inner+5 b.c:9;");
		expect(index, 109, "outer+39 a.c:7;inner+14 b.c:9;");
		expect(index, 110, "+0 :0;");
		expect(index, 114, "+0 :0;");
		expect(index, 115, "none");
		expect(index, 95, "none");
		expect(index, 0, "+0 a.c:3;");
		expect(index, 55, "+0 a.c:3;");
		expect(index, 56, "none");
		expect(index, UINT64_MAX, "none");
		index = again(index);
		ck_assert(!name_index_has_changed(index));
		ck_assert(!memcmp(name_index_source(index), &source, sizeof(source)));
	}
	/* and it goes on */
	ck_assert_int_eq(name_index_add(index, 120, 0, 1, outer_and_inner, 2), 0);
	ck_assert(name_index_has_changed(index));
	expect(index, 120, "outer+30 a.c:7;inner+5 b.c:9;");
	expect(index, 96, "outer+26 a.c:7;inner+1 b.c:9;");
	name_index_free(index);
}
END_TEST

/* Not a single text. */
START_TEST(a_file_without_names)
{
	const struct frame_name unnamed = name_make(NULL, 0, NULL, 0);
	struct name_index *index = again(name_index_new(&source));

	expect(index, 0, "none");
	ck_assert_int_eq(name_index_add(index, 10, 10, 10, &unnamed, 1), 0);
	index = again(index);
	expect(index, 19, "+0 :0;");
	name_index_free(index);
}
END_TEST

/* In any order, with texts that recur, as a plain array of offsets has them. */
START_TEST(as_an_array_has_it)
{
	struct dice dice = dice_new(270);

	for (int round = 0; round < 20; round++) {
		struct name_index *index = name_index_new(&source);
		uint32_t spans[OFFSETS] = { 0 }, begins[OFFSETS] = { 0 }; /* 0: none */

		for (uint32_t number = 1; number < 300; number++) {
			uint32_t at = 500 + dice_below(&dice, OFFSETS - 1000), before = dice_below(&dice, 20),
				 after = 1 + dice_below(&dice, 20);
			_cleanup_free_ char *function = NULL, *file = NULL;
			struct frame_name names[3];
			bool is_free = true;

			HOLDS(asprintf(&function, "f%u", number) > 0 &&
			      asprintf(&file, "%u.c", number % 7) > 0);
			for (uint32_t i = 0; i < number % 3 + 1; i++)
				names[i] = name_make(function, (int64_t)before + i, file, number + i);
			for (uint32_t i = at - before; i < at + after; i++)
				is_free = is_free && !spans[i];
			for (uint32_t i = at - before; is_free && i < at + after; i++) {
				spans[i] = number;
				begins[i] = at - before;
			}
			HOLDS(!name_index_add(index, at, before, after, names, number % 3 + 1));
			if (number % 50 == 0)
				index = again(index);
		}
		for (uint32_t i = 0; i < OFFSETS; i++) {
			char expected[256] = "none";
			int used = 0;

			for (uint32_t j = 0; spans[i] && j < spans[i] % 3 + 1; j++)
				used += snprintf(expected + used, sizeof(expected) - (size_t)used,
						 "f%u+%u %u.c:%u;", spans[i], i - begins[i] + j, spans[i] % 7,
						 spans[i] + j);
			expect(index, i, expected);
		}
		name_index_free(index);
	}
}
END_TEST

static void add_long_name(struct name_index *index, uint64_t offset)
{
	char function[700];
	struct frame_name name;

	memset(function, 'n', sizeof(function));
	snprintf(function + 600, 20, "%lu", offset);
	name = name_make(function, 0, NULL, 0);
	ck_assert_int_eq(name_index_add(index, offset, 0, 1, &name, 1), 0);
}

static bool has(const struct name_index *index, uint64_t offset)
{
	_cleanup_free_ char *found = look_up(index, offset);

	return strcmp(found, "none") != 0;
}

/* A file with very many names has what fits, and does not lose it again and again. */
START_TEST(a_full_index_begins_anew_once)
{
	struct name_index *index = name_index_new(&source);
	struct kept_bytes content = { 0 };
	uint64_t first = 0, last;

	for (uint64_t i = 0; i < 2000; i++)
		add_long_name(index, i);
	while (!has(index, first))
		first++;
	for (last = first; has(index, last); last++)
		;
	ck_assert_uint_gt(first, 200);
	ck_assert_uint_gt(last, first + 200);
	ck_assert_uint_lt(last, 1000);
	ck_assert(!has(index, 1999));
	ck_assert_int_eq(name_index_write(index, &content), 0);
	ck_assert_uint_le(content.used, NAME_INDEX_BYTES_MAX + 1024);
	kept_bytes_free(&content);
	/* the next capture has other names */
	index = again(index);
	add_long_name(index, 1999);
	ck_assert(has(index, 1999) && !has(index, first));
	name_index_free(index);
}
END_TEST

/* As a damaged or hostile file may have it. What would not be read again is not written. */
START_TEST(a_function_before_the_file)
{
	const struct frame_name name = name_make("outer", 101, NULL, 0);
	struct name_index *index = name_index_new(&source);

	ck_assert_int_eq(name_index_add(index, 100, 10, 10, &name, 1), 0);
	index = again(index);
	ck_assert(!has(index, 100));
	name_index_free(index);
}
END_TEST

/* No span, but text, which has no end. */
START_TEST(text_alone)
{
	struct name_index *index = name_index_new(&source), *read;
	struct kept_bytes content = { 0 };
	uint32_t bytes = 64;

	ck_assert_int_eq(name_index_write(index, &content), 0);
	memcpy(content.bytes + 8, &bytes, sizeof(bytes));
	for (uint32_t i = 0; i < bytes; i++)
		ck_assert_int_eq(kept_bytes_add(&content, "x", 1), 0);
	ck_assert_int_eq(name_index_read(content.bytes, content.used, &read), -EBADMSG);
	kept_bytes_free(&content);
	name_index_free(index);
}
END_TEST

START_TEST(damaged_content)
{
	const struct frame_name names[] = { name_make("outer", 30, "a.c", 7),
					    name_make("inner", 5, "b.c", 9) };
	struct name_index *index = name_index_new(&source);
	struct kept_bytes content = { 0 };
	unsigned int refused = 0;

	for (uint64_t at = 40; at < 400; at += 40)
		ck_assert_int_eq(name_index_add(index, at, 3, 20, names, 2), 0);
	ck_assert_int_eq(name_index_write(index, &content), 0);
	for (size_t kept = 0; kept < content.used; kept++) {
		/* a block of its own, so that a sanitizer sees reads behind the end */
		_cleanup_free_ char *cut = malloc(kept + 1);
		struct name_index *read;

		memcpy(cut, content.bytes, kept);
		ck_assert_int_eq(name_index_read(cut, kept, &read), -EBADMSG);
	}
	for (size_t bit = 0; bit < content.used * 8; bit++) {
		_cleanup_free_ char *copy = malloc(content.used);
		struct name_index *read;
		int result;

		memcpy(copy, content.bytes, content.used);
		copy[bit / 8] ^= (char)(1 << bit % 8);
		result = name_index_read(copy, content.used, &read);
		if (result < 0) {
			ck_assert_int_eq(result, -EBADMSG);
			refused++;
			continue;
		}
		for (uint64_t at = 0; at < 440; at++)
			free(look_up(read, at));
		name_index_free(read);
	}
	ck_assert_uint_gt(refused, content.used);
	kept_bytes_free(&content);
	name_index_free(index);
}
END_TEST

SUITE(name_index)
{
	Suite *suite = suite_create("name_index");
	TCase *cases = tcase_create("spans");

	tcase_add_test(cases, a_span_is_known_as_a_whole);
	tcase_add_test(cases, a_file_without_names);
	tcase_add_test(cases, as_an_array_has_it);
	tcase_add_test(cases, a_full_index_begins_anew_once);
	tcase_add_test(cases, a_function_before_the_file);
	tcase_add_test(cases, text_alone);
	tcase_add_test(cases, damaged_content);
	suite_add_tcase(suite, cases);
	return suite;
}
