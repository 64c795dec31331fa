/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which stable kernel is behind the name that a distribution gives it, and which of the known bugs it
 * has.
 */
#include "common/cleanup.h"
#include "common/kernel_version.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

#define PLAIN "#1 SMP PREEMPT_DYNAMIC @0"

struct version_case {
	const char *release, *version, *signature;
	int result;
	struct kernel_version expected;
};

static const struct version_case version_cases[] = {
	{ "6.18.44-fc-v445", PLAIN, "", 0, { 6, 18, 44, true } },
	{ "6.12.117+deb12-cloud-amd64",
	  "#1 SMP Debian 6.12.117-1~deb12u1 (2026-11-01)",
	  "",
	  0,
	  { 6, 12, 117, true } },
	{ "6.1.0-54-cloud-amd64",
	  "#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-10-16)",
	  "",
	  0,
	  { 6, 1, 190, true } },
	{ "6.1.0-54-cloud-amd64", PLAIN, "", 0, { 6, 1, 0, false } },
	{ "6.1.0-54-cloud-amd64", "#1 SMP Debian 5.10.2-1", "", 0, { 6, 1, 0, false } },
	{ "6.8.0-45-generic", "#45-Ubuntu SMP", "Ubuntu 6.8.0-45.45-generic 6.8.12", 0, { 6, 8, 12, true } },
	{ "6.8.0-45-generic", "#45-Ubuntu SMP", "Ubuntu", 0, { 6, 8, 0, false } },
	{ "6.12.0-55.9.1.el10_0.x86_64", PLAIN, "", 0, { 6, 12, 0, false } },
	{ "6.12.0", PLAIN, "", 0, { 6, 12, 0, true } },
	{ "6.13-rc2", PLAIN, "", 0, { 6, 13, 0, false } },
	{ "7.0", PLAIN, "", 0, { 7, 0, 0, true } },
	{ "", PLAIN, "", -EINVAL, { 0 } },
	{ "next-20260101", PLAIN, "", -EINVAL, { 0 } },
	{ "6", PLAIN, "", -EINVAL, { 0 } },
};

START_TEST(versions)
{
	const struct version_case *one = &version_cases[_i];
	struct kernel_version version = { 0 };

	ck_assert_int_eq(kernel_version_parse(one->release, one->version, one->signature, &version),
			 one->result);
	ck_assert_uint_eq(version.major, one->expected.major);
	ck_assert_uint_eq(version.minor, one->expected.minor);
	ck_assert_uint_eq(version.patch, one->expected.patch);
	ck_assert_int_eq(version.patch_known, one->expected.patch_known);
}
END_TEST

struct bugs_case {
	struct kernel_version version;
	unsigned int bugs; /* a bit for each bug, in the order of the table */
};

static const struct bugs_case bugs_cases[] = {
	{ { 6, 1, 7, true }, 0xf },  { { 6, 1, 8, true }, 0xe },  { { 6, 1, 41, true }, 0xe },
	{ { 6, 1, 42, true }, 0x8 }, { { 6, 1, 96, true }, 0x8 }, { { 6, 1, 97, true }, 0 },
	{ { 6, 2, 0, true }, 0xe },  { { 6, 3, 13, true }, 0xe }, { { 6, 4, 6, true }, 0xa },
	{ { 6, 4, 7, true }, 0x8 },  { { 6, 5, 0, true }, 0x8 },  { { 6, 6, 36, true }, 0x8 },
	{ { 6, 6, 37, true }, 0 },   { { 6, 7, 12, true }, 0x8 }, { { 6, 9, 8, true }, 0 },
	{ { 6, 10, 0, true }, 0 },   { { 6, 18, 44, true }, 0 },  { { 7, 0, 0, true }, 0 },
};

START_TEST(bugs)
{
	const struct bugs_case *one = &bugs_cases[_i];
	unsigned int found = 0;

	for (size_t i = 0; i < kernel_bugs_count; i++)
		found |= (unsigned int)kernel_version_has_bug(&one->version, &kernel_bugs[i]) << i;
	ck_assert_uint_eq(found, one->bugs);
}
END_TEST

Suite *kernel_version_suite(void)
{
	Suite *suite = suite_create("kernel_version");
	TCase *tests = tcase_create("kernel_version");

	tcase_add_loop_test(tests, versions, 0, ARRAY_SIZE(version_cases));
	tcase_add_loop_test(tests, bugs, 0, ARRAY_SIZE(bugs_cases));
	suite_add_tcase(suite, tests);
	return suite;
}
