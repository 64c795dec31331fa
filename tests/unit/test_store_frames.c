/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how the store names frames: later names serve earlier stacks, an address may have several inlined
 * functions, builds of one file are kept apart, and names that a hostile process chose are escaped.
 */
#include "common/base/shared_text.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <string.h>

/* ---- names ---- */

START_TEST(a_name_resolved_later_names_earlier_stacks)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	expect_commit_unnamed(&fixture, capture);
	expect_rows(&fixture, "SELECT function, function_offset FROM frame ORDER BY frame_id",
		    "kernel_64|4\napp+0x40|NULL\napp+0x41|NULL\n");
	expect_rows(&fixture, "SELECT events FROM loss WHERE reason = 'frames-unresolved'", "2\n");
	expect_commit(&fixture, capture);
	expect_rows(&fixture, "SELECT function, function_offset FROM frame ORDER BY frame_id",
		    "kernel_64|4\nuser_64|4\nuser_65|4\n");
	/* a capture without names does not remove the name */
	expect_commit_unnamed(&fixture, capture);
	expect_rows(&fixture, "SELECT function, function_offset FROM frame ORDER BY frame_id",
		    "kernel_64|4\nuser_64|4\nuser_65|4\n");
	expect_count(&fixture, "stack", 1);
	store_fixture_free(&fixture);
}
END_TEST

/* The frames of two builds of one program are different frames. */
START_TEST(each_build_is_a_module)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(0, 2, 0x40);
	static const char *const builds[] = { "aa", "bb", "aa", "" };
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		struct resolved resolved;

		resolve_by_hand(capture, false, builds[i], &resolved);
		resolved.modules_count = 2;
		expect_commit_resolved(&fixture, capture, &resolved);
		resolved_free(&resolved);
	}
	expect_rows(&fixture, "SELECT build_id FROM module WHERE kind = 'file' ORDER BY build_id",
		    "NULL\naa\nbb\n");
	expect_rows(&fixture, "SELECT count(*), count(DISTINCT module_id) FROM frame", "6|3\n");
	expect_count(&fixture, "stack", 3);
	/* resolve_by_hand() always adds the kernel, and expect_sound() wants no module without a frame */
	run_sql(&fixture, "DELETE FROM module WHERE kind = 'kernel'");
	store_fixture_free(&fixture);
}
END_TEST

/* ---- inlined functions ---- */

/* Adds two functions inlined at the address of `frame`; all three get a file and a line. */
static void inline_two(struct resolved *resolved, uint32_t frame)
{
	static const char *const names[] = { "middle", "inner" };
	uint32_t last = frame;

	resolved->frames[frame].file = strdup("app.cc");
	resolved->frames[frame].line = 10;
	for (uint32_t i = 0; i < 2; i++) {
		struct resolved_frame inlined = { .module = resolved->frames[frame].module,
						  .offset = resolved->frames[frame].offset,
						  .function = strdup(names[i]),
						  .function_offset = 2,
						  .file = strdup("inlined.cc"),
						  .line = 20 + i,
						  .inlined = i + 1 };
		uint32_t added;

		HOLDS(!resolved_add_frame(resolved, &inlined, &added));
		resolved->frames[last].inner = added;
		last = added;
	}
}

/* The stack has one kernel frame and two user frames. `inlined`: the first user frame has inlined functions. */
static void commit_inlined(struct store_fixture *fixture, const struct capture *capture, const char *build_id,
			   bool inlined)
{
	struct resolved resolved;

	resolve_by_hand(capture, false, build_id, &resolved);
	resolved.frames_room = capture->stacks.frames_count + 1;
	if (inlined)
		inline_two(&resolved, resolved.of_stack_frame[1]);
	expect_commit_resolved(fixture, capture, &resolved);
	resolved_free(&resolved);
}

#define STACK_OF(capture)                                                                                    \
	"SELECT position, function, inlined, file, line FROM stack_frame JOIN frame USING(frame_id) WHERE "  \
	"stack_id = (SELECT stack_id FROM sample WHERE capture_id = " #capture ") ORDER BY position"
#define STACK_INLINED                                                                                        \
	"0|kernel_64|0|NULL|NULL\n1|inner|2|inlined.cc|21\n2|middle|1|inlined.cc|20\n"                       \
	"3|user_64|0|app.cc|10\n4|user_65|0|NULL|NULL\n"

START_TEST(an_address_with_inlined_functions_is_several_positions)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	commit_inlined(&fixture, capture, "aa", true);
	expect_rows(&fixture, STACK_OF(1), STACK_INLINED);
	expect_rows(&fixture, "SELECT depth, truncated FROM stack", "5|0\n");
	expect_rows(&fixture, "SELECT stack FROM folded", "user_65;user_64;middle;inner;kernel_64_[k]\n");
	commit_inlined(&fixture, capture, "aa", true);
	expect_rows(&fixture, "SELECT count(*), max(stack_id) FROM stack", "1|1\n");
	expect_count(&fixture, "frame", 5);
	expect_sound(&fixture);
	store_fixture_free(&fixture);
}
END_TEST

/* The first capture knew only the outer function; its stack stays as it was. */
START_TEST(a_stack_with_more_inlined_functions_is_another_stack)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	expect_commit_unnamed(&fixture, capture);
	commit_inlined(&fixture, capture, "", true);
	expect_rows(&fixture, STACK_OF(1),
		    "0|kernel_64|0|NULL|NULL\n1|user_64|0|app.cc|10\n2|user_65|0|NULL|NULL\n");
	expect_rows(&fixture, STACK_OF(2), STACK_INLINED);
	expect_rows(&fixture, "SELECT depth FROM stack ORDER BY stack_id", "3\n5\n");
	expect_commit_unnamed(&fixture, capture);
	expect_rows(&fixture, STACK_OF(2), STACK_INLINED);
	expect_count(&fixture, "stack", 2);
	expect_sound(&fixture);
	store_fixture_free(&fixture);
}
END_TEST

/* ---- names that are known from earlier captures ---- */

/* The functions at an address that the store knows, as text, and how many times tell() was called. */
struct told {
	char text[256];
	unsigned int times;
	int result;
};

static int tell(void *taker, const struct frame_name *name)
{
	struct told *told = taker;
	size_t bytes = strlen(told->text);

	told->times++;
	snprintf(told->text + bytes, sizeof(told->text) - bytes, "%.*s+%" PRId64 " %.*s:%u\n",
		 (int)name->function_bytes, name->function, name->function_offset, (int)name->file_bytes,
		 name->file ? name->file : "", name->line);
	return told->result;
}

static void expect_known(struct store_fixture *fixture, const char *build_id, int64_t offset,
			 const char *text)
{
	struct known_frames known = store_known_frames(fixture->store);
	struct told told = { .times = 0 };

	ck_assert_int_eq(known.find(known.user, "/usr/bin/app", build_id, "", offset, tell, &told),
			 *text ? 0 : -ENOENT);
	ck_assert_str_eq(told.text, text);
}

#define KNOWN_INLINED "user_64+4 app.cc:10\nmiddle+2 inlined.cc:20\ninner+2 inlined.cc:21\n"

START_TEST(known_names_need_path_build_id_and_version)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	struct told told = { .result = -EINTR };
	struct known_frames known;
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	expect_known(&fixture, "aa", 0x40, "");
	commit_inlined(&fixture, capture, "aa", true);
	expect_known(&fixture, "aa", 0x40, KNOWN_INLINED);
	expect_known(&fixture, "aa", 0x41, "user_65+4 :0\n");
	expect_known(&fixture, "aa", 0x42, "");
	expect_known(&fixture, "bb", 0x40, "");
	expect_known(&fixture, "00ff", 0x40, ""); /* the build id of the kernel, which is no file */
	/* a module without a build id is never known */
	expect_commit_unnamed(&fixture, capture);
	expect_known(&fixture, "", 0x40, "");
	/* another file may claim the same build id: the path has to match, too */
	known = store_known_frames(fixture.store);
	ck_assert_int_eq(known.find(known.user, "/tmp/app", "aa", "", 0x40, tell, &told), -ENOENT);
	ck_assert_int_eq(known.find(known.user, "/usr/bin/app", "aa", "", 0x40, tell, &told), -EINTR);
	ck_assert_uint_eq(told.times, 1);
	ck_assert_int_eq(known.find(known.user, "/usr/bin/app", "aa", "1000-7.0-8", 0x40, tell, &told),
			 -ENOENT);
	store_fixture_free(&fixture);
}
END_TEST

/* ---- hostile names ---- */

static char *hostile(void)
{
	return strdup("a\x1b]0;b\xff\\x07\n'\"");
}

#define HOSTILE_FORM "a\\x1b]0;b\\xff\\x5cx07\\x0a'\""

/* The database holds escaped names; known.find() takes a raw path and returns raw names. */
START_TEST(hostile_names_are_escaped_and_found_again)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(0, 1, 0x40);
	_cleanup_free_ char *path = hostile();
	struct told told = { .times = 0 };
	struct known_frames known;
	struct resolved resolved;
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	resolve_by_hand(capture, false, "aa", &resolved);
	free(resolved.modules[1].path);
	free(resolved.frames[0].function);
	resolved.modules[0].kind = MODULE_NONE;
	resolved.modules[1].path = hostile();
	resolved.frames[0].function = hostile();
	resolved.frames[0].file = hostile();
	snprintf(capture->processes[0].comm, sizeof(capture->processes[0].comm), "%s", path);
	shared_text_free(capture->processes[0].cgroup);
	capture->processes[0].cgroup = shared_text_new(path);
	/* the second commit looks up what the first one wrote */
	for (int i = 0; i < 2; i++)
		expect_commit_resolved(&fixture, capture, &resolved);
	expect_rows(
		&fixture,
		"SELECT comm, cgroup FROM process UNION ALL SELECT path, build_id FROM module "
		"WHERE kind = 'file' UNION ALL SELECT function, file FROM frame UNION ALL SELECT path, '' FROM cgroup",
		HOSTILE_FORM "|" HOSTILE_FORM "\n" HOSTILE_FORM "|aa\n" HOSTILE_FORM "|" HOSTILE_FORM
			     "\n" HOSTILE_FORM "|\n");
	known = store_known_frames(fixture.store);
	ck_assert_int_eq(known.find(known.user, path, "aa", "", 0x40, tell, &told), 0);
	ck_assert_str_eq(told.text, "a\x1b]0;b\xff\\x07\n'\"+4 a\x1b]0;b\xff\\x07\n'\":0\n");
	resolved_free(&resolved);
	store_fixture_free(&fixture);
}
END_TEST

/* Eviction removes all functions of an address or none: a part would pass for the whole. */
START_TEST(eviction_keeps_all_functions_of_an_address)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 0x40);
	_cleanup_capture_ struct capture *filler = NULL;
	struct dice dice = dice_new(95);
	struct store_fixture fixture;
	int saved;

	store_fixture_start(&fixture);
	commit_inlined(&fixture, capture, "aa", true);
	filler = large_capture(&dice, 2000);
	expect_commit(&fixture, filler);
	commit_inlined(&fixture, capture, "aa", false);
	saved = log_divert();
	ck_assert_int_eq(store_limit(fixture.store, &(struct store_limits){ .bytes_max = 512 << 10 }), 0);
	free(log_diverted(saved));
	expect_rows(&fixture, "SELECT capture_id FROM capture", "3\n");
	expect_known(&fixture, "aa", 0x40, KNOWN_INLINED);
	expect_sound(&fixture);
	store_fixture_free(&fixture);
}
END_TEST

SUITE(store_frames)
{
	Suite *suite = suite_create("store_frames");
	TCase *frames = tcase_create("frames");

	tcase_add_test(frames, a_name_resolved_later_names_earlier_stacks);
	tcase_add_test(frames, each_build_is_a_module);
	tcase_add_test(frames, an_address_with_inlined_functions_is_several_positions);
	tcase_add_test(frames, a_stack_with_more_inlined_functions_is_another_stack);
	tcase_add_test(frames, known_names_need_path_build_id_and_version);
	tcase_add_test(frames, hostile_names_are_escaped_and_found_again);
	tcase_add_test(frames, eviction_keeps_all_functions_of_an_address);
	suite_add_tcase(suite, frames);
	return suite;
}
