/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that a name is remembered for its file and offset alone, inlined functions with it, and for how long. */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/symbols/name_cache.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static struct capture_process process = { .tgid = 7, .started_ns = 70 };
static const struct capture capture = { .processes = &process, .processes_count = 1 };

/* Frames of one file, of another one, of memory of a process, and of the kernel; none has a name. */
struct scene {
	struct mapped_file files[2];
	struct resolved resolved;
};

#define IN_FILE 0U
#define IN_OTHER 1U
#define IN_MEMORY 2U
#define IN_KERNEL 3U

static void scene_make(struct scene *scene)
{
	uint32_t modules[4], frame;

	*scene = (struct scene){ .files = { { .inode = 1, .device_minor = 2 },
					    { .inode = 2, .device_minor = 2 } } };
	resolved_intern_module(&scene->resolved, MODULE_FILE, "/bin/a", &scene->files[0], 0, &modules[0]);
	resolved_intern_module(&scene->resolved, MODULE_FILE, "/bin/b", &scene->files[1], 0, &modules[1]);
	resolved_intern_module(&scene->resolved, MODULE_JIT, "[jit]", NULL, 0, &modules[2]);
	resolved_intern_module(&scene->resolved, MODULE_KERNEL, "[kernel]", NULL, 0, &modules[3]);
	for (uint32_t i = 0; i < ARRAY_SIZE(modules); i++) {
		ck_assert_int_eq(resolved_intern_frame(&scene->resolved, modules[i], 0x100, &frame), 0);
		ck_assert_uint_eq(frame, i);
	}
}

/* Names a frame, as naming does. */
static void name(struct scene *scene, uint32_t frame, const char *function, int64_t function_offset)
{
	scene->resolved.frames[frame].function = strdup(function);
	scene->resolved.frames[frame].function_offset = function_offset;
}

static void name_all(struct scene *scene)
{
	const struct resolved_frame inlined = { .function = strdup("inner"),
						.function_offset = 1,
						.inlined = 1 };

	name(scene, IN_FILE, "outer", 1);
	name(scene, IN_OTHER, "b+0x100", -1);
	scene->resolved.modules[scene->resolved.frames[IN_MEMORY].module].kind =
		MODULE_NONE; /* as naming leaves it */
	resolved_anonymous(&scene->resolved, &scene->resolved.frames[IN_MEMORY].module);
	name(scene, IN_MEMORY, "[anonymous]+0x100", -1);
	name(scene, IN_KERNEL, "schedule", 0);
	ck_assert_int_eq(
		resolved_add_frame(&scene->resolved, &inlined, &scene->resolved.frames[IN_FILE].inner), 0);
}

static struct name_questions recall(struct name_cache *cache, struct scene *scene, uint64_t now_ns)
{
	struct name_questions questions;

	scene_make(scene);
	ck_assert_int_eq(name_cache_recall(cache, &capture, &scene->resolved, now_ns, &questions), 0);
	return questions;
}

/* A cache that has been asked about all of them once, at that time. */
static struct name_cache *cache_make(uint64_t now_ns)
{
	struct name_cache *cache = name_cache_new();
	struct scene scene;
	struct name_questions questions = recall(cache, &scene, now_ns);

	ck_assert_uint_eq(questions.count, 4);
	ck_assert_uint_eq(questions.modules[IN_FILE], scene.resolved.frames[IN_FILE].module);
	ck_assert_uint_eq(questions.modules[IN_MEMORY], scene.resolved.frames[IN_MEMORY].module);
	ck_assert_uint_eq(questions.modules[IN_KERNEL], NAME_CACHE_KNOWN);
	name_all(&scene);
	name_cache_keep(cache, &capture, &scene.resolved, now_ns, &questions);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	return cache;
}

START_TEST(names_are_remembered)
{
	struct name_cache *cache = cache_make(1);
	struct scene scene;
	struct name_questions questions = recall(cache, &scene, 2);
	const struct resolved_frame *frames = scene.resolved.frames;

	ck_assert_str_eq(frames[IN_FILE].function, "outer");
	ck_assert_uint_ne(frames[IN_FILE].inner, 0);
	ck_assert_str_eq(frames[frames[IN_FILE].inner].function, "inner");
	ck_assert_uint_eq(frames[frames[IN_FILE].inner].inlined, 1);
	ck_assert_str_eq(frames[IN_OTHER].function, "b+0x100");
	ck_assert_str_eq(frames[IN_MEMORY].function, "[anonymous]+0x100");
	ck_assert_int_eq(scene.resolved.modules[frames[IN_MEMORY].module].kind, MODULE_ANONYMOUS);
	ck_assert_ptr_null(frames[IN_KERNEL].function);
	for (uint32_t i = 0; i < questions.count; i++)
		ck_assert_uint_eq(questions.modules[i], NAME_CACHE_KNOWN);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	name_cache_free(cache);
}
END_TEST

/* What could not be named is asked again sooner. */
START_TEST(names_are_forgotten)
{
	struct name_cache *cache = cache_make(1);
	struct scene scene;
	struct name_questions questions = recall(cache, &scene, 100 * CLOCK_SECOND_NS);

	ck_assert_str_eq(scene.resolved.frames[IN_FILE].function, "outer");
	ck_assert_ptr_null(scene.resolved.frames[IN_OTHER].function);
	ck_assert_ptr_null(scene.resolved.frames[IN_MEMORY].function);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	questions = recall(cache, &scene, 1000 * CLOCK_SECOND_NS);
	ck_assert_ptr_null(scene.resolved.frames[IN_FILE].function);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	name_cache_free(cache);
}
END_TEST

/* Nor does it take the name of another file at the same offset, or of a process with the same id. */
START_TEST(names_are_of_one_place)
{
	struct name_cache *cache = cache_make(1);
	struct name_questions questions;
	struct scene scene;

	scene_make(&scene);
	scene.files[0].device_minor = 3;
	process.started_ns = 71;
	ck_assert_int_eq(name_cache_recall(cache, &capture, &scene.resolved, 2, &questions), 0);
	process.started_ns = 70;
	ck_assert_ptr_null(scene.resolved.frames[IN_FILE].function);
	ck_assert_ptr_null(scene.resolved.frames[IN_MEMORY].function);
	ck_assert_ptr_nonnull(scene.resolved.frames[IN_OTHER].function);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	name_cache_free(cache);
}
END_TEST

/* There was no time to ask: that says nothing. */
START_TEST(what_was_late_is_asked_again)
{
	struct name_cache *cache = name_cache_new();
	struct scene scene;
	struct name_questions questions = recall(cache, &scene, 1);

	name_all(&scene);
	for (uint32_t i = 0; i < scene.resolved.modules_count; i++)
		scene.resolved.modules[i].was_late = true;
	name_cache_keep(cache, &capture, &scene.resolved, 1, &questions);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	questions = recall(cache, &scene, 2);
	ck_assert_ptr_null(scene.resolved.frames[IN_FILE].function);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	name_cache_free(cache);
}
END_TEST

/* A file that took too long lets others have their turn, whatever its addresses are. */
START_TEST(what_took_too_long_has_to_wait)
{
	struct name_cache *cache = name_cache_new();
	struct scene scene;
	struct name_questions questions = recall(cache, &scene, 1);
	uint32_t frame, module = scene.resolved.frames[IN_FILE].module;

	name_all(&scene);
	scene.resolved.modules[module].was_lost = true;
	name_cache_keep(cache, &capture, &scene.resolved, 1, &questions);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	scene_make(&scene);
	ck_assert_int_eq(resolved_intern_frame(&scene.resolved, module, 0x200, &frame), 0);
	ck_assert_int_eq(name_cache_recall(cache, &capture, &scene.resolved, 2, &questions), 0);
	ck_assert(scene.resolved.modules[module].was_late);
	ck_assert(!scene.resolved.modules[scene.resolved.frames[IN_OTHER].module].was_late);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	questions = recall(cache, &scene, 100 * CLOCK_SECOND_NS);
	ck_assert(!scene.resolved.modules[module].was_late);
	name_questions_free(&questions);
	resolved_free(&scene.resolved);
	name_cache_free(cache);
}
END_TEST

/* A program with more functions than there is room for makes it forget, and nothing else. */
START_TEST(memory_is_bounded)
{
	struct name_cache *cache = name_cache_new();
	struct mapped_file file = { .inode = 1 };

	for (int64_t round = 0; round < 5; round++) {
		struct resolved resolved = { 0 };
		struct name_questions questions;
		uint32_t module, frame;

		resolved_intern_module(&resolved, MODULE_FILE, "/bin/a", &file, 0, &module);
		for (int64_t i = 0; i < 5000; i++)
			ck_assert_int_eq(resolved_intern_frame(&resolved, module, round * 5000 + i, &frame),
					 0);
		ck_assert_int_eq(name_cache_recall(cache, &capture, &resolved, 1, &questions), 0);
		for (uint32_t i = 0; i < resolved.frames_count; i++) {
			ck_assert_uint_ne(questions.modules[i], NAME_CACHE_KNOWN);
			resolved.frames[i].function = strdup("f");
			resolved.frames[i].function_offset = 0;
		}
		name_cache_keep(cache, &capture, &resolved, 1, &questions);
		name_questions_free(&questions);
		resolved_free(&resolved);
	}
	name_cache_free(cache);
}
END_TEST

SUITE(name_cache)
{
	Suite *suite = suite_create("name_cache");
	TCase *names = tcase_create("names");

	tcase_add_test(names, names_are_remembered);
	tcase_add_test(names, names_are_forgotten);
	tcase_add_test(names, names_are_of_one_place);
	tcase_add_test(names, what_was_late_is_asked_again);
	tcase_add_test(names, what_took_too_long_has_to_wait);
	tcase_add_test(names, memory_is_bounded);
	suite_add_tcase(suite, names);
	return suite;
}
