/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of pprof's format, unpacked by zlib and protobuf-c: sums, labels, inlined functions, addresses, names. */
#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "report/export/gzip_stream.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <pprof.pb-c.h>
#include <string.h>

#define UNPACKED_MOST (1UL << 20)

static struct export_fixture fixture;
static uint8_t *unpacked;
static Pprof__Profile *profile;

static void set_up(void)
{
	export_fixture_make(&fixture);
}

static void tear_down(void)
{
	if (profile)
		pprof__profile__free_unpacked(profile, NULL);
	profile = NULL;
	free(unpacked);
	unpacked = NULL;
	export_fixture_free(&fixture);
}

static size_t unpack(const void *packed, size_t bytes)
{
	z_stream zlib = { 0 };

	unpacked = malloc(UNPACKED_MOST);
	ck_assert_int_eq(inflateInit2(&zlib, 15 + 16), Z_OK);
	zlib.next_in = (z_const Bytef *)packed;
	zlib.avail_in = (uInt)bytes;
	zlib.next_out = unpacked;
	zlib.avail_out = UNPACKED_MOST;
	ck_assert_int_eq(inflate(&zlib, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(zlib.avail_in, 0);
	inflateEnd(&zlib);
	return zlib.total_out;
}

static void make(const char *options)
{
	_cleanup_free_ char *path = path_join(fixture.directory, "profile"), *packed = malloc(UNPACKED_MOST);
	FILE *file;
	size_t bytes;

	expect_command("", "--db %s export 1 --format pprof -o %s %s", fixture.path, path, options);
	file = fopen(path, "re");
	ck_assert(file && packed);
	bytes = fread(packed, 1, UNPACKED_MOST, file);
	fclose(file);
	bytes = unpack(packed, bytes);
	profile = pprof__profile__unpack(NULL, bytes, unpacked);
	ck_assert_ptr_nonnull(profile);
}

static const char *text(int64_t string)
{
	ck_assert_int_lt(string, (int64_t)profile->n_string_table);
	return profile->string_table[string];
}

static const char *function_of(const Pprof__Line *line)
{
	return text(profile->function[line->function_id - 1]->name);
}

/* The value of a label; NULL without it. */
static const Pprof__Label *label_of(const Pprof__Sample *sample, const char *key)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (!strcmp(text(sample->label[i]->key), key))
			return sample->label[i];
	return NULL;
}

static int64_t sum_of(size_t value, const char *role, const char *stall)
{
	int64_t sum = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		if (!strcmp(text(label_of(profile->sample[i], "role")->str), role) &&
		    (!stall || !strcmp(text(label_of(profile->sample[i], "stall")->str), stall)))
			sum += profile->sample[i]->value[value];
	return sum;
}

START_TEST(values_and_labels_are_those_of_the_database)
{
	static const char *const types[] = { "samples", "cpu", "intervals", "offcpu" };
	const Pprof__Sample *wait = NULL;

	make("");
	ck_assert_str_eq(profile->string_table[0], "");
	ck_assert_uint_eq(profile->n_sample_type, 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_str_eq(text(profile->sample_type[i]->type), types[i]);
		ck_assert_str_eq(text(profile->sample_type[i]->unit), i % 2 ? "nanoseconds" : "count");
	}
	ck_assert_str_eq(text(profile->default_sample_type), "cpu");
	ck_assert_int_eq(profile->period, 21276595);
	ck_assert_int_eq(profile->time_nanos, 1790000098000000000);
	ck_assert_int_eq(profile->duration_nanos, 5000000000);
	ck_assert_int_eq(sum_of(0, "target", NULL), 28);
	ck_assert_int_eq(sum_of(1, "target", NULL), 28 * 21276595LL);
	ck_assert_int_eq(sum_of(0, "other", NULL), 4);
	ck_assert_int_eq(sum_of(0, "kernel", NULL), 2);
	ck_assert_int_eq(sum_of(2, "target", NULL), 5);
	ck_assert_int_eq(sum_of(3, "target", "io"), 150000000);
	/* a row without an interval that ended has waiting all the same */
	ck_assert_int_eq(sum_of(3, "target", "none"), 507000000);
	for (size_t i = 0; i < profile->n_sample; i++)
		if (!strcmp(text(label_of(profile->sample[i], "stall")->str), "io"))
			wait = profile->sample[i];
	ck_assert_ptr_nonnull(wait);
	ck_assert_str_eq(text(label_of(wait, "comm")->str), "web");
	ck_assert_str_eq(text(label_of(wait, "thread")->str), "worker");
	ck_assert_str_eq(text(label_of(wait, "unit")->str), "web.service");
	ck_assert_int_eq(label_of(wait, "tgid")->num, 4242);
	ck_assert_int_eq(label_of(wait, "tid")->num, 4243);
}
END_TEST

START_TEST(a_location_has_its_inlined_functions_and_a_module)
{
	const Pprof__Location *location = NULL;
	const Pprof__Mapping *mapping;

	make("--role other");
	ck_assert_uint_eq(profile->n_sample, 1);
	ck_assert_uint_eq(profile->sample[0]->n_location_id, 2);
	location = profile->location[profile->sample[0]->location_id[0] - 1];
	ck_assert_uint_eq(location->n_line, 2);
	ck_assert_str_eq(function_of(location->line[0]), "inner");
	ck_assert_int_eq(location->line[0]->line, 9);
	ck_assert_str_eq(function_of(location->line[1]), "outer");
	ck_assert_int_eq(location->line[1]->line, 7);
	mapping = profile->mapping[location->mapping_id - 1];
	ck_assert_str_eq(text(mapping->filename), "/usr/bin/web");
	ck_assert_str_eq(text(mapping->build_id), "beef01");
	ck_assert_uint_eq(location->address - mapping->memory_start, 200);
	ck_assert(mapping->has_inline_frames && mapping->has_line_numbers && mapping->has_filenames);
	/* one of its frames has no name: pprof may find one */
	ck_assert(!mapping->has_functions);
	location = profile->location[profile->sample[0]->location_id[1] - 1];
	ck_assert_uint_eq(location->n_line, 1);
	ck_assert_str_eq(function_of(location->line[0]), "main");
}
END_TEST

START_TEST(mappings_do_not_overlap)
{
	make("");
	ck_assert_uint_ge(profile->n_mapping, 4);
	for (size_t i = 0; i < profile->n_mapping; i++) {
		ck_assert_uint_eq(profile->mapping[i]->id, i + 1);
		ck_assert_uint_lt(profile->mapping[i]->memory_start, profile->mapping[i]->memory_limit);
		ck_assert(!i || profile->mapping[i - 1]->memory_limit < profile->mapping[i]->memory_start);
	}
	for (size_t i = 0; i < profile->n_location; i++) {
		const Pprof__Mapping *mapping = profile->mapping[profile->location[i]->mapping_id - 1];

		ck_assert_uint_ge(profile->location[i]->address, mapping->memory_start);
		ck_assert_uint_lt(profile->location[i]->address, mapping->memory_limit);
	}
}
END_TEST

START_TEST(only_waiting_has_waiting_as_its_default)
{
	make("--kind offcpu");
	ck_assert_str_eq(text(profile->default_sample_type), "offcpu");
	ck_assert_int_eq(sum_of(0, "target", NULL), 0);
	ck_assert_int_eq(sum_of(3, "target", NULL), 700000000);
}
END_TEST

START_TEST(hostile_names_are_plain_text)
{
	export_fixture_make_hostile(&fixture);
	make("");
	ck_assert_uint_gt(profile->n_string_table, 20);
	for (size_t i = 0; i < profile->n_string_table; i++)
		for (const char *at = profile->string_table[i]; *at;) {
			unsigned int code = 0, length = escape_utf8(at, &code);

			ck_assert_msg(length && !escape_is_deceptive(code), "U+%04x", code);
			at += length;
		}
	ck_assert_int_eq(sum_of(0, "target", NULL), 28);
}
END_TEST

START_TEST(a_stream_of_any_size_is_unpacked_again)
{
	struct dice dice = dice_new(7);
	struct gzip_stream stream = { 0 };
	uint8_t bytes[50000];
	char *packed = NULL;
	size_t packed_bytes;
	FILE *out = open_memstream(&packed, &packed_bytes);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)dice_roll(&dice);
	ck_assert_int_eq(gzip_stream_begin(&stream, out), 0);
	for (size_t done = 0, part; done < sizeof(bytes); done += part) {
		part = 1 + dice_below(&dice, 9000);
		part = part < sizeof(bytes) - done ? part : sizeof(bytes) - done;
		gzip_stream_write(&stream, bytes + done, part);
	}
	gzip_stream_finish(&stream);
	gzip_stream_end(&stream);
	fclose(out);
	ck_assert_uint_eq(unpack(packed, packed_bytes), sizeof(bytes));
	ck_assert_mem_eq(unpacked, bytes, sizeof(bytes));
	free(packed);
}
END_TEST

SUITE(export_pprof)
{
	Suite *suite = suite_create("export_pprof");
	TCase *tests = tcase_create("export_pprof");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, values_and_labels_are_those_of_the_database);
	tcase_add_test(tests, a_location_has_its_inlined_functions_and_a_module);
	tcase_add_test(tests, mappings_do_not_overlap);
	tcase_add_test(tests, only_waiting_has_waiting_as_its_default);
	tcase_add_test(tests, hostile_names_are_plain_text);
	tcase_add_test(tests, a_stream_of_any_size_is_unpacked_again);
	suite_add_tcase(suite, tests);
	return suite;
}
