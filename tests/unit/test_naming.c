/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that naming a capture of 60,000 modules stops at its deadline and does no more work afterwards, that it
 * says so in one line, that users and processes take turns until then, and that a file which has to wait for
 * bourdon-grant is waited for, but not for long.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/symbols/naming.h"
#include "consumer/symbols/naming_plan.h"
#include "tests/unit/fake_grant.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MODULES 60000U

/* ---- a capture with stacks of chosen modules ---- */

struct scene {
	struct capture capture;
	struct resolved resolved;
	struct mapped_file *files;
};

static void scene_make(struct scene *scene, uint32_t processes, uint32_t stacks)
{
	*scene = (struct scene){ .capture = { .processes_count = processes } };
	scene->capture.processes = calloc(processes, sizeof(*scene->capture.processes));
	scene->capture.stacks.stacks = calloc(stacks, sizeof(*scene->capture.stacks.stacks));
	scene->capture.stacks.frames = calloc(stacks, sizeof(*scene->capture.stacks.frames));
	scene->resolved.of_stack_frame = calloc(stacks, sizeof(*scene->resolved.of_stack_frame));
	scene->resolved.depths = calloc(stacks, sizeof(*scene->resolved.depths));
	scene->files = calloc(stacks, sizeof(*scene->files));
	HOLDS(scene->capture.processes && scene->capture.stacks.stacks && scene->capture.stacks.frames &&
	      scene->resolved.of_stack_frame && scene->resolved.depths && scene->files);
}

static void scene_free(struct scene *scene)
{
	for (uint32_t i = 0; i < scene->capture.stacks.count; i++)
		free(scene->files[i].path);
	free(scene->files);
	free(scene->capture.processes);
	free(scene->capture.stacks.stacks);
	free(scene->capture.stacks.frames);
	resolved_free(&scene->resolved);
}

/* Adds a stack of the process with one frame, in a module of its own. */
static void add_stack(struct scene *scene, uint32_t process, const char *path)
{
	uint32_t at = scene->capture.stacks.count++, module;
	struct mapped_file *file = &scene->files[at];
	struct stat stat_of = { 0 };

	if (!stat(path, &stat_of))
		*file = (struct mapped_file){ .inode = stat_of.st_ino,
					      .device_major = major(stat_of.st_dev),
					      .device_minor = minor(stat_of.st_dev) };
	file->path = strdup(path);
	HOLDS(file->path != NULL);
	scene->capture.stacks.stacks[at] = (struct stack){ .process = process, .first = at, .user_depth = 1 };
	scene->resolved.depths[at] = 1;
	HOLDS(!resolved_intern_module(&scene->resolved, MODULE_FILE, path, file, 0, &module));
	HOLDS(!resolved_intern_frame(&scene->resolved, module, 16, &scene->resolved.of_stack_frame[at]));
}

/* ---- the deadline ---- */

struct finder {
	uint64_t returns_ns; /* no look-up returns before this */
	uint32_t calls;
	atomic_bool *hurry; /* NULL, or the first look-up makes it true */
};

static int find(void *user, const char *path, const char *build_id, const char *version, int64_t offset,
		frame_name_add add, void *adder)
{
	struct finder *finder = user;

	(void)path;
	(void)build_id;
	(void)version;
	(void)offset;
	(void)add;
	(void)adder;
	finder->calls++;
	if (finder->hurry)
		atomic_store(finder->hurry, true);
	while (clock_monotonic_ns() < finder->returns_ns)
		;
	return -ENOENT;
}

static char *name(struct scene *scene, struct finder *finder, struct known_files *files, uint64_t deadline_ns)
{
	struct mapped_files mapped_files = { .grant_socket = NULL };
	struct mappings *mappings = mappings_new();
	const struct naming naming = { .spawner_socket = -EBADF,
				       .known = { find, finder },
				       .mapped_files = &mapped_files,
				       .files = files,
				       .debug_root = "/nowhere",
				       .jit_map_directory = "/nowhere",
				       .hurry = finder->hurry };
	int saved = log_divert();

	ck_assert_int_eq(naming_run(&naming, &scene->capture, mappings, deadline_ns, &scene->resolved), 0);
	mappings_free(mappings);
	return log_diverted(saved);
}

static unsigned int lines(const char *text)
{
	unsigned int count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void add_module_files(struct scene *scene, uint32_t count, const char *directory,
			     struct known_files *files)
{
	char path[PATH_MAX];
	struct stat at;

	for (uint32_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%u", directory, i);
		if (files) {
			file_put(path, path, strlen(path));
			ck_assert_int_eq(stat(path, &at), 0);
			known_files_add(files, &at, "00ff");
		}
		add_stack(scene, 0, path);
	}
}

START_TEST(no_module_is_looked_at_after_the_deadline)
{
	struct finder finder = { 0 };
	struct scene scene;
	_cleanup_free_ char *said = NULL;

	scene_make(&scene, 1, MODULES);
	add_module_files(&scene, MODULES, "/nowhere", NULL);
	said = name(&scene, &finder, NULL, clock_monotonic_ns());
	ck_assert_uint_eq(finder.calls, 0);
	ck_assert_uint_eq(lines(said), 1);
	ck_assert_ptr_nonnull(
		strstr(said, "the frames of 60000 of 60000 modules of this capture get no names"));
	scene_free(&scene);
}
END_TEST

/* The first look-up takes until the deadline; 999 others would follow. */
START_TEST(the_deadline_is_noticed_while_naming)
{
	_cleanup_free_ char *directory = directory_make(), *said = NULL;
	struct known_files *files = known_files_new();
	struct finder finder = { .returns_ns = clock_monotonic_ns() + CLOCK_SECOND_NS };
	struct scene scene;

	scene_make(&scene, 1, 1000);
	add_module_files(&scene, 1000, directory, files);
	finder.returns_ns = clock_monotonic_ns() + CLOCK_SECOND_NS / 2;
	said = name(&scene, &finder, files, finder.returns_ns);
	ck_assert_uint_le(finder.calls, 1);
	ck_assert_ptr_nonnull(strstr(said, "naming ended at its deadline"));
	ck_assert_uint_le(lines(said), 2); /* the other one: there is no symbolizer */
	known_files_free(files);
	scene_free(&scene);
}
END_TEST

/* A capture begins during the first look-up: the other 999 of the baseline are left, and that is worth no line. */
START_TEST(who_is_in_a_hurry_ends_the_naming)
{
	_cleanup_free_ char *directory = directory_make(), *said = NULL;
	struct known_files *files = known_files_new();
	atomic_bool hurry = false;
	struct finder finder = { .hurry = &hurry };
	struct scene scene;

	scene_make(&scene, 1, 1000);
	add_module_files(&scene, 1000, directory, files);
	said = name(&scene, &finder, files, UINT64_MAX);
	ck_assert_uint_eq(finder.calls, 1);
	ck_assert_ptr_null(strstr(said, "naming ended"));
	known_files_free(files);
	scene_free(&scene);
}
END_TEST

/* The same within one module: 999 other offsets would follow the first. */
START_TEST(the_deadline_is_noticed_within_a_module)
{
	_cleanup_free_ char *directory = directory_make(), *said = NULL;
	struct known_files *files = known_files_new();
	struct finder finder = { 0 };
	struct scene scene;
	uint32_t frame;

	scene_make(&scene, 1, 1);
	add_module_files(&scene, 1, directory, files);
	for (int64_t offset = 100; offset < 1099; offset++)
		HOLDS(!resolved_intern_frame(&scene.resolved, 0, offset, &frame));
	finder.returns_ns = clock_monotonic_ns() + CLOCK_SECOND_NS / 2;
	said = name(&scene, &finder, files, finder.returns_ns);
	ck_assert_uint_le(finder.calls, 1);
	scene_free(&scene);
	scene_make(&scene, 1, 1);
	add_module_files(&scene, 1, directory, NULL);
	for (int64_t offset = 100; offset < 1099; offset++)
		HOLDS(!resolved_intern_frame(&scene.resolved, 0, offset, &frame));
	finder = (struct finder){ 0 };
	free(said);
	said = name(&scene, &finder, files, UINT64_MAX);
	ck_assert_uint_eq(finder.calls, 1000); /* with time enough */
	ck_assert_ptr_null(strstr(said, "deadline"));
	known_files_free(files);
	scene_free(&scene);
}
END_TEST

/* With time enough, each module is looked up once. */
START_TEST(each_module_is_looked_up_once)
{
	_cleanup_free_ char *directory = directory_make(), *said = NULL;
	struct known_files *files = known_files_new();
	struct finder finder = { 0 };
	struct scene scene;

	scene_make(&scene, 1, 1000);
	add_module_files(&scene, 1000, directory, files);
	said = name(&scene, &finder, files, UINT64_MAX);
	ck_assert_uint_eq(finder.calls, 1000);
	ck_assert_uint_eq(lines(said), 1); /* there is no symbolizer */
	known_files_free(files);
	scene_free(&scene);
}
END_TEST

/* ---- the order ---- */

START_TEST(users_and_their_processes_take_turns)
{
	static const char *const paths[] = { "/a0", "/a1", "/a2", "/a3", "/b0", "/b1", "/c0", "/c1" };
	static const uint32_t of_process[] = { 0, 0, 0, 0, 1, 1, 2, 2 };
	/* processes 0 and 1 are of one user: each second turn is process 2's, until it has no more modules */
	static const char *const expected[] = { "/a0", "/c0", "/b0", "/c1", "/a1", "/b1", "/a2", "/a3" };
	struct naming_plan plan;
	struct scene scene;

	scene_make(&scene, 3, ARRAY_SIZE(paths));
	scene.capture.processes[0].uid = scene.capture.processes[1].uid = 1000;
	scene.capture.processes[2].uid = 33;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		add_stack(&scene, of_process[i], paths[i]);
	ck_assert_int_eq(naming_plan_make(&scene.capture, &scene.resolved, &plan), 0);
	ck_assert_uint_eq(plan.modules_count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_str_eq(scene.resolved.modules[plan.modules[i]].path, expected[i]);
	naming_plan_free(&plan);
	scene_free(&scene);
}
END_TEST

/* A report shows what took most time: of the rows of all stacks that a frame is in. */
START_TEST(what_weighs_most_is_named_first)
{
	static const char *const paths[] = { "/a0", "/a1", "/a2", "/a3" };
	static const char *const expected[] = { "/a2", "/a1", "/a0", "/a3" };
	/* by stack: the last one is of /a1, too, at another offset; /a3 weighs nothing */
	struct capture_row rows[] = { { .stack = 0, .weight_ns = 10 }, { .stack = 2, .weight_ns = 30 },
				      { .stack = 1, .weight_ns = 3 },  { .stack = 1, .weight_ns = 4 },
				      { .stack = 4, .weight_ns = 20 }, { .stack = 2, .weight_ns = 1 } };
	struct naming_plan plan;
	struct scene scene;
	uint32_t lighter, heavier;

	scene_make(&scene, 1, ARRAY_SIZE(paths) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		add_stack(&scene, 0, paths[i]);
	lighter = scene.resolved.of_stack_frame[1];
	ck_assert_int_eq(
		resolved_intern_frame(&scene.resolved, scene.resolved.frames[lighter].module, 32, &heavier),
		0);
	scene.capture.stacks.stacks[4] = (struct stack){ .first = 4, .user_depth = 1 };
	scene.resolved.of_stack_frame[4] = heavier;
	scene.resolved.depths[4] = 1;
	scene.capture.stacks.count++;
	scene.capture.rows = rows;
	scene.capture.rows_count = ARRAY_SIZE(rows);
	ck_assert_int_eq(naming_plan_make(&scene.capture, &scene.resolved, &plan), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_str_eq(scene.resolved.modules[plan.modules[i]].path, expected[i]);
	ck_assert_uint_eq(plan.frames[plan.first[plan.modules[1]]], heavier);
	ck_assert_uint_eq(plan.frames[plan.first[plan.modules[1]] + 1], lighter);
	naming_plan_free(&plan);
	scene_free(&scene);
}
END_TEST

START_TEST(modules_of_targets_come_first)
{
	static const char *const paths[] = { "/a0", "/a1", "/b0", "/b1" };
	static const uint32_t of_process[] = { 0, 0, 1, 1 };
	static const char *const expected[] = { "/a1", "/b0", "/b1", "/a0" };
	struct naming_plan plan;
	struct scene scene;

	scene_make(&scene, 2, ARRAY_SIZE(paths) + 1);
	scene.capture.processes[0].role = USAGE_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		add_stack(&scene, of_process[i], paths[i]);
	/* one more stack of the target, in a module that the other has, too */
	scene.capture.stacks.stacks[4] = (struct stack){ .process = 1, .first = 4, .user_depth = 1 };
	scene.resolved.of_stack_frame[4] = scene.resolved.of_stack_frame[1];
	scene.resolved.depths[4] = 1;
	scene.capture.stacks.count++;
	ck_assert_int_eq(naming_plan_make(&scene.capture, &scene.resolved, &plan), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_str_eq(scene.resolved.modules[plan.modules[i]].path, expected[i]);
	naming_plan_free(&plan);
	scene_free(&scene);
}
END_TEST

START_TEST(a_module_has_its_frames)
{
	struct dice dice = dice_new(31);
	struct naming_plan plan;
	struct scene scene;
	uint32_t frame, seen = 0;

	scene_make(&scene, 1, 50);
	add_module_files(&scene, 50, "/nowhere", NULL);
	for (int i = 0; i < 1000; i++)
		HOLDS(!resolved_intern_frame(&scene.resolved, (uint32_t)(dice_roll(&dice) % 50), i + 100,
					     &frame));
	ck_assert_int_eq(naming_plan_make(&scene.capture, &scene.resolved, &plan), 0);
	for (uint32_t module = 0; module < 50; module++)
		for (uint32_t i = plan.first[module]; i < plan.first[module + 1]; i++, seen++) {
			HOLDS(scene.resolved.frames[plan.frames[i]].module == module);
			HOLDS(i == plan.first[module] || plan.frames[i] > plan.frames[i - 1]);
		}
	ck_assert_uint_eq(seen, scene.resolved.frames_count);
	naming_plan_free(&plan);
	scene_free(&scene);
}
END_TEST

START_TEST(a_plan_of_nothing)
{
	struct naming_plan plan;
	struct scene scene;

	scene_make(&scene, 1, 1);
	scene.capture.processes_count = 0;
	ck_assert_int_eq(naming_plan_make(&scene.capture, &scene.resolved, &plan), 0);
	ck_assert_uint_eq(plan.modules_count, 0);
	naming_plan_free(&plan);
	scene_free(&scene);
}
END_TEST

/* ---- files that have to wait for bourdon-grant ---- */

#define REQUEST "elf 7 1007 65536\n"
#define PATH "/nowhere/file"

struct waiting {
	struct fake_grant grant;
	struct own_counters counters;
	struct mapped_files files;
	struct mappings *mappings;
	struct scene scene;
	char *path;
};

/* Process 7 maps a file of this identity. */
static struct mapped_file *map(struct mappings *mappings, const struct stat *at)
{
	const struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) },
					       .tgid = 7,
					       .started_ns = 1007,
					       .begins = 65536,
					       .ends = 65536 + 4096,
					       .inode = at->st_ino,
					       .path_bytes = sizeof(PATH) - 1 };
	char bytes[sizeof(record) + sizeof(PATH) - 1];

	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), PATH, sizeof(PATH) - 1);
	ck_assert_int_eq(mappings_add_records(mappings, bytes, sizeof(bytes)), sizeof(bytes));
	return mappings_find(mappings, 7, 1007, 65536)->file;
}

/* Process 7 runs in a file that its path does not lead to, and its next request may be sent so much later. */
static void make_waiting(struct waiting *waiting, uint64_t later_ns)
{
	const struct grant_target target = { 7, 0, 1007 };
	struct grant_share *share;
	struct stat at;

	*waiting = (struct waiting){ 0 };
	fake_grant_make(&waiting->grant);
	waiting->path = path_join(waiting->grant.directory, "file");
	file_put(waiting->path, "file", 4);
	ck_assert_int_eq(stat(waiting->path, &at), 0);
	waiting->files = (struct mapped_files){ .grant_socket = waiting->grant.path,
						.own_counters = &waiting->counters };
	ck_assert(grant_shares_take(&waiting->files.shares, &target, clock_monotonic_ns()));
	share = &waiting->files.shares.all[waiting->files.shares.last];
	share->full_ns = rate_full_most_ns(GRANT_SHARE, clock_monotonic_ns()) + later_ns;
	waiting->mappings = mappings_new();
	scene_make(&waiting->scene, 1, 1);
	add_stack(&waiting->scene, 0, PATH);
	waiting->scene.resolved.modules[0].file = map(waiting->mappings, &at);
}

static void name_waiting(struct waiting *waiting)
{
	const struct naming naming = { .spawner_socket = -EBADF,
				       .mapped_files = &waiting->files,
				       .debug_root = "/nowhere",
				       .jit_map_directory = "/nowhere" };
	int saved = log_divert();

	ck_assert_int_eq(naming_run(&naming, &waiting->scene.capture, waiting->mappings,
				    clock_monotonic_ns() + 60 * CLOCK_SECOND_NS, &waiting->scene.resolved),
			 0);
	free(log_diverted(saved));
}

static void free_waiting(struct waiting *waiting)
{
	scene_free(&waiting->scene);
	mappings_free(waiting->mappings);
	fake_grant_free(&waiting->grant);
	free(waiting->path);
}

START_TEST(a_file_that_has_to_wait_is_opened_in_its_turn)
{
	struct fake_answer granted = { REQUEST, "ok\n", NULL };
	struct waiting waiting;

	make_waiting(&waiting, CLOCK_SECOND_NS / 2);
	granted.path = waiting.path;
	fake_grant_answer(&waiting.grant, &granted, 1);
	name_waiting(&waiting);
	fake_grant_finish(&waiting.grant);
	ck_assert_uint_eq(own_counted(&waiting.counters, OWN_FILES_DEFERRED), 1);
	ck_assert_uint_eq(own_counted(&waiting.counters, OWN_FILES_GRANTED), 1);
	ck_assert_str_ne(waiting.scene.resolved.modules[0].version, ""); /* of the file that was opened */
	free_waiting(&waiting);
}
END_TEST

START_TEST(naming_does_not_wait_for_long)
{
	uint64_t began_ns = clock_monotonic_ns();
	struct waiting waiting;

	make_waiting(&waiting, 3600 * CLOCK_SECOND_NS);
	name_waiting(&waiting);
	ck_assert(!fake_grant_is_asked(&waiting.grant));
	ck_assert_uint_eq(own_counted(&waiting.counters, OWN_FILES_DEFERRED), 1);
	ck_assert_str_eq(waiting.scene.resolved.modules[0].version, "");
	ck_assert_uint_lt(clock_monotonic_ns() - began_ns, 30 * CLOCK_SECOND_NS); /* of 60 s that it has */
	free_waiting(&waiting);
}
END_TEST

SUITE(naming)
{
	Suite *suite = suite_create("naming");
	TCase *deadline = tcase_create("deadline"), *order = tcase_create("order");
	TCase *put_off = tcase_create("put off");

	tcase_add_test(deadline, no_module_is_looked_at_after_the_deadline);
	tcase_add_test(deadline, the_deadline_is_noticed_while_naming);
	tcase_add_test(deadline, who_is_in_a_hurry_ends_the_naming);
	tcase_add_test(deadline, the_deadline_is_noticed_within_a_module);
	tcase_add_test(deadline, each_module_is_looked_up_once);
	suite_add_tcase(suite, deadline);
	tcase_add_test(order, users_and_their_processes_take_turns);
	tcase_add_test(order, what_weighs_most_is_named_first);
	tcase_add_test(order, modules_of_targets_come_first);
	tcase_add_test(order, a_module_has_its_frames);
	tcase_add_test(order, a_plan_of_nothing);
	suite_add_tcase(suite, order);
	tcase_add_test(put_off, a_file_that_has_to_wait_is_opened_in_its_turn);
	tcase_add_test(put_off, naming_does_not_wait_for_long);
	suite_add_tcase(suite, put_off);
	return suite;
}
