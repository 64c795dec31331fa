/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a file is read whole or not at all, that a written file appears whole and with the mode asked
 * for, whatever the umask is, or not at all, and how accounts are looked up by name and number.
 */
#include "common/base/cleanup.h"
#include "common/system/file_replace.h"
#include "common/system/files.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- reading ---- */

static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 8193, 100000, 1 << 20 };

START_TEST(a_file_is_read_whole)
{
	size_t size = sizes[_i];
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "file");
	_cleanup_free_ char *bytes = malloc(size + 1), *text = NULL, *refused = NULL;
	_cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dice dice = dice_new(130);
	size_t got = 4711;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)dice_roll(&dice); /* with NULs */
	file_put(path, bytes, size);
	ck_assert_int_eq(file_read_text(AT_FDCWD, path, size, &text, &got), 0);
	ck_assert_uint_eq(got, size);
	ck_assert_int_eq(memcmp(text, bytes, size), 0);
	ck_assert_int_eq(text[size], '\0');
	if (size)
		ck_assert_int_eq(file_read_text(fd, "file", size - 1, &refused, &got), -EFBIG);
	ck_assert_ptr_null(refused);
	directory_remove(directory);
}
END_TEST

START_TEST(a_file_without_a_size_is_read)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;

	ck_assert_int_eq(file_read_text(AT_FDCWD, "/proc/self/status", 1 << 20, &text, &bytes), 0);
	ck_assert_uint_eq(bytes, strlen(text));
	ck_assert_int_eq(strncmp(text, "Name:\t", 6), 0);
}
END_TEST

/* It needs several reads; the text is exactly as long as it may be. */
START_TEST(a_stream_is_read_to_its_end)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(write(ends[1], "0123456", 7), 7);
	close(ends[1]);
	ck_assert_int_eq(file_read_all(ends[0], 7000, &text, &bytes), 0);
	ck_assert_uint_eq(bytes, 7000);
	ck_assert_int_eq(strncmp(text + 6993, "0123456", 8), 0);
	close(ends[0]);
}
END_TEST

START_TEST(unreadable_files)
{
	char *text = NULL;
	size_t bytes = 4711;

	ck_assert_int_eq(file_read_text(AT_FDCWD, "/nowhere/file", 10, &text, &bytes), -ENOENT);
	ck_assert_int_eq(file_read_text(AT_FDCWD, "/proc", 10, &text, &bytes), -EISDIR);
	ck_assert_int_eq(file_read_all(-1, 10, &text, &bytes), -EBADF);
	ck_assert_ptr_null(text);
	ck_assert_uint_eq(bytes, 4711);
}
END_TEST

/* ---- writing ---- */

struct place {
	char *directory, *path, *new_path;
};

static void place_make(struct place *place)
{
	place->directory = directory_make();
	place->path = path_join(place->directory, "file");
	place->new_path = path_join(place->directory, "file.new");
}

static void place_free(struct place *place)
{
	directory_remove(place->directory);
	free(place->directory);
	free(place->path);
	free(place->new_path);
}

static void expect_content(const char *path, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;

	ck_assert_int_eq(file_read_text(AT_FDCWD, path, 1000, &text, &bytes), 0);
	ck_assert_str_eq(text, expected);
}

static int prepare(const struct place *place, const char *text, mode_t mode)
{
	return file_prepare(place->path, text, strlen(text), mode, geteuid(), getegid());
}

START_TEST(a_file_appears_when_it_is_committed)
{
	struct place place;

	place_make(&place);
	file_put(place.path, "old", 3);
	ck_assert_int_eq(prepare(&place, "new text", 0644), 0);
	expect_content(place.path, "old");
	expect_content(place.new_path, "new text");
	ck_assert_int_eq(file_commit(place.path), 0);
	expect_content(place.path, "new text");
	ck_assert_int_ne(access(place.new_path, F_OK), 0);
	ck_assert_int_eq(file_commit(place.path), -ENOENT);
	expect_content(place.path, "new text");
	place_free(&place);
}
END_TEST

START_TEST(an_abandoned_file_leaves_nothing)
{
	struct place place;

	place_make(&place);
	file_put(place.path, "old", 3);
	ck_assert_int_eq(prepare(&place, "new", 0644), 0);
	file_abandon(place.path);
	expect_content(place.path, "old");
	ck_assert_int_ne(access(place.new_path, F_OK), 0);
	file_abandon(place.path);
	place_free(&place);
}
END_TEST

static const mode_t modes[] = { 0600, 0640, 0644, 0444, 0400, 0666, 0755 };

START_TEST(the_mode_is_what_was_asked_for)
{
	struct stat at;
	struct place place;

	for (mode_t mask = 0; mask <= 0777; mask += 07) {
		place_make(&place);
		umask(mask);
		ck_assert_int_eq(prepare(&place, "text", modes[_i]), 0);
		umask(022);
		ck_assert_int_eq(file_commit(place.path), 0);
		ck_assert_int_eq(stat(place.path, &at), 0);
		ck_assert_uint_eq(at.st_mode, S_IFREG | modes[_i]);
		ck_assert_uint_eq(at.st_uid, geteuid());
		place_free(&place);
	}
}
END_TEST

START_TEST(the_owner_is_the_one_asked_for)
{
	struct stat at;
	struct place place;

	place_make(&place);
	ck_assert_int_eq(file_prepare(place.path, "text", 4, 0640, 12345, 54321), geteuid() ? -EPERM : 0);
	if (!geteuid()) {
		ck_assert_int_eq(stat(place.new_path, &at), 0);
		ck_assert_uint_eq(at.st_uid, 12345);
		ck_assert_uint_eq(at.st_gid, 54321);
		ck_assert_uint_eq(at.st_mode & 07777, 0640);
	} else {
		ck_assert_int_ne(access(place.new_path, F_OK), 0); /* the failed one left nothing */
	}
	place_free(&place);
}
END_TEST

/* At PATH.new lies the rest of a crash, or a trap. */
START_TEST(a_file_in_the_way)
{
	struct place place;
	_cleanup_free_ char *victim = NULL;

	place_make(&place);
	victim = path_join(place.directory, "victim");
	file_put(place.new_path, "a longer rest of a crash", 24);
	ck_assert_int_eq(prepare(&place, "new", 0644), 0);
	expect_content(place.new_path, "new");
	file_put(victim, "victim", 6);
	ck_assert_int_eq(unlink(place.new_path), 0);
	ck_assert_int_eq(symlink(victim, place.new_path), 0);
	ck_assert_int_eq(prepare(&place, "new", 0644), 0);
	ck_assert_int_eq(file_commit(place.path), 0);
	expect_content(victim, "victim");
	expect_content(place.path, "new");
	ck_assert_int_eq(mkdir(place.new_path, 0700), 0);
	ck_assert_int_lt(prepare(&place, "new", 0644), 0);
	expect_content(place.path, "new");
	place_free(&place);
}
END_TEST

START_TEST(unwritable_files)
{
	char path[PATH_MAX + 10];

	ck_assert_int_eq(file_prepare("/nowhere/file", "x", 1, 0644, 0, 0), -ENOENT);
	ck_assert_int_eq(file_commit("/nowhere/file"), -ENOENT);
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[PATH_MAX - 4] = '\0'; /* fits, but not with ".new" */
	ck_assert_int_eq(file_prepare(path, "x", 1, 0644, 0, 0), -ENAMETOOLONG);
	ck_assert_int_eq(file_commit(path), -ENAMETOOLONG);
	file_abandon(path);
}
END_TEST

/* As on a full disk: half of the file is written. */
START_TEST(a_failed_write_leaves_nothing)
{
	struct rlimit limit = { 10, RLIM_INFINITY };
	struct place place;

	place_make(&place);
	file_put(place.path, "old", 3);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(prepare(&place, "0123456789", 0644), 0);
	ck_assert_int_eq(prepare(&place, "0123456789a", 0644), -EFBIG);
	limit.rlim_cur = limit.rlim_max; /* coverage data is written at exit */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_ne(access(place.new_path, F_OK), 0);
	expect_content(place.path, "old");
	place_free(&place);
}
END_TEST

/* ---- accounts ---- */

START_TEST(accounts)
{
	uid_t uid = 4711;
	gid_t gid = 4711;

	ck_assert_int_eq(account_user("root", &uid, &gid), 0);
	ck_assert_uint_eq(uid, 0);
	ck_assert_uint_eq(gid, 0);
	ck_assert_int_eq(account_user("0", &uid, &gid), 0);
	ck_assert_uint_eq(uid, 0);
	ck_assert_uint_eq(gid, 0);
	ck_assert_int_eq(account_user("3999999999", &uid, &gid), 0); /* no account has it */
	ck_assert_uint_eq(uid, 3999999999U);
	ck_assert_uint_eq(gid, 3999999999U);
	ck_assert_int_eq(account_group("root", &gid), 0);
	ck_assert_uint_eq(gid, 0);
	ck_assert_int_eq(account_group("3999999998", &gid), 0);
	ck_assert_uint_eq(gid, 3999999998U);
}
END_TEST

static const char *const strangers[] = { "nobody-has-this-name", "",    "-1",   "4294967295",
					 "4294967296",           "0x0", "ro ot" };

START_TEST(no_account)
{
	uid_t uid = 4711;
	gid_t gid = 4711;

	ck_assert_int_eq(account_user(strangers[_i], &uid, &gid), -ENOENT);
	ck_assert_int_eq(account_group(strangers[_i], &gid), -ENOENT);
	ck_assert_uint_eq(uid, 4711);
	ck_assert_uint_eq(gid, 4711);
}
END_TEST

SUITE(files)
{
	Suite *suite = suite_create("files");
	TCase *reading = tcase_create("reading"), *writing = tcase_create("writing"),
	      *who = tcase_create("accounts");

	tcase_add_loop_test(reading, a_file_is_read_whole, 0, ARRAY_SIZE(sizes));
	tcase_add_test(reading, a_file_without_a_size_is_read);
	tcase_add_test(reading, a_stream_is_read_to_its_end);
	tcase_add_test(reading, unreadable_files);
	tcase_add_test(writing, a_file_appears_when_it_is_committed);
	tcase_add_test(writing, an_abandoned_file_leaves_nothing);
	tcase_add_loop_test(writing, the_mode_is_what_was_asked_for, 0, ARRAY_SIZE(modes));
	tcase_add_test(writing, the_owner_is_the_one_asked_for);
	tcase_add_test(writing, a_file_in_the_way);
	tcase_add_test(writing, unwritable_files);
	tcase_add_test(writing, a_failed_write_leaves_nothing);
	tcase_add_test(who, accounts);
	tcase_add_loop_test(who, no_account, 0, ARRAY_SIZE(strangers));
	suite_add_tcase(suite, reading);
	suite_add_tcase(suite, writing);
	suite_add_tcase(suite, who);
	return suite;
}
