/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows when the table of a file is built, built again, retried and given up: with real files and a
 * symbolizer in a child, with arrays for the kernel's maps, and with a clock that the test sets.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "consumer/unwind/unwind_modules.h"
#include "tests/unit/fake_unwind.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct fixture {
	struct fake_maps *fake;
	struct unwind_space space;
	struct unwind_modules *modules;
	struct own_counters counters;
	struct mapped_files files;
	struct unwind_pass pass;
	struct mapped_file file;
	struct mapping mapping; /* of `file` */
	char *directory;
	pid_t child;
};

/* `file` is what its path leads to now. */
static void look_at(struct fixture *fixture)
{
	struct stat at;

	ck_assert_int_eq(stat(fixture->file.path, &at), 0);
	fixture->file.inode = at.st_ino;
	fixture->file.device_major = major(at.st_dev);
	fixture->file.device_minor = minor(at.st_dev);
}

/* In place: the inode stays. */
static void copy_over(const char *from, const char *to)
{
	_cleanup_free_ char *command = NULL;

	ck_assert_int_ge(asprintf(&command, "cat '%s' >'%s'", from, to), 0);
	ck_assert_int_eq(system(command), 0);
}

/* With a file of tests/make_symbols.sh. */
static void fill(struct fixture *fixture, const char *name)
{
	_cleanup_free_ char *path = symbols_path(name);

	copy_over(path, fixture->file.path);
	look_at(fixture);
}

static void begin_pass(struct fixture *fixture)
{
	struct unwind_pass *pass = &fixture->pass;

	*pass = (struct unwind_pass){ .number = pass->number + 1,
				      .slice_before = pass->number,
				      .files = &fixture->files,
				      .now_ns = pass->now_ns + CLOCK_SECOND_NS,
				      .deadline_ns = clock_monotonic_ns() + 20 * patience() * CLOCK_SECOND_NS,
				      .spawner_socket = -EBADF,
				      .symbolizer = pass->symbolizer };
}

static void open_fixture(struct fixture *fixture)
{
	const struct unwind_space_sizes sizes = { FAKE_CHUNKS, FAKE_PAGES, FAKE_RULES };
	struct unwind_maps maps;

	*fixture = (struct fixture){ .fake = fake_maps_new(), .directory = directory_make() };
	maps = fake_maps_of(fixture->fake);
	fixture->files.own_counters = &fixture->counters;
	ck_assert_int_eq(unwind_space_init(&fixture->space, &maps, &sizes), 0);
	ck_assert_int_eq(unwind_modules_new(&fixture->modules, &fixture->space), 0);
	fixture->file.path = path_join(fixture->directory, "file");
	fill(fixture, "symbols");
	fixture->mapping = (struct mapping){ .since = 1, .slice = 1, .file = &fixture->file };
	fixture->child = fake_symbolizer_start(&fixture->pass.symbolizer);
	begin_pass(fixture);
}

static void close_fixture(struct fixture *fixture)
{
	fake_symbolizer_abandon(fixture->child, fixture->pass.symbolizer);
	unwind_modules_free(fixture->modules);
	unwind_space_free(&fixture->space);
	directory_remove(fixture->directory);
	free(fixture->directory);
	free(fixture->file.path);
	free(fixture->fake);
}

static const struct unwind_place *need(struct fixture *fixture)
{
	return unwind_modules_need(fixture->modules, &fixture->pass, &fixture->mapping);
}

/* There is no table; returns what was logged, which the caller frees. */
static char *need_in_vain(struct fixture *fixture)
{
	int saved = log_divert();
	const struct unwind_place *place = need(fixture);
	char *logged = log_diverted(saved);

	ck_assert_ptr_null(place);
	return logged;
}

/* Whether a table was built: that writes into the maps. */
static bool writes(struct fixture *fixture)
{
	unsigned int before = fixture->fake->writes;

	need(fixture);
	return fixture->fake->writes != before;
}

START_TEST(a_table_is_built_once)
{
	const struct unwind_place *place;
	struct unwind_modules_counts counts;
	struct fixture fixture;
	uint32_t page_at;

	open_fixture(&fixture);
	place = need(&fixture);
	ck_assert_ptr_nonnull(place);
	ck_assert_uint_gt(place->rows, 0);
	page_at = place->page_at;
	ck_assert(!writes(&fixture));
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	begin_pass(&fixture);
	ck_assert(!writes(&fixture));
	ck_assert_uint_eq(need(&fixture)->page_at, page_at);
	ck_assert(!fixture.pass.more);
	counts = unwind_modules_count(fixture.modules);
	ck_assert_uint_eq(counts.with, 1);
	ck_assert_uint_eq(counts.without, 0);
	ck_assert_uint_eq(counts.rows, place->rows);
	close_fixture(&fixture);
}
END_TEST

START_TEST(the_vdso_has_a_table)
{
	struct fixture fixture;

	open_fixture(&fixture);
	fixture.mapping = (struct mapping){ .flags = MAPPING_IS_VDSO, .since = 1, .slice = 1 };
	ck_assert_ptr_nonnull(need(&fixture));
	close_fixture(&fixture);
}
END_TEST

/* A new mapping of a known inode makes it suspect: it is looked at, and built again only if it has changed. */
START_TEST(a_file_that_changed_is_built_again)
{
	struct fixture fixture;
	uint32_t page_at, rows;

	open_fixture(&fixture);
	page_at = need(&fixture)->page_at;
	rows = need(&fixture)->rows;
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	begin_pass(&fixture);
	fixture.mapping.since = fixture.pass.number;
	ck_assert(!writes(&fixture));
	unwind_modules_sweep(fixture.modules, &fixture.pass);

	copy_over("/bin/sh", fixture.file.path);
	begin_pass(&fixture);
	ck_assert(!writes(&fixture)); /* no new mapping: it is not looked at */
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	begin_pass(&fixture);
	fixture.mapping.since = fixture.pass.number;
	ck_assert(writes(&fixture));
	ck_assert_uint_ne(need(&fixture)->page_at, page_at);
	ck_assert(fixture.pass.more); /* the old table is given back by another pass */
	ck_assert_uint_eq(fixture.space.retired_count, 1);
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	ck_assert_uint_eq(fixture.space.retired_count, 1);
	begin_pass(&fixture);
	need(&fixture);
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	ck_assert_uint_eq(fixture.space.retired_count, 0);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, 1);
	ck_assert_uint_gt(unwind_modules_count(fixture.modules).rows, rows);
	close_fixture(&fixture);
}
END_TEST

/* One that is gone from its path, while it is in use, keeps its table, and is not looked at for a minute. */
START_TEST(a_file_that_cannot_be_opened_keeps_its_table)
{
	_cleanup_free_ char *logged = NULL;
	struct fixture fixture;
	uint32_t page_at;

	open_fixture(&fixture);
	page_at = need(&fixture)->page_at;
	ck_assert_int_eq(unlink(fixture.file.path), 0);
	begin_pass(&fixture);
	fixture.mapping.since = fixture.pass.number;
	ck_assert_uint_eq(need(&fixture)->page_at, page_at);
	ck_assert(!fixture.pass.more);
	/* a file that was never opened has no table, and is tried again in a minute; no new file gets its inode */
	fixture.file.inode = UINT64_MAX;
	logged = need_in_vain(&fixture);
	ck_assert_ptr_nonnull(strstr(logged, fixture.file.path));
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).without, 1);
	fill(&fixture, "symbols");
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	close_fixture(&fixture);
}
END_TEST

START_TEST(what_is_no_program_has_none_until_it_changes)
{
	_cleanup_free_ char *logged = NULL;
	struct fixture fixture;

	open_fixture(&fixture);
	file_put(fixture.file.path, "text", 4);
	look_at(&fixture);
	logged = need_in_vain(&fixture);
	ck_assert_str_eq(logged, ""); /* nobody misses the unwind table of a text */
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).without, 1);
	fixture.pass.now_ns += 3600 * CLOCK_SECOND_NS;
	begin_pass(&fixture);
	ck_assert(!writes(&fixture));
	ck_assert(!fixture.pass.more);
	fill(&fixture, "symbols");
	begin_pass(&fixture);
	fixture.mapping.since = fixture.pass.number;
	ck_assert_ptr_nonnull(need(&fixture));
	close_fixture(&fixture);
}
END_TEST

START_TEST(past_the_deadline_another_pass_builds)
{
	struct fixture fixture;

	open_fixture(&fixture);
	fixture.pass.deadline_ns = clock_monotonic_ns();
	ck_assert_ptr_null(need(&fixture));
	ck_assert(fixture.pass.more);
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	ck_assert(!fixture.pass.more);
	/* a table that is there serves on while it waits to be looked at */
	begin_pass(&fixture);
	fixture.pass.deadline_ns = clock_monotonic_ns();
	fixture.mapping.since = fixture.pass.number;
	ck_assert_ptr_nonnull(need(&fixture));
	ck_assert(fixture.pass.more);
	close_fixture(&fixture);
}
END_TEST

START_TEST(without_a_symbolizer_another_pass_builds)
{
	struct fixture fixture;
	int symbolizer;

	open_fixture(&fixture);
	symbolizer = fixture.pass.symbolizer;
	fixture.pass.symbolizer = -EBADF;
	ck_assert_ptr_null(need(&fixture));
	ck_assert(fixture.pass.more);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).without, 0);
	fixture.pass.symbolizer = symbolizer;
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	close_fixture(&fixture);
}
END_TEST

/* Whoever kills the symbolizer does not get another one for the same file. */
START_TEST(a_file_that_ends_the_symbolizer_is_given_up)
{
	_cleanup_free_ char *logged = NULL;
	struct fixture fixture;
	int pair[2];

	open_fixture(&fixture);
	fake_symbolizer_end(fixture.child, fixture.pass.symbolizer);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	fixture.pass.symbolizer = pair[0];
	logged = need_in_vain(&fixture);
	ck_assert_int_lt(fixture.pass.symbolizer, 0);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).without, 1);
	ck_assert_ptr_nonnull(strstr(logged, fixture.file.path));
	fixture.child = fake_symbolizer_start(&fixture.pass.symbolizer);
	close_fixture(&fixture);
}
END_TEST

START_TEST(without_room_it_is_tried_again_in_a_minute)
{
	_cleanup_free_ char *logged = NULL;
	struct fixture fixture;
	uint32_t first;

	open_fixture(&fixture);
	ck_assert_int_eq(unit_map_allocate(&fixture.space.chunks, FAKE_CHUNKS, clock_monotonic_ns(), &first),
			 0);
	logged = need_in_vain(&fixture);
	ck_assert_ptr_nonnull(strstr(logged, "--unwind-memory"));
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).no_room, 1);
	ck_assert(fixture.pass.more);
	fake_symbolizer_abandon(fixture.child, fixture.pass.symbolizer);
	fixture.child = fake_symbolizer_start(&fixture.pass.symbolizer);

	unit_map_release(&fixture.space.chunks, first, FAKE_CHUNKS, clock_monotonic_ns());
	usleep(1100000);
	begin_pass(&fixture);
	ck_assert_ptr_null(need(&fixture)); /* not yet */
	fixture.pass.now_ns += 60 * CLOCK_SECOND_NS;
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).no_room, 0);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_table_that_nobody_needs_goes_in_the_end)
{
	struct fixture fixture;

	open_fixture(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	fixture.pass.number += 64;
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, 1);
	fixture.pass.number++;
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, 0);
	ck_assert_uint_eq(unit_map_room(&fixture.space.chunks, clock_monotonic_ns() + 2 * CLOCK_SECOND_NS),
			  FAKE_CHUNKS);
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	unwind_modules_empty(fixture.modules);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, 0);
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	close_fixture(&fixture);
}
END_TEST

Suite *unwind_modules_suite(void)
{
	Suite *suite = suite_create("unwind_modules");
	TCase *cases = tcase_create("files");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, a_table_is_built_once);
	tcase_add_test(cases, the_vdso_has_a_table);
	tcase_add_test(cases, a_file_that_changed_is_built_again);
	tcase_add_test(cases, a_file_that_cannot_be_opened_keeps_its_table);
	tcase_add_test(cases, what_is_no_program_has_none_until_it_changes);
	tcase_add_test(cases, past_the_deadline_another_pass_builds);
	tcase_add_test(cases, without_a_symbolizer_another_pass_builds);
	tcase_add_test(cases, a_file_that_ends_the_symbolizer_is_given_up);
	tcase_add_test(cases, without_room_it_is_tried_again_in_a_minute);
	tcase_add_test(cases, a_table_that_nobody_needs_goes_in_the_end);
	suite_add_tcase(suite, cases);
	return suite;
}
