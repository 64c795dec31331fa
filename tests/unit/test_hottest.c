/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which function of a program the sentence about a cause names. */
#include "common/cleanup.h"
#include "consumer/store/hottest.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { LIBRARY, KERNEL };
enum { HOT, HOT_ELSEWHERE, COLD, UNNAMED, KERNEL_FUNCTION, INLINED, FRAMES };

static struct resolved_module modules[] = {
	[LIBRARY] = { .kind = MODULE_FILE, .path = (char *)"/lib" },
	[KERNEL] = { .kind = MODULE_KERNEL, .path = (char *)"kernel" },
};

static struct resolved_frame frames[FRAMES] = {
	[HOT] = { .module = LIBRARY, .function = (char *)"hot" },
	[HOT_ELSEWHERE] = { .module = LIBRARY, .function = (char *)"hot", .function_offset = 9 },
	[COLD] = { .module = LIBRARY, .function = (char *)"cold", .inner = INLINED },
	[UNNAMED] = { .module = LIBRARY, .function = (char *)"lib+0x10", .function_offset = -1 },
	[KERNEL_FUNCTION] = { .module = KERNEL, .function = (char *)"copy_page" },
	[INLINED] = { .module = LIBRARY, .function = (char *)"inlined", .inlined = 1, .function_offset = -1 },
};

/* Stacks of one frame each, with these leaves */
static uint32_t of_stack_frame[] = { HOT, HOT_ELSEWHERE, COLD, UNNAMED, KERNEL_FUNCTION };
static uint16_t depths[] = { 1, 1, 1, 1, 1 };
static struct stack stacks[] = {
	{ .first = 0 }, { .first = 1 }, { .first = 2 }, { .first = 3 }, { .first = 4 }
};

struct hottest_case {
	const char *what;
	uint32_t samples[ARRAY_SIZE(stacks)];
	const char *says; /* NULL: nothing */
};

static const struct hottest_case hottest_cases[] = {
	{ "places of one function add up", { 30, 30, 0, 0, 40 }, "hot (60 % of its samples)" },
	{ "a kernel function is marked", { 10, 10, 0, 0, 40 }, "[k] copy_page (67 % of its samples)" },
	{ "the innermost inlined function counts", { 0, 0, 20, 5, 0 }, "inlined (80 % of its samples)" },
	{ "functions without a name are none", { 5, 0, 0, 95, 0 }, "hot (5 % of its samples)" },
	{ "nothing has a name", { 0, 0, 0, 95, 0 }, NULL },
	{ "too few samples", { 9, 0, 0, 0, 0 }, NULL },
};

START_TEST(functions)
{
	const struct hottest_case *one = &hottest_cases[_i];
	struct capture_process processes[] = {
		{ .role = USAGE_OTHER, .comm = "hog", .cgroup = (char *)"/a" },
		{ .role = USAGE_OTHER, .comm = "hog", .cgroup = (char *)"/b" },
		{ .role = USAGE_TARGET, .comm = "hog", .cgroup = (char *)"/a" },
	};
	struct usage_group group = { .role = USAGE_OTHER, .program = "hog", .cgroup = "/a" };
	struct capture_row rows[3 * ARRAY_SIZE(stacks)] = { 0 };
	struct capture capture = { .processes = processes,
				   .processes_count = ARRAY_SIZE(processes),
				   .stacks = { .stacks = stacks, .count = ARRAY_SIZE(stacks) },
				   .rows = rows };
	struct resolved resolved = { .modules = modules,
				     .modules_count = ARRAY_SIZE(modules),
				     .frames = frames,
				     .frames_count = FRAMES,
				     .of_stack_frame = of_stack_frame,
				     .depths = depths };
	struct hottest_source source = { &capture, &resolved };
	char text[128] = "";
	bool found;

	for (uint32_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		rows[capture.rows_count++] = (struct capture_row){
			.process = 0, .stack = i, .kind = SAMPLE_ON_CPU, .samples = one->samples[i]
		};
		/* of another cgroup, of a target, and off CPU: they count in no case */
		rows[capture.rows_count++] = (struct capture_row){
			.process = 1 + i % 2, .stack = i, .kind = SAMPLE_ON_CPU, .samples = 1000
		};
		rows[capture.rows_count++] = (struct capture_row){
			.process = 0, .stack = i, .kind = SAMPLE_OFF_CPU, .samples = 1000
		};
	}
	found = hottest_find(&source, &group, text, sizeof(text));
	ck_assert_msg(found == (one->says != NULL), "%s: %s", one->what, text);
	if (one->says)
		ck_assert_str_eq(text, one->says);
}
END_TEST

SUITE(hottest)
{
	Suite *suite = suite_create("hottest");
	TCase *tests = tcase_create("hottest");

	tcase_add_loop_test(tests, functions, 0, ARRAY_SIZE(hottest_cases));
	suite_add_tcase(suite, tests);
	return suite;
}
