/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows when the table of a file is built, built again, retried and given up: with real files and a
 * symbolizer in a child, with arrays for the kernel's maps, and with a clock that the test sets.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/unwind/unwind_modules.h"
#include "tests/unit/fake_unwind.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
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
	struct table_failures *failures;
	struct unwind_pass pass;
	struct mapped_file file;
	struct mapping mapping; /* of `file` */
	char *directory;
	struct cpu_budget budget;
	struct table_workers *workers;
	struct file_cache *cache; /* NULL unless a test sets it before open_fixture() */
	unsigned int spawned;
	pid_t children[16];
	bool refuses, dies; /* there is no symbolizer; or it ends at once */
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
				      .failures = fixture->failures,
				      .now_ns = pass->now_ns + CLOCK_SECOND_NS,
				      .deadline_ns = clock_monotonic_ns() + 20 * patience() * CLOCK_SECOND_NS,
				      .uid = pass->uid };
}

static int spawn(void *user, enum symbolizer_priority priority)
{
	struct fixture *fixture = user;
	int pair[2];

	ck_assert_int_eq(priority, SYMBOLIZER_NOW); /* the budget is not used up */
	if (fixture->refuses)
		return -EAGAIN;
	if (fixture->dies) {
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		fixture->children[fixture->spawned++] = fork();
		if (!fixture->children[fixture->spawned - 1]) {
			char byte;

			close(pair[0]);
			_exit(read(pair[1], &byte, 1) > 0);
		}
		close(pair[1]);
		return pair[0];
	}
	ck_assert_uint_lt(fixture->spawned, ARRAY_SIZE(fixture->children));
	fixture->children[fixture->spawned++] = fake_symbolizer_start(&pair[0]);
	return pair[0];
}

static void open_with_cache(struct fixture *fixture, struct file_cache *cache)
{
	const struct unwind_space_sizes sizes = { FAKE_CHUNKS, FAKE_PAGES, FAKE_RULES };
	struct unwind_maps maps;

	*fixture = (struct fixture){ .fake = fake_maps_new(),
				     .directory = directory_make(),
				     .cache = cache,
				     .budget = { .ppm = 500000, .cpus = 1 } };
	maps = fake_maps_of(fixture->fake);
	fixture->files.own_counters = &fixture->counters;
	ck_assert_int_eq(unwind_space_init(&fixture->space, &maps, &sizes), 0);
	fixture->workers = table_workers_new(&fixture->space, &fixture->budget, spawn, fixture);
	ck_assert_ptr_nonnull(fixture->workers);
	ck_assert_int_eq(
		unwind_modules_new(&fixture->modules, &fixture->space, fixture->workers, fixture->cache), 0);
	ck_assert_int_eq(table_failures_new(&fixture->failures), 0);
	fixture->file.path = path_join(fixture->directory, "file");
	fill(fixture, "symbols");
	fixture->mapping = (struct mapping){ .since = 1, .slice = 1, .file = &fixture->file };
	begin_pass(fixture);
}

static void open_fixture(struct fixture *fixture)
{
	open_with_cache(fixture, NULL);
}

static void close_fixture(struct fixture *fixture)
{
	unwind_modules_free(fixture->modules);
	table_workers_free(fixture->workers);
	for (unsigned int i = 0; i < fixture->spawned; i++)
		fake_symbolizer_abandon(fixture->children[i], -EBADF);
	table_failures_free(fixture->failures);
	unwind_space_free(&fixture->space);
	directory_remove(fixture->directory);
	free(fixture->directory);
	free(fixture->file.path);
	free(fixture->fake);
}

/* Has everything made that waits, unless it cannot be. */
static void work(struct fixture *fixture)
{
	while (unwind_modules_work(fixture->modules, &fixture->pass,
				   clock_monotonic_ns() + 20 * patience() * CLOCK_SECOND_NS))
		;
}

static const struct unwind_place *need(struct fixture *fixture)
{
	const struct unwind_place *place =
		unwind_modules_need(fixture->modules, &fixture->pass, &fixture->mapping);

	if (!unwind_modules_waiting(fixture->modules))
		return place;
	work(fixture);
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

/* The list of failures has this one alone; or none, if `error` is 0. `retry_ns` is from the begin of the pass; 0: never. */
static void expect_failure(const struct fixture *fixture, int error, uint64_t retry_ns)
{
	struct table_failure list[TABLE_FAILURES_MOST];

	ck_assert_uint_eq(table_failures_copy(fixture->failures, list), error != 0);
	if (!error)
		return;
	ck_assert_str_eq(list[0].path, fixture->file.path);
	ck_assert_uint_eq(list[0].file.inode, fixture->file.inode);
	ck_assert_int_eq(list[0].error, error);
	ck_assert_uint_eq(list[0].retry_ns, retry_ns ? fixture->pass.now_ns + retry_ns : 0);
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
	ck_assert_ptr_nonnull(
		strstr(logged, "bourdond cannot open the file, and bourdon-grant did not give it"));
	expect_failure(&fixture, -ESTALE, 60 * CLOCK_SECOND_NS);
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
	expect_failure(&fixture, -ENOTSUP, 0);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).without, 1);
	fixture.pass.now_ns += 3600 * CLOCK_SECOND_NS;
	begin_pass(&fixture);
	ck_assert(!writes(&fixture));
	ck_assert(!fixture.pass.more);
	fill(&fixture, "symbols");
	begin_pass(&fixture);
	fixture.mapping.since = fixture.pass.number;
	ck_assert_ptr_nonnull(need(&fixture));
	expect_failure(&fixture, 0, 0);
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

	open_fixture(&fixture);
	fixture.refuses = true;
	ck_assert_ptr_null(need(&fixture));
	ck_assert_uint_eq(unwind_modules_waiting(fixture.modules), 1);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).without, 0);
	fixture.refuses = false;
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

	open_fixture(&fixture);
	fixture.dies = true;
	logged = need_in_vain(&fixture);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).without, 1);
	ck_assert_ptr_nonnull(strstr(logged, fixture.file.path));
	ck_assert_ptr_nonnull(strstr(logged, "the symbolizer died reading it"));
	expect_failure(&fixture, -EPIPE, 0);
	begin_pass(&fixture);
	fixture.pass.now_ns += 3600 * CLOCK_SECOND_NS;
	ck_assert(!writes(&fixture));
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
	ck_assert_ptr_nonnull(strstr(logged, "no room in the kernel's maps"));
	ck_assert_ptr_nonnull(strstr(logged, "--unwind-memory"));
	expect_failure(&fixture, -ENOSPC, 60 * CLOCK_SECOND_NS);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).no_room, 1);

	unit_map_release(&fixture.space.chunks, first, FAKE_CHUNKS, clock_monotonic_ns());
	usleep(1100000);
	begin_pass(&fixture);
	ck_assert_ptr_null(need(&fixture)); /* not yet */
	fixture.pass.now_ns += 60 * CLOCK_SECOND_NS;
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).no_room, 0);
	expect_failure(&fixture, 0, 0);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_failure_that_nobody_needs_goes_in_the_end)
{
	struct fixture fixture;

	open_fixture(&fixture);
	file_put(fixture.file.path, "text", 4);
	look_at(&fixture);
	free(need_in_vain(&fixture));
	fixture.pass.now_ns += 64 * CLOCK_SECOND_NS;
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	expect_failure(&fixture, -ENOTSUP, 0);
	fixture.pass.now_ns++;
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	expect_failure(&fixture, 0, 0);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_table_that_nobody_needs_goes_in_the_end)
{
	struct fixture fixture;

	open_fixture(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	fixture.pass.now_ns += 64 * CLOCK_SECOND_NS;
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, 1);
	fixture.pass.now_ns++;
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

/* What one file lacks room for, another gives, if no process needs it. */
START_TEST(room_is_made_of_what_nobody_needs)
{
	struct fixture fixture;
	struct mapped_file first;
	uint32_t taken;

	open_fixture(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	first = fixture.file;
	ck_assert_int_eq(unit_map_allocate(&fixture.space.chunks,
					   unit_map_room(&fixture.space.chunks, clock_monotonic_ns()),
					   clock_monotonic_ns(), &taken),
			 0);
	begin_pass(&fixture);
	begin_pass(&fixture);
	fixture.file.path = path_join(fixture.directory, "other");
	fill(&fixture, "symbols");
	free(need_in_vain(&fixture));
	ck_assert(fixture.pass.more);
	usleep(1100000);
	fixture.pass.now_ns += CLOCK_SECOND_NS;
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	free(first.path);
	close_fixture(&fixture);
}
END_TEST

/* Has another file, which is a copy of the same. */
static void begin_file(struct fixture *fixture, struct mapped_file *ret_before, const char *name)
{
	*ret_before = fixture->file;
	fixture->file.path = path_join(fixture->directory, name);
	fill(fixture, "symbols");
}

/* The table of a file, if it has one. */
static const struct unwind_place *place_of(struct fixture *fixture, struct mapped_file *file)
{
	struct mapping mapping = { .since = 1, .slice = 1, .file = file };

	return unwind_modules_need(fixture->modules, &fixture->pass, &mapping);
}

/* As the programs do, in each page of the table that the file has. */
static void use(struct fixture *fixture, struct mapped_file *file, uint16_t times)
{
	const struct unwind_place *place = place_of(fixture, file);

	ck_assert_ptr_nonnull(place);
	for (uint32_t i = 0; i < place->pages; i++)
		fixture->fake->pages[place->page_at + i].uses += times;
}

/* All are needed: the one that is used least makes room, unless it is as much used as others, or new. */
START_TEST(room_is_made_of_what_is_used_least)
{
	struct mapped_file files[3];
	struct fixture fixture;
	uint32_t chunks, elsewhere;

	open_fixture(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));
	chunks = FAKE_CHUNKS - unit_map_room(&fixture.space.chunks, clock_monotonic_ns());
	/* there is room for two such files */
	ck_assert_int_eq(unit_map_allocate(&fixture.space.chunks, FAKE_CHUNKS - 2 * chunks,
					   clock_monotonic_ns(), &elsewhere),
			 0);
	begin_file(&fixture, &files[0], "second");
	ck_assert_ptr_nonnull(need(&fixture));
	begin_file(&fixture, &files[1], "third");
	use(&fixture, &files[0], 300);
	free(need_in_vain(&fixture)); /* the second has had no time yet */
	ck_assert(place_of(&fixture, &files[1]));

	fixture.pass.now_ns += 60 * CLOCK_SECOND_NS;
	begin_pass(&fixture);
	use(&fixture, &files[1], 100);
	ck_assert(place_of(&fixture, &files[0]));
	free(need_in_vain(&fixture)); /* the second is a quarter of all uses */
	ck_assert(place_of(&fixture, &files[0]) && place_of(&fixture, &files[1]));

	for (int i = 0; i < 2; i++) {
		fixture.pass.now_ns += 60 * CLOCK_SECOND_NS;
		begin_pass(&fixture);
		use(&fixture, &files[0], 10000);
		ck_assert(place_of(&fixture, &files[1]));
	}
	free(need_in_vain(&fixture));
	ck_assert(fixture.pass.more);
	ck_assert(place_of(&fixture, &files[0]));
	ck_assert(!place_of(&fixture, &files[1])); /* it is not made again at once */
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).no_room, 2);
	begin_pass(&fixture);
	ck_assert(place_of(&fixture, &files[0]) && !place_of(&fixture, &files[1]));
	unwind_modules_sweep(fixture.modules, &fixture.pass);
	usleep(1100000); /* kernel programs may read the table until then */
	fixture.pass.now_ns += CLOCK_SECOND_NS;
	begin_pass(&fixture);
	ck_assert_ptr_nonnull(need(&fixture));

	/* it comes again after a minute, and takes the place of the other one if that was not used, either */
	files[2] = fixture.file;
	fixture.pass.now_ns += 60 * CLOCK_SECOND_NS;
	begin_pass(&fixture);
	use(&fixture, &files[0], 10000);
	ck_assert(place_of(&fixture, &files[2]));
	fixture.file = files[1];
	free(need_in_vain(&fixture));
	ck_assert(place_of(&fixture, &files[0]) && !place_of(&fixture, &files[2]));
	free(files[0].path);
	free(files[2].path);
	close_fixture(&fixture);
}
END_TEST

/* A user's files take the place of no other user's, who has no more. */
START_TEST(what_others_use_little_stays_theirs)
{
	struct fixture fixture;
	struct mapped_file first;
	uint32_t taken;

	open_fixture(&fixture);
	fixture.pass.uid = 1000;
	ck_assert_ptr_nonnull(need(&fixture));
	begin_file(&fixture, &first, "second");
	fixture.pass.uid = 1001;
	ck_assert_ptr_nonnull(need(&fixture));
	ck_assert_int_eq(unit_map_allocate(&fixture.space.chunks,
					   unit_map_room(&fixture.space.chunks, clock_monotonic_ns()),
					   clock_monotonic_ns(), &taken),
			 0);
	fixture.pass.now_ns += 60 * CLOCK_SECOND_NS;
	begin_pass(&fixture);
	fixture.pass.uid = 1001;
	use(&fixture, &fixture.file, 100);
	fixture.pass.uid = 1000;
	ck_assert(place_of(&fixture, &first));
	free(first.path);
	begin_file(&fixture, &first, "third");
	fixture.pass.uid = 1001;
	free(need_in_vain(&fixture));
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, 2);
	free(first.path);
	close_fixture(&fixture);
}
END_TEST

/* A user whose programs' tables fill the maps: another user's program has a table all the same, and the first user keeps half. */
START_TEST(nobody_has_all_room)
{
	struct mapped_file files[16];
	struct fixture fixture;
	uint32_t count = 0, chunks, elsewhere;
	uint64_t before;

	open_fixture(&fixture);
	fixture.pass.uid = 1000;
	ck_assert_ptr_nonnull(need(&fixture));
	chunks = FAKE_CHUNKS - unit_map_room(&fixture.space.chunks, clock_monotonic_ns());
	/* there is room for nine such files */
	ck_assert_int_eq(unit_map_allocate(&fixture.space.chunks, FAKE_CHUNKS - 9 * chunks,
					   clock_monotonic_ns(), &elsewhere),
			 0);
	for (;;) {
		char name[16];

		files[count++] = fixture.file;
		snprintf(name, sizeof(name), "own-%u", count);
		fixture.file.path = path_join(fixture.directory, name);
		fill(&fixture, "symbols");
		if (unit_map_room(&fixture.space.chunks, clock_monotonic_ns()) < chunks)
			break;
		ck_assert_ptr_nonnull(need(&fixture));
	}
	before = unwind_modules_count(fixture.modules).with;
	ck_assert_uint_eq(before, 9);
	/* it needs more itself, and gets nothing */
	free(need_in_vain(&fixture));
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, before);
	/* the other user comes */
	files[count++] = fixture.file;
	fixture.file.path = path_join(fixture.directory, "honest");
	fill(&fixture, "symbols");
	fixture.pass.uid = 1001;
	free(need_in_vain(&fixture));
	ck_assert(fixture.pass.more);
	ck_assert_uint_eq(unwind_modules_count(fixture.modules).with, before / 2);
	for (int pass = 0; pass < 3; pass++) {
		begin_pass(&fixture);
		/* the first user, whose passes come first, does not take the room again */
		fixture.pass.uid = 1000;
		for (uint32_t i = 0; i < count; i++)
			place_of(&fixture, &files[i]);
		work(&fixture);
		fixture.pass.uid = 1001;
		unwind_modules_need(fixture.modules, &fixture.pass, &fixture.mapping);
		work(&fixture);
		unwind_modules_sweep(fixture.modules, &fixture.pass);
		usleep(1100000); /* kernel programs may read the tables until then */
	}
	ck_assert_ptr_nonnull(need(&fixture));
	ck_assert_uint_ge(unwind_modules_count(fixture.modules).with, before / 2 + 1);
	for (uint32_t i = 0; i < count; i++)
		free(files[i].path);
	close_fixture(&fixture);
}
END_TEST

/* A later daemon takes the table from the directory, without a symbolizer; a file that has changed gets another one. */
START_TEST(a_kept_table_needs_no_symbolizer)
{
	const atomic_uint_fast64_t never = 0;
	char *directory = directory_make();
	struct fixture fixture;
	struct stat at;

	for (int daemon = 0; daemon < 3; daemon++) {
		_cleanup_free_ char *path = path_join(directory, "file");
		struct file_cache *cache = file_cache_open(directory, &never);
		uint32_t rows;

		ck_assert_ptr_nonnull(cache);
		open_with_cache(&fixture, cache);
		free(fixture.file.path);
		fixture.file.path = strdup(path);
		if (daemon != 1)
			fill(&fixture, daemon ? "other" : "symbols");
		look_at(&fixture);
		/* what has just changed is not kept */
		ck_assert_int_eq(stat(path, &at), 0);
		if (!daemon) {
			ck_assert_ptr_nonnull(need(&fixture));
			file_cache_flush(cache);
			ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_TABLES).files, 0);
			while (time(NULL) - at.st_ctim.tv_sec <= 2)
				usleep(100000);
			unwind_modules_empty(fixture.modules);
			begin_pass(&fixture);
		}
		fixture.refuses = daemon == 1;
		ck_assert_ptr_nonnull(need(&fixture));
		rows = need(&fixture)->rows;
		ck_assert_uint_gt(rows, 0);
		file_cache_flush(cache);
		ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_TABLES).files, 1);
		ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_TABLES).loaded, daemon == 1);
		ck_assert_uint_eq(fixture.spawned > 0, daemon != 1);
		close_fixture(&fixture);
		file_cache_close(cache);
	}
	directory_remove(directory);
	free(directory);
}
END_TEST

/* One file after the other: each owner's have a symbolizer that has read no file of another one. */
START_TEST(a_kept_table_is_credible)
{
	static const uid_t owners[] = { 0, 1000, 0, 1001, 1001, 1002, 0 };
	static const mode_t modes[] = { 0755, 0755, 0755, 0755, 0755, 0777, 0755 };
	static const unsigned int spawned[] = { 1, 1, 2, 2, 2, 3, 4 };
	struct fixture fixture;

	SKIP_IF(no_root());
	open_fixture(&fixture);
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		_cleanup_close_ int fd = open(fixture.file.path, O_RDONLY | O_CLOEXEC);
		struct table_outcome outcome;

		ck_assert_int_eq(fchown(fd, owners[i], 0) || fchmod(fd, modes[i]), 0);
		ck_assert_int_eq(table_workers_begin(fixture.workers, fd, false, &fixture), 0);
		ck_assert(table_workers_wait(fixture.workers, fixture.pass.deadline_ns, &outcome));
		ck_assert_int_eq(outcome.result, 0);
		ck_assert_uint_eq(fixture.spawned, spawned[i]);
		/* nobody knows who wrote what everybody may write */
		ck_assert_int_eq(outcome.bytes.used > 0, modes[i] == 0755);
		kept_bytes_free(&outcome.bytes);
		unwind_space_release(&fixture.space, &outcome.place);
	}
	close_fixture(&fixture);
}
END_TEST

/* The sizes decide, not the order in which the files were met; and those of others than targets come last. */
START_TEST(small_files_go_first_and_targets_before_others)
{
	static const struct {
		const char *name;
		long bytes;
		bool is_bystander;
	} files[] = { { "large", 3000000, false },
		      { "of-others", 20000, true },
		      { "small", 50000, false },
		      { "middle", 60000, false } };
	_cleanup_free_ char *logged = NULL;
	const char *at[ARRAY_SIZE(files)];
	struct mapped_file others[ARRAY_SIZE(files)];
	struct fixture fixture;
	int saved;

	open_fixture(&fixture);
	fixture.dies = true;
	fixture.refuses = true;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		others[i] = fixture.file;
		fixture.file.path = path_join(fixture.directory, files[i].name);
		file_put(fixture.file.path, "", 0);
		ck_assert_int_eq(truncate(fixture.file.path, files[i].bytes), 0);
		look_at(&fixture);
		fixture.pass.is_bystander = files[i].is_bystander;
		ck_assert_ptr_null(need(&fixture));
	}
	ck_assert_uint_eq(unwind_modules_waiting(fixture.modules), ARRAY_SIZE(files));
	fixture.refuses = false;
	saved = log_divert();
	work(&fixture);
	usleep(1100000); /* so many may die in a second */
	work(&fixture);
	logged = log_diverted(saved);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		at[i] = strstr(logged, files[i].name);
		ck_assert_ptr_nonnull(at[i]);
	}
	/* two are under way at once, and either may end first */
	ck_assert((at[2] < at[0] && at[2] < at[1]) || (at[3] < at[0] && at[3] < at[1]));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		free(others[i].path);
	close_fixture(&fixture);
}
END_TEST

SUITE(unwind_modules)
{
	Suite *suite = suite_create("unwind_modules");
	TCase *cases = tcase_create("files");

	tcase_add_test(cases, a_table_is_built_once);
	tcase_add_test(cases, the_vdso_has_a_table);
	tcase_add_test(cases, a_file_that_changed_is_built_again);
	tcase_add_test(cases, a_file_that_cannot_be_opened_keeps_its_table);
	tcase_add_test(cases, what_is_no_program_has_none_until_it_changes);
	tcase_add_test(cases, past_the_deadline_another_pass_builds);
	tcase_add_test(cases, without_a_symbolizer_another_pass_builds);
	tcase_add_test(cases, a_file_that_ends_the_symbolizer_is_given_up);
	tcase_add_test(cases, without_room_it_is_tried_again_in_a_minute);
	tcase_add_test(cases, a_failure_that_nobody_needs_goes_in_the_end);
	tcase_add_test(cases, a_table_that_nobody_needs_goes_in_the_end);
	tcase_add_test(cases, room_is_made_of_what_nobody_needs);
	tcase_add_test(cases, room_is_made_of_what_is_used_least);
	tcase_add_test(cases, what_others_use_little_stays_theirs);
	tcase_add_test(cases, nobody_has_all_room);
	tcase_add_test(cases, a_kept_table_needs_no_symbolizer);
	tcase_add_test(cases, a_kept_table_is_credible);
	tcase_add_test(cases, small_files_go_first_and_targets_before_others);
	suite_add_tcase(suite, cases);
	return suite;
}
