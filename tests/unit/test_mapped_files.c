/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a mapped file is opened by its path only if that is the file that is mapped, and otherwise
 * through bourdon-grant; for which process it is asked, when it is not asked again; and which perf maps are
 * accepted.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/grant_request.h"
#include "consumer/symbols/mapped_files.h"
#include "tests/unit/fake_grant.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#define BEGINS 0x10000UL
#define ELF(tgid, started) "elf " #tgid " " #started " 65536\n"
#define REFUSED "refused no such process\n"

struct fixture {
	struct fake_grant grant;
	struct own_counters counters;
	struct mapped_files files;
	struct mappings *mappings;
	char *path, *other;     /* the mapped file, and another one */
	uint64_t device_offset; /* kernel's device minus that of stat(2) */
	size_t descriptors;
};

static void open_fixture(struct fixture *fixture)
{
	*fixture = (struct fixture){ .mappings = mappings_new() };
	fake_grant_make(&fixture->grant);
	fixture->files = (struct mapped_files){ .grant_socket = fixture->grant.path,
						.own_counters = &fixture->counters };
	fixture->path = path_join(fixture->grant.directory, "file");
	fixture->other = path_join(fixture->grant.directory, "other");
	file_put(fixture->path, "mapped", 6);
	file_put(fixture->other, "other", 5);
	fixture->descriptors = descriptors_open();
}

static void close_fixture(struct fixture *fixture)
{
	ck_assert_uint_eq(descriptors_open(), fixture->descriptors);
	mappings_free(fixture->mappings);
	fake_grant_free(&fixture->grant);
	free(fixture->path);
	free(fixture->other);
}

/* The targets of the perf maps. */
static const struct grant_target seven = { 7, 0, 1007 }, jit = { 4711, 0, 1007 };

/* A process maps the file under the name `path`. */
static struct mapped_file *map(struct fixture *fixture, uint32_t tgid, uint64_t started_ns, const char *path)
{
	struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) },
					 .tgid = tgid,
					 .started_ns = started_ns,
					 .begins = BEGINS,
					 .ends = BEGINS + 4096,
					 .path_bytes = (uint32_t)strlen(path) };
	char bytes[sizeof(record) + 256];
	struct stat at;

	ck_assert_int_eq(stat(fixture->path, &at), 0);
	record.inode = at.st_ino;
	record.device_major = major(at.st_dev);
	record.device_minor = (uint32_t)(minor(at.st_dev) + fixture->device_offset);
	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), path, record.path_bytes);
	ck_assert_int_eq(mappings_add_records(fixture->mappings, bytes, sizeof(record) + record.path_bytes),
			 (long)(sizeof(record) + record.path_bytes));
	return mappings_find(fixture->mappings, tgid, started_ns, BEGINS)->file;
}

static int open_file(struct fixture *fixture, struct mapped_file *file)
{
	struct stat at = { 0 };
	int fd = mapped_files_open(&fixture->files, fixture->mappings, file,
				   clock_monotonic_ns() + 10 * CLOCK_SECOND_NS, &at);

	ck_assert(fd >= 0 ? at.st_ino == file->inode && at.st_size == 6 : !at.st_ino);
	return fd;
}

static void expect_opened(struct fixture *fixture, struct mapped_file *file)
{
	int fd = open_file(fixture, file);
	char text[8];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, text, sizeof(text), 0), 6);
	close(fd);
}

/* A warning is logged only where bourdon-grant is missing. */
static void expect_error(struct fixture *fixture, struct mapped_file *file, int error)
{
	int saved = log_divert(), result = open_file(fixture, file);

	free(log_diverted(saved));
	ck_assert_int_eq(result, error);
}

static void expect_counted(struct fixture *fixture, uint64_t granted, uint64_t refused)
{
	ck_assert_uint_eq(own_counted(&fixture->counters, OWN_FILES_GRANTED), granted);
	ck_assert_uint_eq(own_counted(&fixture->counters, OWN_FILES_REFUSED), refused);
}

/* ---- by path, and by grant ---- */

START_TEST(by_path)
{
	struct fixture fixture;

	open_fixture(&fixture);
	expect_opened(&fixture, map(&fixture, 7, 1007, fixture.path));
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	expect_counted(&fixture, 0, 0);
	close_fixture(&fixture);
}
END_TEST

enum elsewhere { DELETED, REPLACED, ANOTHER_DEVICE, A_DIRECTORY, ELSEWHERES };

/* The path leads nowhere, to another file, to a file that stat(2) tells apart (btrfs), or is empty. */
START_TEST(by_grant)
{
	struct fixture fixture;
	struct fake_answer answer = { ELF(7, 1007), "ok\n", NULL };
	const char *path[ELSEWHERES];

	open_fixture(&fixture);
	path[DELETED] = "/nowhere/file (deleted)";
	path[REPLACED] = fixture.other;
	path[ANOTHER_DEVICE] = fixture.path;
	path[A_DIRECTORY] = fixture.grant.directory;
	fixture.device_offset = _i == ANOTHER_DEVICE;
	answer.path = fixture.path;
	fake_grant_answer(&fixture.grant, &answer, 1);
	expect_opened(&fixture, map(&fixture, 7, 1007, path[_i]));
	fake_grant_finish(&fixture.grant);
	expect_counted(&fixture, 1, 0);
	close_fixture(&fixture);
}
END_TEST

/* The answer is checked as well: the process may have mapped another file in the meantime. */
START_TEST(another_file_is_granted)
{
	struct fixture fixture;
	struct fake_answer answer = { ELF(7, 1007), "ok\n", NULL };
	const char *granted[3];
	struct mapped_file *file;

	open_fixture(&fixture);
	granted[0] = fixture.other;
	granted[1] = fixture.grant.directory;
	granted[2] = "/dev/null";
	answer.path = granted[_i];
	fake_grant_answer(&fixture.grant, &answer, 1);
	file = map(&fixture, 7, 1007, "/nowhere/file");
	expect_error(&fixture, file, -ESTALE);
	fake_grant_finish(&fixture.grant);
	/* not asked again */
	expect_error(&fixture, file, -ESTALE);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	close_fixture(&fixture);
}
END_TEST

/* ---- files that are held ---- */

/* Granted once, or opened by a path that leads nowhere now: it can still be opened until no mapping of it is known. */
START_TEST(a_file_is_held)
{
	struct fixture fixture;
	struct fake_answer answer = { ELF(7, 1007), "ok\n", NULL };
	struct held_files held = { 0 };
	struct mapped_file *file;

	open_fixture(&fixture);
	fixture.files.held = &held;
	if (_i) {
		file = map(&fixture, 7, 1007, fixture.path);
		expect_opened(&fixture, file);
		ck_assert_int_eq(unlink(fixture.path), 0);
	} else {
		answer.path = fixture.path;
		fake_grant_answer(&fixture.grant, &answer, 1);
		file = map(&fixture, 7, 1007, "/nowhere/file");
		expect_opened(&fixture, file);
		fake_grant_finish(&fixture.grant);
	}
	expect_opened(&fixture, file);
	expect_opened(&fixture, file);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	held_files_sweep(&held);
	expect_opened(&fixture, file);
	mappings_grow_older(fixture.mappings);
	mappings_forget(fixture.mappings, 1);
	held_files_sweep(&held); /* the descriptor is closed, as the fixture counts */
	close_fixture(&fixture);
}
END_TEST

/* One user's files take no more than half, and the first ones go. */
START_TEST(one_user_has_half_of_the_files_that_are_held)
{
	static struct mapped_file files[HELD_GRANTED + 2];
	struct held_files held = { 0 };
	size_t descriptors = descriptors_open();
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(files); i++) {
		files[i] = (struct mapped_file){ .uid = _i ? 1000 : 0, .users = 1 };
		held_files_add(&held, &files[i], fd, true);
		held_files_add(&held, &files[i], fd, true); /* once */
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(files); i++) {
		uint32_t room = _i ? HELD_GRANTED / 2 : HELD_GRANTED;
		int copy = held_files_open(&held, &files[i]);

		ck_assert_int_eq(copy >= 0, i >= ARRAY_SIZE(files) - room);
		ck_assert_uint_eq(files[i].users, 1 + (copy >= 0));
		if (copy >= 0)
			close(copy);
	}
	held_files_close(&held);
	close(fd);
	ck_assert_uint_eq(descriptors_open(), descriptors);
}
END_TEST

/* bourdon-grant would refuse it, and then not be asked when the process is a target. */
START_TEST(a_process_that_is_no_target_is_not_asked_for)
{
	struct mapped_record record = { .header = { RECORD_MAPPED, sizeof(record) },
					.tgid = 7,
					.started_ns = 1007,
					.flags = MAPPED_BYSTANDER };
	struct fake_answer answer = { ELF(7, 1007), "ok\n", NULL };
	struct fixture fixture;
	struct mapped_file *file;

	open_fixture(&fixture);
	file = map(&fixture, 7, 1007, "/nowhere/file");
	mappings_add_records(fixture.mappings, (const char *)&record, sizeof(record));
	expect_error(&fixture, file, -ESTALE);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	record.flags = 0;
	mappings_add_records(fixture.mappings, (const char *)&record, sizeof(record));
	answer.path = fixture.path;
	fake_grant_answer(&fixture.grant, &answer, 1);
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	close_fixture(&fixture);
}
END_TEST

/* ---- when bourdon-grant is not asked again ---- */

START_TEST(the_youngest_process_is_asked_for_once)
{
	static const struct fake_answer refusals[] = { { ELF(9, 1009), REFUSED, NULL },
						       { ELF(8, 1008), REFUSED, NULL },
						       { ELF(7, 1007), REFUSED, NULL } };
	struct fake_answer granted = { ELF(5, 1010), "ok\n", NULL };
	struct fixture fixture;
	struct mapped_file *file;

	open_fixture(&fixture);
	for (uint32_t i = 6; i < 10; i++)
		file = map(&fixture, i, 1000 + i, "/nowhere/file");
	fake_grant_answer(&fixture.grant, refusals, ARRAY_SIZE(refusals));
	expect_error(&fixture, file, -EACCES);
	fake_grant_finish(&fixture.grant);
	expect_counted(&fixture, 0, 3);
	expect_error(&fixture, file, -ESTALE);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	/* until a younger process maps it, which was not asked for */
	ck_assert_ptr_eq(map(&fixture, 5, 1010, "/nowhere/file"), file);
	granted.path = fixture.path;
	fake_grant_answer(&fixture.grant, &granted, 1);
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	expect_counted(&fixture, 1, 3);
	close_fixture(&fixture);
}
END_TEST

START_TEST(the_next_process_is_asked_for_if_one_has_ended)
{
	struct fake_answer answers[] = { { ELF(9, 1009), REFUSED, NULL }, { ELF(8, 1008), "ok\n", NULL } };
	struct fixture fixture;
	struct mapped_file *file;

	open_fixture(&fixture);
	map(&fixture, 8, 1008, "/nowhere/file");
	file = map(&fixture, 9, 1009, "/nowhere/file");
	answers[1].path = fixture.path;
	fake_grant_answer(&fixture.grant, answers, ARRAY_SIZE(answers));
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	close_fixture(&fixture);
}
END_TEST

struct failure_case {
	const char *text;
	int result;
	const char *log;
};

static const struct failure_case failure_cases[] = {
	{ "", -EBADMSG, "Bad message" },
	{ "nonsense\n", -EBADMSG, "Bad message" },
	{ GRANT_REFUSED GRANT_NO_FILES "\n", -EPERM, GRANT_NO_FILES },
};

/* After a failure of bourdon-grant it is not asked for the next file either. */
START_TEST(a_grant_that_fails)
{
	const struct failure_case *one = &failure_cases[_i];
	struct fake_answer failure = { ELF(7, 1007), NULL, NULL }, granted = { ELF(7, 1007), "ok\n", NULL };
	_cleanup_free_ char *log = NULL;
	struct fixture fixture;
	struct mapped_file *file;
	int saved;

	open_fixture(&fixture);
	failure.text = one->text;
	file = map(&fixture, 7, 1007, "/nowhere/file");
	fake_grant_answer(&fixture.grant, &failure, 1);
	saved = log_divert();
	ck_assert_int_eq(open_file(&fixture, file), one->result);
	ck_assert_int_eq(open_file(&fixture, file), -ESTALE);
	log = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(log, one->log));
	ck_assert_ptr_eq(strchr(log, '\n'), strrchr(log, '\n'));
	fake_grant_finish(&fixture.grant);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	/* later it is, and for this file, too: the failure was not caused by the file */
	ck_assert_uint_gt(fixture.files.pause_until_ns, clock_monotonic_ns() + 20 * CLOCK_SECOND_NS);
	fixture.files.pause_until_ns = 0;
	granted.path = fixture.path;
	fake_grant_answer(&fixture.grant, &granted, 1);
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	close_fixture(&fixture);
}
END_TEST

START_TEST(no_server)
{
	struct mapped_file *file;
	struct fixture fixture;

	open_fixture(&fixture);
	file = map(&fixture, 7, 1007, "/nowhere/file");
	fixture.files.grant_socket = "/nowhere/grant.sock";
	expect_error(&fixture, file, -ENOENT);
	fixture.files.grant_socket = fixture.grant.path;
	expect_error(&fixture, file, -ESTALE);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	fixture.files = (struct mapped_files){ 0 };
	expect_error(&fixture, file, -ESTALE);
	close_fixture(&fixture);
}
END_TEST

/* A deadline that has passed says nothing about the file or bourdon-grant. */
START_TEST(no_time_is_left)
{
	struct fake_answer granted = { ELF(7, 1007), "ok\n", NULL }, held = { ELF(7, 1007), NULL, NULL };
	struct mapped_file *file;
	struct fixture fixture;
	struct stat at;

	open_fixture(&fixture);
	file = map(&fixture, 7, 1007, "/nowhere/file");
	ck_assert_int_eq(mapped_files_open(&fixture.files, fixture.mappings, file, clock_monotonic_ns(), &at),
			 -EAGAIN);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	fake_grant_answer(&fixture.grant, &held, 1);
	ck_assert_int_eq(mapped_files_open(&fixture.files, fixture.mappings, file,
					   clock_monotonic_ns() + CLOCK_SECOND_NS / 5, &at),
			 -EAGAIN);
	fake_grant_finish(&fixture.grant);
	granted.path = fixture.path;
	fake_grant_answer(&fixture.grant, &granted, 1);
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	expect_counted(&fixture, 1, 0);
	close_fixture(&fixture);
}
END_TEST

/* ---- requests that have to wait ---- */

/* For an hour. */
static void use_up(struct fixture *fixture, uint32_t tgid, uint64_t started_ns)
{
	struct grant_shares *shares = &fixture->files.shares;
	const struct grant_target target = { tgid, 0, started_ns };

	ck_assert(grant_shares_take(shares, &target, clock_monotonic_ns()));
	shares->all[shares->last].full_ns += 3600 * CLOCK_SECOND_NS;
}

START_TEST(a_target_that_asks_too_often)
{
	struct fake_answer granted = { ELF(8, 1008), "ok\n", NULL };
	struct fixture fixture;
	struct mapped_file *file;

	open_fixture(&fixture);
	file = map(&fixture, 9, 1009, "/nowhere/file");
	use_up(&fixture, 9, 1009);
	expect_error(&fixture, file, -EBUSY);
	expect_error(&fixture, file, -EBUSY);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	ck_assert_uint_eq(own_counted(&fixture.counters, OWN_FILES_DEFERRED), 1);
	expect_counted(&fixture, 0, 0);
	ck_assert(!mapped_files_must_wait(&fixture.files));
	/* an older process that maps the same file is not held up by it */
	ck_assert_ptr_eq(map(&fixture, 8, 1008, "/nowhere/file"), file);
	granted.path = fixture.path;
	fake_grant_answer(&fixture.grant, &granted, 1);
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	/* a file that can be opened by its path never waits */
	file = map(&fixture, 9, 1009, fixture.path);
	expect_opened(&fixture, file);
	close_fixture(&fixture);
}
END_TEST

/* Only the process pauses over which bourdon-grant hangs, and then it is asked for again. */
START_TEST(a_grant_that_hangs_over_a_target)
{
	struct fake_answer held = { ELF(9, 1009), NULL, NULL }, granted = { ELF(8, 1008), "ok\n", NULL },
			   later = { ELF(9, 1009), "ok\n", NULL };
	_cleanup_free_ char *log = NULL;
	struct mapped_file *file, *other;
	struct fixture fixture;
	struct stat at;
	int saved;

	open_fixture(&fixture);
	file = map(&fixture, 9, 1009, "/nowhere/file");
	other = map(&fixture, 8, 1008, "/nowhere/other");
	fake_grant_answer(&fixture.grant, &held, 1);
	saved = log_divert();
	ck_assert_int_eq(mapped_files_open(&fixture.files, fixture.mappings, file,
					   clock_monotonic_ns() + 3 * CLOCK_SECOND_NS / 2, &at),
			 -EBUSY);
	fake_grant_finish(&fixture.grant);
	/* the other process is served at once, and this one waits */
	granted.path = later.path = fixture.path;
	fake_grant_answer(&fixture.grant, &granted, 1);
	expect_opened(&fixture, other);
	fake_grant_finish(&fixture.grant);
	fixture.files.shares.all[0].pause.until_ns += 3600 * CLOCK_SECOND_NS;
	ck_assert_int_eq(open_file(&fixture, file), -EBUSY);
	ck_assert(!fake_grant_is_asked(&fixture.grant));
	log = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(log, "did not answer for a file of process 9 of uid 0"));
	ck_assert_ptr_eq(strchr(log, '\n'), strrchr(log, '\n'));
	fixture.files.shares.all[0].pause.until_ns = 0;
	fake_grant_answer(&fixture.grant, &later, 1);
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	expect_counted(&fixture, 2, 1);
	ck_assert_uint_eq(own_counted(&fixture.counters, OWN_FILES_DEFERRED), 1);
	close_fixture(&fixture);
}
END_TEST

START_TEST(a_grant_that_is_asked_too_often)
{
	struct fake_answer later = { ELF(7, 1007), GRANT_REFUSED GRANT_LATER "\n", NULL };
	struct fake_answer granted = { ELF(7, 1007), "ok\n", NULL };
	_cleanup_free_ char *log = NULL;
	struct fixture fixture;
	struct mapped_file *file;
	uint64_t before_ns;
	int saved;

	open_fixture(&fixture);
	file = map(&fixture, 7, 1007, "/nowhere/file");
	saved = log_divert();
	for (uint64_t pause_s = 1; pause_s <= 4; pause_s *= 2) {
		fake_grant_answer(&fixture.grant, &later, 1);
		before_ns = clock_monotonic_ns();
		ck_assert_int_eq(open_file(&fixture, file), -EBUSY);
		fake_grant_finish(&fixture.grant);
		ck_assert_uint_ge(fixture.files.pause_until_ns, before_ns + pause_s * CLOCK_SECOND_NS);
		ck_assert_uint_le(fixture.files.pause_until_ns,
				  clock_monotonic_ns() + pause_s * CLOCK_SECOND_NS);
		ck_assert_int_eq(open_file(&fixture, file), -EBUSY);
		ck_assert_int_eq(mapped_files_ask_perf_map(&fixture.files, &seven, UINT64_MAX), -EBUSY);
		ck_assert(mapped_files_must_wait(&fixture.files));
		fixture.files.pause_until_ns = 0;
	}
	log = log_diverted(saved);
	ck_assert_str_eq(log, "");
	expect_counted(&fixture, 0, 0);
	ck_assert_uint_eq(own_counted(&fixture.counters, OWN_FILES_DEFERRED), 1);
	granted.path = fixture.path;
	fake_grant_answer(&fixture.grant, &granted, 1);
	expect_opened(&fixture, file);
	fake_grant_finish(&fixture.grant);
	ck_assert_uint_eq(fixture.files.busy_pause_ns, 0);
	close_fixture(&fixture);
}
END_TEST

/* The log names a process once, and not one that had to wait a few times. */
START_TEST(the_log_names_who_asks_too_often)
{
	_cleanup_free_ char *log = NULL;
	struct fixture fixture;
	struct mapped_file *file;
	int saved;

	open_fixture(&fixture);
	map(&fixture, 8, 1008, "/nowhere/other");
	file = map(&fixture, 9, 1009, "/nowhere/file");
	use_up(&fixture, 9, 1009);
	saved = log_divert();
	for (int i = 0; i < 300; i++)
		ck_assert_int_eq(open_file(&fixture, file), -EBUSY);
	log = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(
		log, "process 9 has more files that only bourdon-grant can open than it is asked for"));
	ck_assert_ptr_eq(strchr(log, '\n'), strrchr(log, '\n'));
	close_fixture(&fixture);
}
END_TEST

/* ---- perf maps ---- */

static void expect_perf_map(struct fixture *fixture, int result)
{
	int fd =
		mapped_files_ask_perf_map(&fixture->files, &jit, clock_monotonic_ns() + 10 * CLOCK_SECOND_NS);

	ck_assert_int_eq(fd < 0 ? fd : 0, result);
	cleanup_close(&fd);
}

START_TEST(perf_maps)
{
	static const char request[] = "perf-map 4711 1007\n";
	struct fake_answer answers[2];
	struct fixture fixture;

	open_fixture(&fixture);
	answers[0] = (struct fake_answer){ request, "ok\n", fixture.path };
	answers[1] = (struct fake_answer){ request, REFUSED, NULL };
	fake_grant_answer(&fixture.grant, answers, ARRAY_SIZE(answers));
	expect_perf_map(&fixture, 0);
	expect_perf_map(&fixture, -EACCES);
	fake_grant_finish(&fixture.grant);
	expect_counted(&fixture, 1, 1);
	fixture.files.grant_socket = NULL;
	expect_perf_map(&fixture, -ENOENT);
	close_fixture(&fixture);
}
END_TEST

SUITE(mapped_files)
{
	Suite *suite = suite_create("mapped_files");
	TCase *tests = tcase_create("mapped_files");

	tcase_add_test(tests, by_path);
	tcase_add_loop_test(tests, by_grant, 0, ELSEWHERES);
	tcase_add_loop_test(tests, another_file_is_granted, 0, 3);
	tcase_add_loop_test(tests, a_file_is_held, 0, 2);
	tcase_add_loop_test(tests, one_user_has_half_of_the_files_that_are_held, 0, 2);
	tcase_add_test(tests, a_process_that_is_no_target_is_not_asked_for);
	tcase_add_test(tests, the_youngest_process_is_asked_for_once);
	tcase_add_test(tests, the_next_process_is_asked_for_if_one_has_ended);
	tcase_add_loop_test(tests, a_grant_that_fails, 0, ARRAY_SIZE(failure_cases));
	tcase_add_test(tests, no_server);
	tcase_add_test(tests, no_time_is_left);
	tcase_add_test(tests, a_target_that_asks_too_often);
	tcase_add_test(tests, a_grant_that_hangs_over_a_target);
	tcase_add_test(tests, a_grant_that_is_asked_too_often);
	tcase_add_test(tests, the_log_names_who_asks_too_often);
	tcase_add_test(tests, perf_maps);
	suite_add_tcase(suite, tests);
	return suite;
}
