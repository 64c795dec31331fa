/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a kept table comes back as it was, for the same state of the same file alone; that damage of any byte costs tables
 * and never changes one; and what goes when there is no room.
 */
#include "common/base/cleanup.h"
#include "common/system/files.h"
#include "consumer/unwind/table_cache.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const atomic_uint_fast64_t never = 0;
static const struct file_key key = { 1, 2, 0, 3, 4, 5 };

/* A table of one head and `pages` pages, whose numbers are `number`. */
static struct kept_bytes make_table(uint32_t pages, uint32_t number)
{
	struct kept_bytes table = { 0 };
	struct table_message *message = calloc(1, sizeof(*message));

	ck_assert_ptr_nonnull(message);
	message->part = TABLE_HEAD;
	message->count = 1;
	message->head = (struct table_head){ .rules = 1, .pages = pages, .rows = number };
	ck_assert_int_eq(
		table_cache_add_message(&table, message,
					offsetof(struct table_message, head) + sizeof(message->head)),
		0);
	for (uint32_t done = 0; done < pages; done += message->count) {
		uint32_t most = TABLE_PART_BYTES / sizeof(message->pages[0]);

		memset(message, 0, sizeof(*message));
		message->part = TABLE_PAGES;
		message->count = pages - done < most ? pages - done : most;
		for (uint32_t i = 0; i < message->count; i++)
			message->pages[i].first_row = number + done + i;
		ck_assert_int_eq(table_cache_add_message(&table, message,
							 offsetof(struct table_message, head) +
								 message->count * sizeof(message->pages[0])),
				 0);
	}
	free(message);
	return table;
}

struct taken {
	uint32_t pages, number, done;
	int fails; /* what the next call returns instead */
};

static int take(void *user, struct table_message *message, size_t bytes)
{
	struct taken *taken = user;

	if (taken->fails)
		return taken->fails;
	ck_assert_uint_gt(bytes, 8);
	if (message->part == TABLE_HEAD) {
		taken->pages = message->head.pages;
		taken->number = message->head.rows;
		return 1;
	}
	for (uint32_t i = 0; i < message->count; i++)
		HOLDS(message->pages[i].first_row == taken->number + taken->done + i);
	taken->done += message->count;
	return taken->done < taken->pages;
}

static struct file_cache *open_cache(const char *directory)
{
	struct file_cache *cache = file_cache_open(directory, &never);

	ck_assert_ptr_nonnull(cache);
	return cache;
}

static void add(struct file_cache *cache, const struct file_key *of, uint32_t pages, uint32_t number)
{
	struct kept_bytes table = make_table(pages, number);

	file_cache_add(cache, FILE_CACHE_TABLES, of, &table);
	ck_assert_ptr_null(table.bytes);
}

/* Returns its number, or the error. */
static int load(struct file_cache *cache, const struct file_key *of)
{
	struct taken taken = { 0 };
	int result = table_cache_load(cache, of, take, &taken);

	ck_assert(result || taken.done == taken.pages);
	return result ? result : (int)taken.number;
}

/* stat(2) tells another device than the kernel's on btrfs, and for each container on overlayfs. */
START_TEST(a_file_is_the_same_through_any_mount)
{
	struct stat at = {
		.st_dev = 40, .st_ino = 2, .st_size = 3, .st_ctim = { .tv_sec = 4, .tv_nsec = 5 }
	};
	struct file_key one = file_key_of(&at, 1), other;

	ck_assert(!memcmp(&one, &key, sizeof(key)));
	at.st_dev = 41;
	other = file_key_of(&at, 1);
	ck_assert(!memcmp(&other, &key, sizeof(key)));
	ck_assert(file_key_is_of(&key, &at));
	at.st_ctim.tv_nsec++;
	ck_assert(!file_key_is_of(&key, &at));
}
END_TEST

/* A change within a tick of the clock, or a file of an image whose files all have one time, would be taken for this one. */
START_TEST(states_that_cannot_be_told_apart)
{
	time_t now = time(NULL);
	struct file_key old = { .changed_s = now - 60, .changed_ns = 7 },
			fresh = { .changed_s = now, .changed_ns = 7 }, fixed = { .changed_s = now - 60 };

	ck_assert(file_key_is_settled(&old));
	ck_assert(!file_key_is_settled(&fresh));
	ck_assert(!file_key_is_settled(&fixed));
}
END_TEST

START_TEST(what_is_kept_comes_back)
{
	char *directory = directory_make();
	struct file_cache *cache = open_cache(directory);
	struct file_key others[] = { key, key, key, key, key, key };

	ck_assert_int_eq(load(cache, &key), -ENOENT);
	add(cache, &key, 20000, 7);
	ck_assert_int_eq(load(cache, &key), 7); /* also before it is written */
	file_cache_flush(cache);
	ck_assert_int_eq(load(cache, &key), 7);
	file_cache_close(cache);
	cache = open_cache(directory);
	ck_assert_int_eq(load(cache, &key), 7);
	ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_TABLES).files, 1);
	others[0].device++;
	others[1].inode++;
	others[5].owner++;
	others[2].bytes++;
	others[3].changed_s++;
	others[4].changed_ns++;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_int_eq(load(cache, &others[i]), -ENOENT);
	/* one that is added again replaces the first; what is not flushed is written at the end */
	add(cache, &key, 3, 8);
	file_cache_close(cache);
	cache = open_cache(directory);
	ck_assert_int_eq(load(cache, &key), 8);
	ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_TABLES).files, 1);
	file_cache_close(cache);
	directory_remove(directory);
	free(directory);
}
END_TEST

/* Runs SQL on the file of a closed cache. */
static void change(const char *directory, const char *statement)
{
	_cleanup_free_ char *path = path_join(directory, FILE_CACHE_FILE);
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, statement, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static int refuse(void *user, const char *content, size_t bytes)
{
	(void)user;
	(void)content;
	(void)bytes;
	return -ENOSPC;
}

/* Whoever looks at the file costs no more than what is asked for meanwhile. */
START_TEST(a_locked_file_is_no_empty_one)
{
	char *directory = directory_make(), *path = path_join(directory, FILE_CACHE_FILE);
	struct file_cache *cache = open_cache(directory);
	sqlite3 *other;

	add(cache, &key, 3, 8);
	file_cache_flush(cache);
	ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(file_cache_load(cache, FILE_CACHE_TABLES, &key, refuse, NULL), -EBUSY);
	ck_assert_int_eq(load(cache, &key), -ENOENT);
	ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(other), SQLITE_OK);
	ck_assert_int_eq(load(cache, &key), 8);
	file_cache_close(cache);
	free(path);
	directory_remove(directory);
	free(directory);
}
END_TEST

START_TEST(what_the_taker_refuses)
{
	_cleanup_free_ char *logged = NULL;
	char *directory = directory_make();
	struct file_cache *cache = open_cache(directory);
	struct taken taken = { .fails = -ENOSPC };
	int saved;

	add(cache, &key, 3, 8);
	file_cache_flush(cache);
	ck_assert_int_eq(table_cache_load(cache, &key, take, &taken), -ENOSPC);
	ck_assert_int_eq(load(cache, &key), 8); /* it stays */
	taken.fails = -EBADMSG;
	saved = log_divert();
	ck_assert_int_eq(table_cache_load(cache, &key, take, &taken), -ENOENT);
	logged = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(logged, "is damaged: it is made again"));
	ck_assert_int_eq(load(cache, &key), -ENOENT);
	ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_TABLES).damaged, 1);
	/* one that ends too early, or has more behind its end */
	add(cache, &key, 3, 8);
	file_cache_flush(cache);
	taken = (struct taken){ .fails = 1 };
	ck_assert_int_eq(table_cache_load(cache, &key, take, &taken), -ENOENT);
	file_cache_close(cache);
	directory_remove(directory);
	free(directory);
}
END_TEST

/* Any byte of the file, and any length: the table is as it was, or there is none. */
START_TEST(damage_costs_a_table_and_never_changes_one)
{
	char *directory = directory_make(), *path = path_join(directory, FILE_CACHE_FILE), *whole, *broken;
	struct file_cache *cache = open_cache(directory);
	unsigned int sound = 0, lost = 0;
	size_t bytes;

	add(cache, &key, 500, 1);
	file_cache_close(cache);
	ck_assert_int_eq(file_read_text(AT_FDCWD, path, 1 << 20, &whole, &bytes), 0);
	broken = malloc(bytes);
	ck_assert_ptr_nonnull(broken);
	for (size_t i = 0; i < 400; i++) {
		int saved = log_divert(), found;
		size_t kept = bytes;

		memcpy(broken, whole, bytes);
		if (i % 8 == 7)
			kept = (size_t)rand() % bytes;
		else
			broken[(size_t)rand() % bytes] ^= (char)(1 << (i % 8));
		file_put(path, broken, kept);
		cache = file_cache_open(directory, &never);
		found = load(cache, &key);
		ck_assert(found == 1 || found == -ENOENT);
		sound += found == 1;
		lost += found == -ENOENT;
		/* and it works on */
		add(cache, &key, 10, 2);
		file_cache_flush(cache);
		found = load(cache, &key);
		ck_assert(found == 2 || found == -ENOENT);
		file_cache_close(cache);
		free(log_diverted(saved));
	}
	ck_assert_uint_gt(sound, 0);
	ck_assert_uint_gt(lost, 50);
	free(whole);
	free(broken);
	free(path);
	directory_remove(directory);
	free(directory);
}
END_TEST

static void log_of_open(const char *directory, const char *expected, bool is_open)
{
	int saved = log_divert();
	struct file_cache *cache = file_cache_open(directory, &never);
	_cleanup_free_ char *logged = log_diverted(saved);

	ck_assert_int_eq(cache != NULL, is_open);
	if (*expected)
		ck_assert_ptr_nonnull(strstr(logged, expected));
	else
		ck_assert_str_eq(logged, "");
	file_cache_close(cache);
}

START_TEST(files_that_are_no_cache)
{
	char *directory = directory_make(), *path = path_join(directory, FILE_CACHE_FILE);

	log_of_open("/nowhere", "cannot keep unwind tables and names in /nowhere/tables.db", false);
	file_put(
		path,
		"a text that is no database at all, and longer than a header of one, which has one hundred bytes",
		96);
	log_of_open(directory, "is lost", true);
	log_of_open(directory, "", true);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	log_of_open(directory, "cannot keep unwind tables and names", false);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	log_of_open(directory, "cannot keep unwind tables and names", false);
	ck_assert_int_eq(rmdir(path), 0);
	free(path);
	directory_remove(directory);
	free(directory);
}
END_TEST

/* Tables of another version may be wrong for this one. */
START_TEST(another_version_is_begun_anew)
{
	char *directory = directory_make();
	struct file_cache *cache = open_cache(directory);

	add(cache, &key, 3, 8);
	file_cache_close(cache);
	change(directory, "UPDATE made_by SET version = '0.0.1 1'");
	log_of_open(directory, "", true);
	cache = open_cache(directory);
	ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_TABLES).files, 0);
	ck_assert_int_eq(load(cache, &key), -ENOENT);
	file_cache_close(cache);
	directory_remove(directory);
	free(directory);
}
END_TEST

static uint64_t size_of(const char *directory)
{
	_cleanup_free_ char *path = NULL;
	struct stat at;

	ck_assert_int_ge(asprintf(&path, "%s/" FILE_CACHE_FILE, directory), 0);
	ck_assert_int_eq(stat(path, &at), 0);
	return (uint64_t)at.st_size;
}

static void add_names(struct file_cache *cache, const struct file_key *of, size_t bytes)
{
	struct kept_bytes names = { .bytes = calloc(1, bytes), .used = bytes, .room = bytes };

	ck_assert_ptr_nonnull(names.bytes);
	file_cache_add(cache, FILE_CACHE_NAMES, of, &names);
	file_cache_flush(cache);
}

/* Tables and names have one limit, that of the file. */
START_TEST(the_least_used_go_first)
{
	char *directory = directory_make();
	struct file_cache *cache = open_cache(directory);
	struct file_key one = key;
	uint32_t pages = (1U << 20) / sizeof(struct unwind_page);

	for (one.inode = 0; one.inode < 24; one.inode++) {
		add(cache, &one, pages, 1);
		file_cache_flush(cache);
	}
	file_cache_close(cache);
	/* the first one is used again later */
	change(directory, "UPDATE kept SET used_at = used_at - 7200");
	cache = open_cache(directory);
	one.inode = 0;
	ck_assert_int_eq(load(cache, &one), 1);
	for (one.inode = 24; one.inode < 36; one.inode++) {
		add_names(cache, &one, 1U << 20);
		ck_assert_uint_le(size_of(directory), FILE_CACHE_BYTES_MAX);
	}
	ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_NAMES).files, 12);
	ck_assert_uint_ge(file_cache_count(cache, FILE_CACHE_TABLES).files, 18);
	ck_assert_uint_lt(file_cache_count(cache, FILE_CACHE_TABLES).files, 21);
	for (one.inode = 0; one.inode < 24; one.inode++) {
		bool is_kept = !one.inode ||
			       one.inode > 24 - file_cache_count(cache, FILE_CACHE_TABLES).files;

		ck_assert_int_eq(load(cache, &one), is_kept ? 1 : -ENOENT);
	}
	/* whoever has a file with so much in it does not empty the cache */
	add_names(cache, &key, FILE_CACHE_BYTES_MAX / 2 + 1);
	ck_assert_uint_eq(file_cache_count(cache, FILE_CACHE_NAMES).files, 12);
	file_cache_close(cache);
	directory_remove(directory);
	free(directory);
}
END_TEST

SUITE(file_cache)
{
	Suite *suite = suite_create("file_cache");
	TCase *cases = tcase_create("tables");

	tcase_add_test(cases, a_file_is_the_same_through_any_mount);
	tcase_add_test(cases, states_that_cannot_be_told_apart);
	tcase_add_test(cases, what_is_kept_comes_back);
	tcase_add_test(cases, a_locked_file_is_no_empty_one);
	tcase_add_test(cases, what_the_taker_refuses);
	tcase_add_test(cases, damage_costs_a_table_and_never_changes_one);
	tcase_add_test(cases, files_that_are_no_cache);
	tcase_add_test(cases, another_version_is_begun_anew);
	tcase_add_test(cases, the_least_used_go_first);
	suite_add_tcase(suite, cases);
	return suite;
}
