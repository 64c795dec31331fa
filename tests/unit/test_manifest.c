/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a manifest reads back as it was written, that each field must be present and valid, and that a
 * newer one with more fields can be read.
 */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/protocol/manifest.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static const char *const keys[] = { "abi",        "version",       "kernel",         "kernel_build_id",
				    "pin_dir",    "object_sha256", "attached",       "loaded_at",
				    "hz",         "cpus",          "sampled_cpus",   "slots_per_cpu",
				    "slot_bytes", "targets",       "quiet_after_ns", "mounted_bpffs" };

static struct manifest manifest_make(void)
{
	return (struct manifest){
		.abi = BOURDON_ABI,
		.version = "0.1.0",
		.kernel = "6.1.0-13-amd64",
		.kernel_build_id = "00ff00ff",
		.pin_dir = "/sys/fs/bpf/bourdon",
		.object_sha256 = "abcdef",
		.attached = "oncpu_tick target_exec",
		.loaded_at = UINT64_MAX,
		.hz = 47,
		.cpus = 4,
		.sampled_cpus = "0-3",
		.slots_per_cpu = 766,
		.slot_bytes = 1368,
		.targets = UINT32_MAX,
		.quiet_after_ns = 30000000000,
		.mounted_bpffs = true,
	};
}

static int parse(const char *text, struct manifest *manifest, struct config_errors *errors)
{
	*errors = (struct config_errors){ 0 };
	return manifest_parse("m", text, strlen(text), manifest, errors);
}

static void expect_round_trip(const struct manifest *manifest)
{
	_cleanup_free_ char *text = NULL, *again = NULL;
	struct config_errors errors;
	struct manifest back;

	ck_assert_int_eq(manifest_format(manifest, &text), 0);
	ck_assert_msg(parse(text, &back, &errors) == 0, "%s", errors.count ? errors.messages[0] : "?");
	ck_assert_int_eq(manifest_format(&back, &again), 0);
	ck_assert_str_eq(text, again);
	ck_assert_str_eq(back.attached, manifest->attached);
	ck_assert_str_eq(back.pin_dir, manifest->pin_dir);
	ck_assert_uint_eq(back.loaded_at, manifest->loaded_at);
	ck_assert_int_eq(back.mounted_bpffs, manifest->mounted_bpffs);
}

START_TEST(a_written_manifest_reads_back)
{
	struct manifest manifest = manifest_make();

	expect_round_trip(&manifest);
	manifest.mounted_bpffs = false;
	manifest.kernel_build_id[0] = '\0';
	expect_round_trip(&manifest);
	manifest = (struct manifest){ 0 };
	expect_round_trip(&manifest);
}
END_TEST

/* Each text has its largest length. */
START_TEST(the_longest_reads_back)
{
	struct manifest manifest = manifest_make();

	memset(manifest.version, 'v', sizeof(manifest.version) - 1);
	memset(manifest.kernel, 'k', sizeof(manifest.kernel) - 1);
	memset(manifest.kernel_build_id, 'b', sizeof(manifest.kernel_build_id) - 1);
	memset(manifest.pin_dir, '/', sizeof(manifest.pin_dir) - 1);
	memset(manifest.object_sha256, 'f', sizeof(manifest.object_sha256) - 1);
	memset(manifest.sampled_cpus, '0', sizeof(manifest.sampled_cpus) - 1);
	expect_round_trip(&manifest);
}
END_TEST

START_TEST(the_longest_list_of_links_reads_back)
{
	struct manifest manifest = manifest_make();

	memset(manifest.attached, 'a', sizeof(manifest.attached) - 1);
	expect_round_trip(&manifest);
}
END_TEST

START_TEST(invalid_values_are_not_written)
{
	static const char *const texts[] = { " /pins", "/pins ",       "\t/pins",    "/pi\nhz = 1",
					     ";/pins", "/pins ;/more", "/pins\x7f\r" };
	struct manifest manifest = manifest_make();
	char *text = NULL;

	snprintf(manifest.pin_dir, sizeof(manifest.pin_dir), "%s", texts[_i]);
	ck_assert_int_eq(manifest_format(&manifest, &text), -EINVAL);
	ck_assert_ptr_null(text);
}
END_TEST

START_TEST(odd_texts_read_back)
{
	static const char *const texts[] = { "/pins;more", "/a b", "/a = b", "[a]", "#", "\xc3\xa9" };
	struct manifest manifest = manifest_make();

	snprintf(manifest.pin_dir, sizeof(manifest.pin_dir), "%s", texts[_i]);
	expect_round_trip(&manifest);
}
END_TEST

/* The text of a valid manifest, with the line of `key` replaced (NULL: removed). The caller frees. */
static char *text_with(const char *key, const char *value)
{
	struct manifest manifest = manifest_make();
	_cleanup_free_ char *text = NULL;
	char *changed = NULL;
	size_t bytes, found = 0;
	FILE *stream = open_memstream(&changed, &bytes);

	ck_assert_int_eq(manifest_format(&manifest, &text), 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t length = strlen(key);

		if (strncmp(line, key, length) || strncmp(line + length, " = ", 3)) {
			fprintf(stream, "%s\n", line);
			continue;
		}
		found++;
		if (value)
			fprintf(stream, "%s = %s\n", key, value);
	}
	fclose(stream);
	ck_assert_uint_eq(found, 1);
	return changed;
}

START_TEST(each_field_must_be_there)
{
	_cleanup_free_ char *text = text_with(keys[_i], NULL);
	struct config_errors errors;
	struct manifest manifest;
	char expected[64];

	ck_assert_int_eq(parse(text, &manifest, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1);
	snprintf(expected, sizeof(expected), "m: '%s' is missing", keys[_i]);
	ck_assert_str_eq(errors.messages[0], expected);
	config_errors_free(&errors);
}
END_TEST

/* The ABI number decides alone; the other fields of another version are not judged. */
START_TEST(another_version)
{
	struct config_errors errors;
	struct manifest manifest;

	ck_assert_int_eq(
		parse("[manifest]\nabi = 999\nhz = often\nnews = 1\npin_dir = /a\n", &manifest, &errors), 0);
	ck_assert_uint_eq(errors.count, 0);
	ck_assert_uint_eq(manifest.abi, 999);
	ck_assert_uint_eq(manifest.hz, 0);
	ck_assert_str_eq(manifest.pin_dir, "/a");
	/* without an ABI number it is no manifest */
	ck_assert_int_eq(parse("[manifest]\nabi = new\nhz = 47\n", &manifest, &errors), -EINVAL);
	config_errors_free(&errors);
	ck_assert_int_eq(parse("[manifest]\nhz = 47\n", &manifest, &errors), -EINVAL);
	config_errors_free(&errors);
}
END_TEST

struct value_case {
	const char *key, *value;
	size_t repeat; /* of the value */
	bool good;
};

static const struct value_case value_cases[] = {
	{ "hz", "0", 1, true },
	{ "hz", "4294967295", 1, true },
	{ "hz", "4294967296", 1, false },
	{ "hz", "", 1, false },
	{ "hz", "47x", 1, false },
	{ "hz", "-1", 1, false },
	{ "hz", "47.5", 1, false },
	{ "loaded_at", "18446744073709551615", 1, true },
	{ "loaded_at", "18446744073709551616", 1, false },
	{ "mounted_bpffs", "no", 1, true },
	{ "mounted_bpffs", "true", 1, false },
	{ "mounted_bpffs", "", 1, false },
	{ "mounted_bpffs", "YES", 1, false },
	{ "version", "x", 31, true },
	{ "version", "x", 32, false },
	{ "pin_dir", "/", 255, true },
	{ "pin_dir", "/", 256, false },
	{ "kernel", "k", 900, false },
	{ "kernel", "", 1, true },
};

START_TEST(values)
{
	const struct value_case *one = &value_cases[_i];
	char value[1024] = "";
	_cleanup_free_ char *text = NULL;
	struct config_errors errors;
	struct manifest manifest = { .abi = 4711 };

	for (size_t i = 0; i < one->repeat; i++)
		strcat(value, one->value);
	text = text_with(one->key, value);
	ck_assert_int_eq(parse(text, &manifest, &errors), one->good ? 0 : -EINVAL);
	ck_assert_uint_eq(errors.count, !one->good);
	ck_assert_uint_eq(manifest.abi, one->good ? BOURDON_ABI : 4711);
	if (!one->good) {
		char expected[64];

		snprintf(expected, sizeof(expected), ": bad value for '%s'", one->key);
		ck_assert_int_eq(strncmp(errors.messages[0], "m:", 2), 0);
		ck_assert_ptr_nonnull(strstr(errors.messages[0], expected));
	}
	config_errors_free(&errors);
}
END_TEST

START_TEST(a_newer_one_may_have_more_fields)
{
	struct manifest manifest = manifest_make();
	_cleanup_free_ char *text = NULL, *more = NULL;
	struct config_errors errors;

	ck_assert_int_eq(manifest_format(&manifest, &text), 0);
	ck_assert_int_gt(asprintf(&more, "%ssoup = tomato\n[more]\nhz = nonsense\n", text), 0);
	manifest = (struct manifest){ 0 };
	ck_assert_int_eq(parse(more, &manifest, &errors), 0);
	ck_assert_uint_eq(manifest.hz, 47);
}
END_TEST

START_TEST(other_texts_are_refused)
{
	struct config_errors errors;
	struct manifest manifest;

	ck_assert_int_eq(parse("", &manifest, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, ARRAY_SIZE(keys));
	config_errors_free(&errors);
	ck_assert_int_eq(parse("[manifest]\njunk\n", &manifest, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1 + ARRAY_SIZE(keys));
	ck_assert_int_eq(strncmp(errors.messages[0], "m:2: ", 5), 0);
	config_errors_free(&errors);
}
END_TEST

START_TEST(files)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "manifest"),
			    *text = NULL;
	struct manifest manifest = manifest_make(), back;
	struct config_errors errors = { 0 };

	ck_assert_int_eq(manifest_read(path, &back, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1); /* no further mistakes are reported for it */
	ck_assert_ptr_nonnull(strstr(errors.messages[0], "No such file"));
	config_errors_free(&errors);
	ck_assert_int_eq(manifest_format(&manifest, &text), 0);
	file_put(path, text, strlen(text));
	ck_assert_int_eq(manifest_read(path, &back, &errors), 0);
	ck_assert_str_eq(back.kernel, "6.1.0-13-amd64");
	directory_remove(directory);
}
END_TEST

SUITE(manifest)
{
	Suite *suite = suite_create("manifest");
	TCase *manifest = tcase_create("manifest");

	tcase_add_test(manifest, a_written_manifest_reads_back);
	tcase_add_test(manifest, the_longest_reads_back);
	tcase_add_test(manifest, the_longest_list_of_links_reads_back);
	tcase_add_loop_test(manifest, invalid_values_are_not_written, 0, 7);
	tcase_add_loop_test(manifest, odd_texts_read_back, 0, 6);
	tcase_add_loop_test(manifest, each_field_must_be_there, 0, ARRAY_SIZE(keys));
	tcase_add_test(manifest, another_version);
	tcase_add_loop_test(manifest, values, 0, ARRAY_SIZE(value_cases));
	tcase_add_test(manifest, a_newer_one_may_have_more_fields);
	tcase_add_test(manifest, other_texts_are_refused);
	tcase_add_test(manifest, files);
	suite_add_tcase(suite, manifest);
	return suite;
}
