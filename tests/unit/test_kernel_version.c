/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which stable kernel is behind the name that a distribution gives it, and which of the known bugs it
 * has.
 */
#include "common/base/cleanup.h"
#include "common/kernel/kernel_version.h"
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

#define CRASH 0x1U      /* mappings of an exiting process */
#define REMOVED 0x2U    /* a removed cgroup with a trigger */
#define PRIVILEGED 0x4U /* triggers need CAP_SYS_RESOURCE */
#define RING 0x8U       /* CVE-2024-41009 */
#define TRIE 0x10U      /* CVE-2024-50262 */
#define SWITCHED 0x20U  /* CVE-2025-39881 */
#define TIMER 0x40U     /* CVE-2026-74594 */
#define LATER (RING | TRIE | SWITCHED | TIMER)

static const struct bugs_case bugs_cases[] = {
	{ { 6, 1, 7, true }, CRASH | REMOVED | PRIVILEGED | LATER },
	{ { 6, 1, 8, true }, REMOVED | PRIVILEGED | LATER },
	{ { 6, 1, 41, true }, REMOVED | PRIVILEGED | LATER },
	{ { 6, 1, 42, true }, LATER },
	{ { 6, 1, 96, true }, LATER },
	{ { 6, 1, 97, true }, TRIE | SWITCHED | TIMER },
	{ { 6, 1, 115, true }, TRIE | SWITCHED | TIMER },
	{ { 6, 1, 116, true }, SWITCHED | TIMER },
	{ { 6, 1, 152, true }, SWITCHED | TIMER },
	{ { 6, 1, 153, true }, TIMER },
	{ { 6, 1, 182, true }, TIMER },
	{ { 6, 1, 183, true }, 0 },
	{ { 6, 2, 0, true }, REMOVED | PRIVILEGED | LATER },
	{ { 6, 3, 13, true }, REMOVED | PRIVILEGED | LATER },
	{ { 6, 4, 6, true }, REMOVED | LATER },
	{ { 6, 4, 7, true }, LATER },
	{ { 6, 5, 0, true }, LATER },
	{ { 6, 6, 36, true }, LATER },
	{ { 6, 6, 37, true }, TRIE | SWITCHED | TIMER },
	{ { 6, 6, 60, true }, SWITCHED | TIMER },
	{ { 6, 6, 107, true }, TIMER },
	{ { 6, 6, 152, true }, 0 },
	{ { 6, 7, 12, true }, LATER },
	{ { 6, 9, 8, true }, TRIE | SWITCHED | TIMER },
	{ { 6, 10, 0, true }, TRIE | SWITCHED | TIMER },
	{ { 6, 11, 6, true }, TRIE | SWITCHED | TIMER },
	{ { 6, 11, 7, true }, SWITCHED | TIMER },
	{ { 6, 12, 47, true }, SWITCHED | TIMER },
	{ { 6, 12, 48, true }, TIMER },
	{ { 6, 12, 103, true }, TIMER },
	{ { 6, 12, 104, true }, 0 },
	{ { 6, 16, 8, true }, TIMER },
	{ { 6, 18, 44, true }, TIMER },
	{ { 6, 18, 45, true }, 0 },
	{ { 7, 0, 0, true }, TIMER },
	{ { 7, 1, 8, true }, TIMER },
	{ { 7, 1, 9, true }, 0 },
	{ { 7, 2, 0, true }, 0 },
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

SUITE(kernel_version)
{
	Suite *suite = suite_create("kernel_version");
	TCase *tests = tcase_create("kernel_version");

	tcase_add_loop_test(tests, versions, 0, ARRAY_SIZE(version_cases));
	tcase_add_loop_test(tests, bugs, 0, ARRAY_SIZE(bugs_cases));
	suite_add_tcase(suite, tests);
	return suite;
}
