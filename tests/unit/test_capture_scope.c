/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows whose CPU time and whose samples count as those of a capture, also where the path of a cgroup is not
 * known.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/capture/capture_scope.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

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
	usage_walk_begin(usage, UINT64_MAX);
	for (uint32_t tgid = first; tgid < first + count; tgid++) {
		struct task_record record = {
			.tgid = tgid, .started_ns = 100, .cgroup_id = UNKNOWN_CGROUP, .usage.cpu_ns = cpu_ns
		};

		usage_walk_process(usage, &record);
	}
	usage_walk_end(usage, 1, 0);
}

START_TEST(targets_of_the_rule_count)
{
	struct targets targets = { 0 };
	struct usage usage = { 0 };
	struct capture_usage taken;
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &rule };

	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	scope.cgroups = cgroups;
	add_target(&targets, 1, "web");
	add_target(&targets, 2, "other");
	walk(&usage, 1, 3, 10);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &taken, &usage), 0);
	walk(&usage, 1, 3, 50);
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &taken, &usage), 40);
	/* what a process that ended had used */
	taken.rest_targets.task.cpu_ns = 5;
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &taken, &usage), 45);
	capture_usage_free(&taken);
	usage_free(&usage);
	targets_free(&targets);
	cgroups_free(cgroups);
}
END_TEST

/* Sums of several processes are those of a capture of single ones only if it is of all of them. */
START_TEST(single_processes_have_accounts_of_their_own)
{
	struct asking asking = { .rule = { .comm = { .prefix = true } },
				 .processes = { { 1, 100 } },
				 .processes_count = 1 };
	struct targets targets = { 0 };
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &asking.rule, .asking = &asking };
	struct accounts_scope accounts;
	const char comm[ABI_COMM_BYTES] = "web", *cgroup;

	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	scope.cgroups = cgroups;
	accounts = capture_scope_of_accounts(&scope);
	ck_assert(accounts.of_processes);
	add_target(&targets, 1, "web");
	ck_assert(accounts.covers(accounts.user, comm, 0, 1, &cgroup));
	ck_assert(!accounts.covers(accounts.user, comm, 0, 2, &cgroup));
	ck_assert(accounts.covers(accounts.user, comm, 0, 0, &cgroup));
	ck_assert(!accounts.covers(accounts.user, comm, 8, 0, &cgroup)); /* another cgroup */
	add_target(&targets, 2, "other");
	ck_assert(accounts.covers(accounts.user, comm, 0, 0, &cgroup));
	add_target(&targets, 3, "web");
	ck_assert(!accounts.covers(accounts.user, comm, 0, 0, &cgroup));
	asking.processes_count = 0;
	accounts = capture_scope_of_accounts(&scope);
	ck_assert(!accounts.of_processes);
	ck_assert(accounts.covers(accounts.user, comm, 0, 0, &cgroup));
	targets_free(&targets);
	cgroups_free(cgroups);
}
END_TEST

struct describe_case {
	const char *what, *comm, *rule_cgroup, *scope_cgroup;
	bool knows_path;
	bool described, included;
	bool any_comm; /* the rule's is * */
};

static const struct describe_case describe_cases[] = {
	{ "any cgroup", "web", NULL, NULL, true, true, true, false },
	{ "any cgroup, and its own is unknown", "web", NULL, NULL, false, true, true, false },
	{ "the rule's cgroup", "web", "/a/*", NULL, true, true, true, false },
	{ "another cgroup than the rule's", "web", "/z/*", NULL, true, true, false, false },
	{ "the rule's cgroup, and its own is unknown", "web", "/a/*", NULL, false, false, false, false },
	{ "the watched cgroup", "web", NULL, "/a", true, true, true, false },
	{ "the watched cgroup, and its own is unknown", "web", NULL, "/a", false, false, false, false },
	{ "another comm", "other", "/a/*", "/a", true, true, false, false },
	{ "another comm, whose cgroup does not matter", "other", "/a/*", "/a", false, true, false, false },
	{ "an unknown process", NULL, NULL, NULL, true, false, false, false },
	{ "an unknown process in the watched cgroup", NULL, NULL, "/a", true, false, false, false },
	{ "an unknown process in the rule's cgroup", NULL, "/a/*", NULL, true, false, false, false },
	{ "an unknown process in another cgroup than the watched one", NULL, NULL, "/z", true, true, false,
	  false },
	{ "an unknown process in another cgroup than the rule's", NULL, "/z/*", "/a", true, true, false,
	  false },
	{ "an unknown process in an unknown cgroup", NULL, "/z/*", "/z", false, false, false, false },
	{ "an unknown process, and a rule of every comm", NULL, NULL, NULL, false, true, true, true },
	{ "the same in the rule's cgroup", NULL, "/a/*", "/a", true, true, true, true },
	{ "the same in another cgroup than the rule's", NULL, "/z/*", NULL, true, true, false, true },
	{ "the same, and its cgroup is unknown", NULL, "/a/*", NULL, false, false, false, true },
};

START_TEST(whose_samples_are_covered)
{
	const struct describe_case *one = &describe_cases[_i];
	const struct cgroup_record record = {
		.header = { RECORD_CGROUP, sizeof(record) }, .cgroup_id = 7, .account = 7, .path_bytes = 4
	};
	const struct sample sample = { .tgid = 1, .started_ns = 100, .cgroup_id = 7 };
	struct capture_process process = { 0 };
	struct rule named = rule;
	struct targets targets = { 0 };
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &named, .cgroup = one->scope_cgroup };

	named.cgroup = (char *)one->rule_cgroup;
	if (one->any_comm)
		named.comm = (struct comm_pattern){ .prefix = true };
	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	scope.cgroups = cgroups;
	if (one->comm)
		add_target(&targets, 1, one->comm);
	if (one->knows_path)
		cgroups_learn(cgroups, &record, "/a/b");
	ck_assert_msg(capture_scope_describe(&scope, &sample, &process) == one->described, "%s", one->what);
	ck_assert_msg((process.role == USAGE_TARGET) == one->included, "%s", one->what);
	if (one->included && one->knows_path)
		ck_assert_str_eq(process.cgroup, "/a/b");
	else
		ck_assert(!process.cgroup || !one->included);
	targets_free(&targets);
	cgroups_free(cgroups);
}
END_TEST

/* A launcher that executed a target's program was none of the rule's; a process that a new rule matches was. */
START_TEST(samples_from_before_a_process_was_a_target)
{
	struct sample sample = {
		.tgid = 1, .started_ns = 100, .of = SAMPLE_OF_BYSTANDER, .comm = "launcher"
	};
	struct capture_process launcher = { 0 }, program = { 0 };
	struct targets targets = { 0 };
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &rule };

	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	scope.cgroups = cgroups;
	add_target(&targets, 1, "web");
	targets.processes[0].program = 7;
	sample.program = 6;
	ck_assert(capture_scope_describe(&scope, &sample, &launcher));
	ck_assert_int_eq(launcher.role, USAGE_OTHER);
	ck_assert_str_eq(launcher.comm, "launcher");
	sample.program = 7;
	ck_assert(capture_scope_describe(&scope, &sample, &program));
	ck_assert_int_eq(program.role, USAGE_TARGET);
	ck_assert_str_eq(program.comm, "web");
	targets_free(&targets);
	cgroups_free(cgroups);
}
END_TEST

/* It executed a program that its event has yet to announce: the first thread has the program's name, another need not. */
START_TEST(samples_of_a_program_before_its_event)
{
	struct sample sample = {
		.tgid = 1, .tid = 1, .started_ns = 100, .of = SAMPLE_OF_TARGET, .program = 8, .comm = "next"
	};
	struct capture_process first = { 0 }, other = { 0 };
	struct targets targets = { 0 };
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &rule };

	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	scope.cgroups = cgroups;
	add_target(&targets, 1, "web");
	targets.processes[0].program = 7;
	ck_assert(capture_scope_describe(&scope, &sample, &first));
	ck_assert_str_eq(first.comm, "next");
	ck_assert_int_eq(first.role, USAGE_OTHER); /* the rule is of web */
	sample.tid = 2;
	ck_assert(capture_scope_describe(&scope, &sample, &other));
	ck_assert_str_eq(other.comm, "web");
	targets_free(&targets);
	cgroups_free(cgroups);
}
END_TEST

/* ---- on demand ---- */

static bool covers(struct capture_scope *scope, uint32_t tgid, uint8_t of, const char *thread)
{
	struct sample sample = { .tgid = tgid, .started_ns = 100, .of = of, .cgroup_id = 7 };
	struct capture_process process = { 0 };

	strcpy(sample.comm, thread);
	ck_assert(capture_scope_describe(scope, &sample, &process));
	return process.role == USAGE_TARGET;
}

/* Of those who were no targets, too: what they did on CPU before the request is in the rings. */
START_TEST(whoever_was_asked_for_is_covered)
{
	struct asking asking = { .rule = { .comm = { .prefix = true } } };
	struct targets targets = { 0 };
	struct usage usage = { 0 };
	struct capture_usage taken;
	struct cgroups *cgroups;
	struct capture_scope scope = { .targets = &targets, .rule = &asking.rule, .asking = &asking };
	const struct cgroup_record record = { .cgroup_id = 7, .account = 7, .path_bytes = 4 };

	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	cgroups_learn(cgroups, &record, "/a/b");
	scope.cgroups = cgroups;
	add_target(&targets, 1, "web");
	add_target(&targets, 2, "other");
	/* everyone but kernel threads */
	ck_assert(covers(&scope, 1, SAMPLE_OF_TARGET, "web") &&
		  covers(&scope, 3, SAMPLE_OF_BYSTANDER, "short"));
	ck_assert(!covers(&scope, 4, SAMPLE_OF_KERNEL, "kworker/0:1"));
	/* one process by its id, and not one that had the id before */
	asking.processes_count = 1;
	asking.processes[0] = (struct asking_process){ 1, 100 };
	ck_assert(covers(&scope, 1, SAMPLE_OF_TARGET, "web") &&
		  covers(&scope, 1, SAMPLE_OF_BYSTANDER, "web"));
	ck_assert(!covers(&scope, 2, SAMPLE_OF_TARGET, "other") &&
		  !covers(&scope, 3, SAMPLE_OF_BYSTANDER, "short"));
	asking.processes[0].started_ns = 99;
	ck_assert(!covers(&scope, 1, SAMPLE_OF_TARGET, "web") &&
		  !covers(&scope, 1, SAMPLE_OF_BYSTANDER, "web"));
	/* by name, and by cgroup */
	asking.processes_count = 0;
	asking.rule.comm = (struct comm_pattern){ "web", false };
	ck_assert(covers(&scope, 1, SAMPLE_OF_TARGET, "web") &&
		  covers(&scope, 3, SAMPLE_OF_BYSTANDER, "web"));
	ck_assert(!covers(&scope, 2, SAMPLE_OF_TARGET, "other") &&
		  !covers(&scope, 3, SAMPLE_OF_BYSTANDER, "web2"));
	scope.cgroup = "/a";
	ck_assert(covers(&scope, 3, SAMPLE_OF_BYSTANDER, "web"));
	scope.cgroup = "/b";
	ck_assert(!covers(&scope, 3, SAMPLE_OF_BYSTANDER, "web") &&
		  !covers(&scope, 1, SAMPLE_OF_TARGET, "web"));
	/* their CPU time, too */
	scope.cgroup = NULL;
	asking.rule.comm = (struct comm_pattern){ .prefix = true };
	asking.processes_count = 1;
	asking.processes[0].started_ns = 100;
	walk(&usage, 1, 3, 10);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	walk(&usage, 1, 3, 50);
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &taken, &usage), 40);
	asking.processes_count = 0;
	ck_assert_uint_eq(capture_scope_cpu_ns(&scope, &taken, &usage), 80);
	capture_usage_free(&taken);
	usage_free(&usage);
	targets_free(&targets);
	cgroups_free(cgroups);
}
END_TEST

SUITE(capture_scope)
{
	Suite *suite = suite_create("capture_scope");
	TCase *tests = tcase_create("whose CPU time");

	tcase_add_test(tests, targets_of_the_rule_count);
	tcase_add_test(tests, single_processes_have_accounts_of_their_own);
	tcase_add_loop_test(tests, whose_samples_are_covered, 0, ARRAY_SIZE(describe_cases));
	tcase_add_test(tests, samples_from_before_a_process_was_a_target);
	tcase_add_test(tests, samples_of_a_program_before_its_event);
	tcase_add_test(tests, whoever_was_asked_for_is_covered);
	suite_add_tcase(suite, tests);
	return suite;
}
