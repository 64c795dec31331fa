/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows whose CPU time counts as that of a capture, and that other processes cost no look at the cgroups. */
#include "common/cleanup.h"
#include "consumer/capture/capture_scope.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNKNOWN_CGROUP 0xfffffffffffULL

static const struct rule rule = { .comm = { .text = "web" } };

static void add_target(struct targets *targets, uint32_t tgid, const char *comm)
{
	struct target_process process = { .tgid = tgid, .started_ns = 100, .pattern_id = 1 };

	strcpy(process.comm, comm);
	ck_assert_int_eq(targets_put(targets, &process), 0);
}

static void walk(struct usage *usage, uint32_t first, uint32_t count, uint64_t cpu_ns)
{
	usage_walk_begin(usage);
	for (uint32_t tgid = first; tgid < first + count; tgid++) {
		struct task_record record = {
			.tgid = tgid, .started_ns = 100, .cgroup_id = UNKNOWN_CGROUP, .usage.cpu_ns = cpu_ns
		};

		usage_walk_process(usage, &record);
	}
	usage_walk_end(usage, 1, false);
}

START_TEST(targets_of_the_rule_count)
{
	struct targets targets = { 0 };
	struct usage usage = { 0 }, before;
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &rule };

	ck_assert_int_eq(cgroups_open(&cgroups), 0);
	scope.cgroups = cgroups;
	add_target(&targets, 1, "web");
	add_target(&targets, 2, "other");
	walk(&usage, 1, 3, 10);
	ck_assert_int_eq(usage_copy(&usage, &before), 0);
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &before, &usage), 0);
	walk(&usage, 1, 3, 50);
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &before, &usage), 40);
	usage_free(&before);
	usage_free(&usage);
	targets_free(&targets);
	cgroups_free(cgroups);
}
END_TEST

/* A walk over all cgroups happens once a second at most: one that is new is found if none happened yet. */
START_TEST(others_cost_no_walk_over_the_cgroups)
{
	struct targets targets = { 0 };
	struct usage usage = { 0 }, before = { 0 };
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &rule };
	char path[PATH_MAX];
	struct stat at = { 0 };
	const char *found;

	ck_assert_int_eq(cgroups_open(&cgroups), 0);
	scope.cgroups = cgroups;
	walk(&usage, 1, 3, 10);
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &before, &usage), 0);
	snprintf(path, sizeof(path), "%s/bourdon-unit-%d", cgroups_mount(cgroups), getpid());
	if (mkdir(path, 0755)) {
		ck_assert_int_eq(errno, EROFS); /* a container, where it cannot be shown */
	} else {
		ck_assert_int_eq(stat(path, &at), 0);
		found = cgroups_path(cgroups, at.st_ino);
		ck_assert_int_eq(rmdir(path), 0);
		ck_assert_ptr_nonnull(found);
		ck_assert_str_eq(found, path + strlen(cgroups_mount(cgroups)));
	}
	usage_free(&usage);
	cgroups_free(cgroups);
}
END_TEST

Suite *capture_scope_suite(void)
{
	Suite *suite = suite_create("capture_scope");
	TCase *tests = tcase_create("whose CPU time");

	tcase_add_test(tests, targets_of_the_rule_count);
	tcase_add_test(tests, others_cost_no_walk_over_the_cgroups);
	suite_add_tcase(suite, tests);
	return suite;
}
