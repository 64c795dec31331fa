/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that an address belongs to the mapping that the iterator showed last there: records cut anywhere,
 * mappings that replace others, an exec, shared files, and processes that are forgotten.
 */
#include "common/base/cleanup.h"
#include "consumer/host/iterator_stream.h"
#include "consumer/symbols/mappings.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>

#define TGID 10U
#define STARTED 100U

/* Records, one behind the other, as the iterator writes them. */
struct stream {
	char bytes[65536];
	size_t used;
};

static struct mapping_record record_make(uint64_t begins, uint64_t ends, uint64_t inode)
{
	return (struct mapping_record){ .header = { RECORD_MAPPING, sizeof(struct mapping_record) },
					.tgid = TGID,
					.started_ns = STARTED,
					.begins = begins,
					.ends = ends,
					.file_offset = begins / 2,
					.inode = inode,
					.device_major = 8,
					.device_minor = 1 };
}

static void put_record(struct stream *stream, const struct mapping_record *record, const char *path)
{
	struct mapping_record whole = *record;

	whole.path_bytes = (uint32_t)strlen(path);
	HOLDS(stream->used + sizeof(whole) + whole.path_bytes <= sizeof(stream->bytes));
	memcpy(stream->bytes + stream->used, &whole, sizeof(whole));
	memcpy(stream->bytes + stream->used + sizeof(whole), path, whole.path_bytes);
	stream->used += sizeof(whole) + whole.path_bytes;
}

static void put(struct stream *stream, uint64_t begins, uint64_t ends, uint64_t inode, uint32_t flags,
		const char *path)
{
	struct mapping_record record = record_make(begins, ends, inode);

	record.flags = flags;
	put_record(stream, &record, path);
}

static void add_stream(struct mappings *mappings, struct stream *stream)
{
	ck_assert_int_eq(mappings_add_records(mappings, stream->bytes, stream->used), (long)stream->used);
	stream->used = 0;
}

static void add_one(struct mappings *mappings, uint64_t begins, uint64_t ends, uint64_t inode, uint32_t flags,
		    const char *path)
{
	struct stream stream = { .used = 0 };

	put(&stream, begins, ends, inode, flags, path);
	add_stream(mappings, &stream);
}

static const char *path_at(const struct mappings *mappings, uint64_t address)
{
	const struct mapping *mapping = mappings_find(mappings, TGID, STARTED, address);

	return !mapping ? NULL : mapping->file ? mapping->file->path : "";
}

static long add_records(void *user, const char *records, size_t bytes)
{
	return mappings_add_records(user, records, bytes);
}

/* A whole scan that shows the records of the stream. */
static int scan(struct mappings *mappings, struct stream *stream)
{
	int ends[2], result;

	HOLDS(pipe2(ends, O_CLOEXEC) == 0);
	HOLDS(write(ends[1], stream->bytes, stream->used) == (ssize_t)stream->used);
	close(ends[1]);
	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	result = iterator_stream_read(ends[0], add_records, mappings);
	if (!result)
		ck_assert(!mappings_end_pass(mappings));
	close(ends[0]);
	stream->used = 0;
	return result;
}

/* The record before the mappings of a process, or behind them. */
static void put_process(struct stream *stream, uint32_t tgid, uint32_t uid, uint32_t in_kernel,
			uint32_t flags)
{
	const struct mapped_record record = { .header = { RECORD_MAPPED, sizeof(record) },
					      .tgid = tgid,
					      .started_ns = STARTED,
					      .uid = uid,
					      .mappings = in_kernel,
					      .flags = flags,
					      .comm = "hog" };

	HOLDS(stream->used + sizeof(record) <= sizeof(stream->bytes));
	memcpy(stream->bytes + stream->used, &record, sizeof(record));
	stream->used += sizeof(record);
}

START_TEST(an_address_belongs_to_its_mapping)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };
	const struct mapping *mapping;

	put(&stream, 0x5000, 0x6000, 1, MAPPING_IS_EXE, "/usr/bin/app");
	put(&stream, 0x8000, 0x9000, 2, 0, "/lib/libc.so");
	put(&stream, 0x9000, 0xa000, 0, 0, "");
	put(&stream, 0xf000, 0xf800, 0, MAPPING_IS_VDSO, "");
	add_stream(mappings, &stream);
	ck_assert_ptr_null(path_at(mappings, 0x4fff));
	ck_assert_str_eq(path_at(mappings, 0x5000), "/usr/bin/app");
	ck_assert_str_eq(path_at(mappings, 0x5fff), "/usr/bin/app");
	ck_assert_ptr_null(path_at(mappings, 0x6000));
	ck_assert_ptr_null(path_at(mappings, 0x7fff));
	ck_assert_str_eq(path_at(mappings, 0x8fff), "/lib/libc.so");
	ck_assert_str_eq(path_at(mappings, 0x9000), "");
	ck_assert_ptr_null(path_at(mappings, 0xf800));
	ck_assert_ptr_null(path_at(mappings, UINT64_MAX));
	mapping = mappings_find(mappings, TGID, STARTED, 0x5abc);
	ck_assert_uint_eq(mapping->begins, 0x5000);
	ck_assert_uint_eq(mapping_ends(mapping), 0x6000);
	ck_assert_uint_eq(mapping->file_offset, 0x2800);
	ck_assert_uint_eq(mapping->file->inode, 1);
	ck_assert_uint_eq(mapping->file->device_major, 8);
	ck_assert_uint_eq(mapping->file->device_minor, 1);
	mapping = mappings_find(mappings, TGID, STARTED, 0xf000);
	ck_assert_ptr_null(mapping->file);
	ck_assert_uint_eq(mapping->flags, MAPPING_IS_VDSO);
	ck_assert_ptr_null(mappings_find(mappings, TGID, STARTED + 1, 0x5000));
	ck_assert_ptr_null(mappings_find(mappings, TGID + 1, STARTED, 0x5000));
	ck_assert_str_eq(mappings_exe(mappings, TGID, STARTED, 0), "/usr/bin/app");
	ck_assert_ptr_null(mappings_exe(mappings, TGID, STARTED + 1, 0));
	mappings_free(mappings);
	mappings_free(NULL);
}
END_TEST

/* The buffer may end within a record; the rest of the record comes with the next. */
START_TEST(records_are_used_when_they_are_whole)
{
	static const char *const paths[] = { "/usr/bin/app", "", "/lib/x" };
	struct stream stream = { .used = 0 };
	size_t ends[ARRAY_SIZE(paths)];

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		put(&stream, (i + 1) << 12, (i + 2) << 12, i + 1, 0, paths[i]);
		ends[i] = stream.used;
	}
	for (size_t cut = 0; cut <= stream.used; cut++) {
		struct mappings *mappings = mappings_new();
		char *exact = malloc(cut + !cut); /* a sanitizer sees reads behind the end */
		size_t whole = 0, taken = 0;

		memcpy(exact, stream.bytes, cut);
		while (whole < ARRAY_SIZE(paths) && ends[whole] <= cut)
			taken = ends[whole++];
		HOLDS(mappings_add_records(mappings, exact, cut) == (long)taken);
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
			HOLDS((path_at(mappings, (i + 1) << 12) != NULL) == (i < whole));
		HOLDS(mappings_add_records(mappings, stream.bytes + taken, stream.used - taken) ==
		      (long)(stream.used - taken));
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
			HOLDS(!strcmp(path_at(mappings, (i + 1) << 12), paths[i]));
		mappings_free(mappings);
		free(exact);
	}
}
END_TEST

static void wrong_type(struct mapping_record *record)
{
	record->header.type = RECORD_TASK;
}

static void unknown_type(struct mapping_record *record)
{
	record->header.type = 99;
}

static void too_short(struct mapping_record *record)
{
	record->header.bytes--;
}

static void too_long(struct mapping_record *record)
{
	record->header.bytes++;
}

static void long_path(struct mapping_record *record)
{
	record->path_bytes = MAPPING_PATH_BYTES;
}

static void huge_path(struct mapping_record *record)
{
	record->path_bytes = UINT32_MAX;
}

static void empty_mapping(struct mapping_record *record)
{
	record->ends = record->begins;
}

static void backward_mapping(struct mapping_record *record)
{
	record->ends = record->begins - 1;
}

static void huge_mapping(struct mapping_record *record)
{
	record->ends = record->begins + (1UL << 56);
}

static void (*const mistakes[])(struct mapping_record *) = { wrong_type,    unknown_type,     too_short,
							     too_long,      long_path,        huge_path,
							     empty_mapping, backward_mapping, huge_mapping };

START_TEST(an_invalid_record)
{
	struct mapping_record record = record_make(0x1000, 0x2000, 1);
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };

	put(&stream, 0x8000, 0x9000, 2, 0, "/before");
	mistakes[_i](&record);
	memcpy(stream.bytes + stream.used, &record, sizeof(record));
	stream.used += sizeof(record);
	ck_assert_int_eq(mappings_add_records(mappings, stream.bytes, stream.used), -EBADMSG);
	ck_assert_ptr_null(path_at(mappings, 0x1000));
	ck_assert_int_eq(scan(mappings, &stream), -EBADMSG);
	mappings_free(mappings);
}
END_TEST

/* With a NUL in it the path would be shorter than its length says, and never be found again. */
START_TEST(a_path_with_a_nul_in_it)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };

	put(&stream, 0x1000, 0x2000, 1, 0, "/usr/bin/app");
	stream.bytes[stream.used - 4] = '\0';
	ck_assert_int_eq(mappings_add_records(mappings, stream.bytes, stream.used), -EBADMSG);
	ck_assert_ptr_null(path_at(mappings, 0x1000));
	mappings_free(mappings);
}
END_TEST

START_TEST(the_longest_path)
{
	struct mappings *mappings = mappings_new();
	char path[MAPPING_PATH_BYTES];

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	add_one(mappings, 0x1000, 0x2000, 1, 0, path);
	ck_assert_str_eq(path_at(mappings, 0x1000), path);
	mappings_free(mappings);
}
END_TEST

START_TEST(a_scan_that_is_cut)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };

	put(&stream, 0x1000, 0x2000, 1, 0, "/a");
	stream.used--;
	ck_assert_int_eq(scan(mappings, &stream), -EBADMSG);
	mappings_free(mappings);
}
END_TEST

/* ---- replacing mappings ---- */

struct overlap_case {
	uint64_t begins, ends;
	const char *before, *first, *between, *second, *after; /* at 0x0800, 0x1800, 0x2800, 0x3800, 0x4800 */
};

/* New mappings [1000, 2000) and [3000, 4000). Old ones that they overlap, even in part, are removed whole. */
static const struct overlap_case overlap_cases[] = {
	{ 0x1000, 0x2000, NULL, "/new", NULL, "/b", NULL },
	{ 0x0000, 0x5000, "/new", "/new", "/new", "/new", "/new" },
	{ 0x1000, 0x4000, NULL, "/new", "/new", "/new", NULL },
	{ 0x2000, 0x3000, NULL, "/a", "/new", "/b", NULL },
	{ 0x1fff, 0x3000, NULL, NULL, "/new", "/b", NULL },
	{ 0x2000, 0x3001, NULL, "/a", "/new", NULL, NULL },
	{ 0x1fff, 0x3001, NULL, NULL, "/new", NULL, NULL },
	{ 0x1200, 0x1300, NULL, NULL, NULL, "/b", NULL },
	{ 0x0000, 0x1000, "/new", "/a", NULL, "/b", NULL },
	{ 0x4000, 0x5000, NULL, "/a", NULL, "/b", "/new" },
	{ 0x0000, 0x1001, "/new", NULL, NULL, "/b", NULL },
	{ 0x3fff, 0x5000, NULL, "/a", NULL, NULL, "/new" },
};

START_TEST(a_new_mapping_replaces_what_it_overlaps)
{
	const struct overlap_case *one = &overlap_cases[_i];
	struct mappings *mappings = mappings_new();

	add_one(mappings, 0x3000, 0x4000, 2, 0, "/b");
	add_one(mappings, 0x1000, 0x2000, 1, 0, "/a");
	add_one(mappings, one->begins, one->ends, 3, 0, "/new");
	ck_assert_pstr_eq(path_at(mappings, 0x0800), one->before);
	ck_assert_pstr_eq(path_at(mappings, 0x1800), one->first);
	ck_assert_pstr_eq(path_at(mappings, 0x2800), one->between);
	ck_assert_pstr_eq(path_at(mappings, 0x3800), one->second);
	ck_assert_pstr_eq(path_at(mappings, 0x4800), one->after);
	mappings_free(mappings);
}
END_TEST

START_TEST(an_exec_changes_the_executable)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };

	put(&stream, 0x5000, 0x6000, 1, MAPPING_IS_EXE, "/bin/sh");
	put(&stream, 0x7000, 0x8000, 1, MAPPING_IS_EXE, "/bin/sh");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert_str_eq(mappings_exe(mappings, TGID, STARTED, 0), "/bin/sh");
	/* at other addresses: the old mappings stay, because history may still need them */
	put(&stream, 0x1000, 0x2000, 2, MAPPING_IS_EXE, "/bin/app");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert_str_eq(mappings_exe(mappings, TGID, STARTED, 0), "/bin/app");
	ck_assert_str_eq(path_at(mappings, 0x5000), "/bin/sh");
	/* behind the old ones in memory, too */
	put(&stream, 0x9000, 0xa000, 3, MAPPING_IS_EXE, "/bin/third");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert_str_eq(mappings_exe(mappings, TGID, STARTED, 0), "/bin/third");
	mappings_free(mappings);
}
END_TEST

/* MAPPING_NO_PATH means that the path was not available this time: the known one stays. */
START_TEST(a_path_that_is_missing_this_time)
{
	struct mappings *mappings = mappings_new();

	add_one(mappings, 0x1000, 0x2000, 1, MAPPING_NO_PATH, "");
	ck_assert_str_eq(path_at(mappings, 0x1000), "");
	add_one(mappings, 0x1000, 0x2000, 1, 0, "/usr/bin/app");
	ck_assert_str_eq(path_at(mappings, 0x1000), "/usr/bin/app");
	add_one(mappings, 0x1000, 0x2000, 1, MAPPING_NO_PATH, "");
	ck_assert_str_eq(path_at(mappings, 0x1000), "/usr/bin/app");
	/* another file is mapped there now, whatever its name is */
	add_one(mappings, 0x1000, 0x2000, 2, MAPPING_NO_PATH, "");
	ck_assert_str_eq(path_at(mappings, 0x1000), "");
	mappings_free(mappings);
}
END_TEST

START_TEST(a_file_is_shared)
{
	struct mappings *mappings = mappings_new();
	struct mapping_record other = record_make(0x1000, 0x2000, 1);
	struct stream stream = { .used = 0 };
	const struct mapped_file *file;

	put(&stream, 0x1000, 0x2000, 1, 0, "/lib/libc.so");
	put(&stream, 0x3000, 0x4000, 1, 0, "/lib/libc.so");
	put(&stream, 0x5000, 0x6000, 2, 0, "/lib/libc.so");           /* replaced by an upgrade */
	put(&stream, 0x7000, 0x8000, 1, 0, "/lib/libc.so (deleted)"); /* with its old mappings */
	other.tgid = 11;
	put_record(&stream, &other, "/lib/libc.so");
	other.begins += 0x1000;
	other.ends += 0x1000;
	other.device_minor = 2;
	put_record(&stream, &other, "/lib/libc.so");
	add_stream(mappings, &stream);
	file = mappings_find(mappings, TGID, STARTED, 0x1000)->file;
	ck_assert_ptr_eq(mappings_find(mappings, TGID, STARTED, 0x3000)->file, file);
	ck_assert_ptr_eq(mappings_find(mappings, 11, STARTED, 0x1000)->file, file);
	ck_assert_ptr_ne(mappings_find(mappings, TGID, STARTED, 0x5000)->file, file);
	ck_assert_ptr_ne(mappings_find(mappings, TGID, STARTED, 0x7000)->file, file);
	ck_assert_ptr_ne(mappings_find(mappings, 11, STARTED, 0x2000)->file, file);
	ck_assert_uint_eq(file->users, 3);
	add_one(mappings, 0x1000, 0x2000, 1, 0, "/lib/libc.so"); /* the same again */
	ck_assert_uint_eq(file->users, 3);
	add_one(mappings, 0x1000, 0x2000, 9, 0, "/else"); /* what was there is kept: samples may be of it */
	ck_assert_uint_eq(file->users, 3);
	mappings_free(mappings);
}
END_TEST

/* ---- forgetting ---- */

static void put_user(struct stream *stream, uint32_t tgid, uint64_t started_ns, uint64_t begins,
		     uint64_t inode)
{
	struct mapping_record record = record_make(begins, begins + 4096, inode);

	record.tgid = tgid;
	record.started_ns = started_ns;
	put_record(stream, &record, "/lib/c");
}

START_TEST(users_of_a_file_come_youngest_first)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };
	struct mapping_user user = { 0 };
	const struct mapped_file *file;

	put_user(&stream, 10, 100, 4096, 1);
	put_user(&stream, 10, 100, 8192, 5);
	put_user(&stream, 10, 100, 16384, 5);
	put_user(&stream, 11, 300, 4096, 1);
	put_user(&stream, 12, 200, 32768, 5);
	add_stream(mappings, &stream);
	file = mappings_find(mappings, 10, 100, 8192)->file;
	/* the youngest process first, each with its first mapping of the file */
	ck_assert(mappings_find_user(mappings, file, UINT64_MAX, &user));
	ck_assert(user.tgid == 12 && user.started_ns == 200 && user.begins == 32768);
	ck_assert(mappings_find_user(mappings, file, user.started_ns, &user));
	ck_assert(user.tgid == 10 && user.started_ns == 100 && user.begins == 8192);
	ck_assert(!mappings_find_user(mappings, file, user.started_ns, &user));
	ck_assert_uint_eq(user.tgid, 10);
	/* a process that the last scan did not show counts as ended */
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert(!mappings_find_user(mappings, file, UINT64_MAX, &user));
	put_user(&stream, 10, 100, 8192, 5);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert(mappings_find_user(mappings, file, UINT64_MAX, &user));
	ck_assert_uint_eq(user.tgid, 10);
	mappings_free(mappings);
}
END_TEST

/* A process of the user that maps the file. */
static void put_user_of(struct stream *stream, uint32_t uid, uint32_t tgid, uint64_t started_ns)
{
	struct mapped_record record = { .header = { RECORD_MAPPED, sizeof(record) },
					.tgid = tgid,
					.started_ns = started_ns,
					.uid = uid,
					.mappings = 1,
					.flags = MAPPED_LISTED };

	HOLDS(stream->used + sizeof(record) <= sizeof(stream->bytes));
	memcpy(stream->bytes + stream->used, &record, sizeof(record));
	stream->used += sizeof(record);
	put_user(stream, tgid, started_ns, 8192, 5);
}

/* Ten younger processes of another uid, in front or behind, leave an old process of uid 33 among the users. */
START_TEST(no_uid_hides_the_users_of_another)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };
	struct mapping_user user = { .started_ns = UINT64_MAX };
	const struct mapped_file *file;

	for (uint32_t i = 0; i < 10; i++) {
		put_user_of(&stream, 65533, 20 + i, 200 + i);
		if (i == (uint32_t)_i)
			put_user_of(&stream, 33, 10, 100);
	}
	ck_assert_int_eq(scan(mappings, &stream), 0);
	file = mappings_find(mappings, 10, 100, 8192)->file;
	ck_assert(mappings_find_user(mappings, file, user.started_ns, &user));
	ck_assert(user.tgid == 29 && user.uid == 65533);
	ck_assert(mappings_find_user(mappings, file, user.started_ns, &user));
	ck_assert(user.tgid == 28 && user.uid == 65533);
	ck_assert(mappings_find_user(mappings, file, user.started_ns, &user));
	ck_assert(user.tgid == 10 && user.uid == 33);
	mappings_free(mappings);
}
END_TEST

START_TEST(an_abandoned_scan_hides_no_process)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };
	struct mapping_user user = { 0 };
	const struct mapped_file *file;
	const struct mapping *mapping;

	put_user(&stream, 10, 100, 8192, 5);
	put_user(&stream, 11, 200, 8192, 5);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	/* processes that the abandoned scan showed, and those that it did not, are found */
	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	put_user(&stream, 11, 200, 8192, 5);
	put_user(&stream, 12, 300, 8192, 5);
	add_stream(mappings, &stream);
	mappings_abandon_scan(mappings);
	file = mappings_find(mappings, 10, 100, 8192)->file;
	for (uint32_t tgid = 12; tgid >= 10; tgid--) {
		ck_assert(
			mappings_find_user(mappings, file, user.tgid ? user.started_ns : UINT64_MAX, &user));
		ck_assert_uint_eq(user.tgid, tgid);
	}
	/* the next scan decides since when a mapping is known */
	put_user(&stream, 11, 200, 8192, 5);
	put_user(&stream, 12, 300, 16384, 5);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	mapping = mappings_find(mappings, 11, 200, 8192);
	ck_assert(mapping->since == 1 && mapping->slice == 3 && mappings_slice(mappings) == 3);
	mapping = mappings_find(mappings, 12, 300, 16384);
	ck_assert(mapping->since == 3 && mapping->slice == 3);
	ck_assert(!mappings_find_user(mappings, file, 200, &user));
	/* a mapping without a path does not count as known */
	add_one(mappings, 0x1000, 0x2000, 7, MAPPING_NO_PATH, "");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	add_one(mappings, 0x1000, 0x2000, 7, 0, "/late");
	ck_assert_uint_eq(mappings_find(mappings, TGID, STARTED, 0x1000)->since, 4);
	mappings_free(mappings);
}
END_TEST

START_TEST(a_process_is_forgotten_after_a_while)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };
	struct mapping_record other = record_make(0x1000, 0x2000, 2);

	put(&stream, 0x1000, 0x2000, 1, 0, "/gone");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	other.tgid = 11;
	for (unsigned int missed = 0; missed < 6; missed++) {
		mappings_forget(mappings, 4);
		mappings_forget(mappings, 4); /* it is not older for that */
		ck_assert_int_eq(path_at(mappings, 0x1000) != NULL, missed < 4);
		put_record(&stream, &other, "/stays");
		ck_assert_int_eq(scan(mappings, &stream), 0);
		ck_assert_ptr_nonnull(mappings_find(mappings, 11, STARTED, 0x1000));
		ck_assert_str_eq(mappings_find(mappings, 11, STARTED, 0x1000)->file->path, "/stays");
		mappings_grow_older(mappings);
	}
	/* it comes back, and is known as new */
	put(&stream, 0x3000, 0x4000, 1, 0, "/gone");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert_ptr_null(path_at(mappings, 0x1000));
	ck_assert_str_eq(path_at(mappings, 0x3000), "/gone");
	mappings_free(mappings);
}
END_TEST

/* Mappings above the limit of a process are not kept; kept ones stay, and can change. */
START_TEST(more_mappings_than_are_kept)
{
	struct mappings *mappings = mappings_new();
	struct stream *stream = calloc(1, sizeof(*stream));

	for (unsigned int round = 0; round < 8; round++) {
		for (uint64_t i = 0; i < 6000; i++) {
			if (stream->used > 32768)
				add_stream(mappings, stream);
			put(stream, i << 12, (i + 1) << 12, 1, 0, round < 7 ? "/lib/x" : "/lib/y");
		}
		ck_assert_int_eq(scan(mappings, stream), 0);
		mappings_forget(mappings, 4);
		ck_assert_ptr_nonnull(path_at(mappings, 0));
		ck_assert_ptr_nonnull(path_at(mappings, 1000 << 12));
		ck_assert_ptr_null(path_at(mappings, 5999 << 12));
	}
	ck_assert_str_eq(path_at(mappings, 0), "/lib/y"); /* shown last */
	/* each mapping that was not kept counts, each time */
	ck_assert_uint_eq(mappings_dropped(mappings), 8 * (6000 - UNWIND_MAPPINGS_MAX));
	mappings_free(mappings);
	free(stream);
}
END_TEST

/* ---- processes with many mappings ---- */

static const struct mapped_process *process_at(const struct mappings *mappings, uint32_t tgid)
{
	const struct mapped_process *process;

	for (uint32_t i = 0; (process = mappings_process(mappings, i)); i++)
		if (process->tgid == tgid)
			return process;
	return NULL;
}

static bool exists(const struct mappings *mappings, uint64_t address)
{
	const struct mapping *mapping = mappings_find(mappings, TGID, STARTED, address);

	return mapping && mapping_exists(process_at(mappings, TGID), mapping);
}

START_TEST(a_scan_shows_processes_without_their_mappings)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };
	struct mappings_many many;

	put_process(&stream, TGID, 1000, 60000, 0);
	put_process(&stream, 11, 33, 80, MAPPED_LISTED);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert(mappings_has(mappings, process_at(mappings, TGID)));
	many = mappings_many(mappings);
	ck_assert(many.count == 1 && many.unlisted == 1 && many.cut == 0);
	ck_assert_ptr_eq(many.largest, process_at(mappings, TGID));
	ck_assert_str_eq(many.largest->comm, "hog");
	ck_assert_uint_eq(many.largest->uid, 1000);
	/* its mappings come in a scan of their own, which shows only some of them */
	mappings_begin_scan(mappings, MAPPINGS_OF_MANY);
	put_process(&stream, TGID, 1000, 60000, MAPPED_LISTED);
	put(&stream, 0x1000, 0x2000, 1, 0, "/lib/x");
	put_process(&stream, TGID, 1000, 60000, MAPPED_CUT);
	put_process(&stream, 11, 33, 80, 0);
	add_stream(mappings, &stream);
	ck_assert(!mappings_end_pass(mappings));
	many = mappings_many(mappings);
	ck_assert(many.count == 1 && many.unlisted == 0 && many.cut == 1);
	ck_assert(mappings_is_cut(mappings, TGID, STARTED) && !mappings_is_cut(mappings, 11, STARTED));
	/* a scan that leaves its mappings out keeps them */
	put_process(&stream, TGID, 1000, 60000, 0);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert(exists(mappings, 0x1000) && mappings_is_cut(mappings, TGID, STARTED));
	ck_assert(!mappings_has(mappings, process_at(mappings, 11)));
	mappings_free(mappings);
}
END_TEST

/* Another scan comes between the two slices. */
START_TEST(a_scan_goes_on_in_another_slice)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };
	uint32_t number;

	put_process(&stream, TGID, 1000, 9000, MAPPED_LISTED);
	put(&stream, 0x1000, 0x2000, 1, 0, "/lib/x");
	put(&stream, 0x3000, 0x4000, 1, 0, "/lib/x");
	put(&stream, 0x5000, 0x6000, 1, 0, "/lib/x");
	number = mappings_begin_scan(mappings, MAPPINGS_OF_MANY);
	add_stream(mappings, &stream);
	ck_assert(!mappings_end_pass(mappings));

	put_process(&stream, TGID, 1000, 9000, MAPPED_LISTED);
	put(&stream, 0x1000, 0x2000, 1, 0, "/lib/x");
	ck_assert_uint_gt(mappings_begin_scan(mappings, MAPPINGS_OF_MANY), number);
	number = mappings_slice(mappings);
	add_stream(mappings, &stream);
	put_process(&stream, TGID, 1000, 9000, 0);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert(exists(mappings, 0x3000)); /* the list is not complete yet */

	ck_assert_uint_eq(mappings_begin_scan(mappings, MAPPINGS_OF_MANY), number);
	put(&stream, 0x5000, 0x6000, 1, 0, "/lib/x");
	put(&stream, 0x7000, 0x8000, 1, 0, "/lib/x");
	add_stream(mappings, &stream);
	ck_assert(!mappings_end_pass(mappings));
	ck_assert(exists(mappings, 0x1000) && !exists(mappings, 0x3000));
	ck_assert(exists(mappings, 0x5000) && exists(mappings, 0x7000));
	/* the table of a file that was mapped in the later slice is looked at by the pass after it */
	ck_assert_uint_gt(mappings_find(mappings, TGID, STARTED, 0x7000)->since, number + 1);
	ck_assert(mappings_has(mappings, process_at(mappings, TGID)));
	mappings_free(mappings);
}
END_TEST

START_TEST(a_list_goes_on_in_another_pass)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };

	put(&stream, 0x1000, 0x2000, 1, 0, "/lib/x");
	put(&stream, 0x9000, 0xa000, 1, 0, "/lib/x");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	put_process(&stream, TGID, 1000, 90, MAPPED_LISTED);
	put(&stream, 0x1000, 0x2000, 1, 0, "/lib/x");
	put_process(&stream, TGID, 1000, 90, MAPPED_MORE);
	put_process(&stream, 11, 33, 80, MAPPED_LISTED);
	add_stream(mappings, &stream);
	ck_assert(mappings_end_pass(mappings));
	ck_assert(exists(mappings, 0x9000));
	put_process(&stream, TGID, 1000, 90, MAPPED_LISTED);
	put(&stream, 0x3000, 0x4000, 1, 0, "/lib/x");
	add_stream(mappings, &stream);
	ck_assert(!mappings_end_pass(mappings));
	ck_assert(exists(mappings, 0x1000) && exists(mappings, 0x3000) && !exists(mappings, 0x9000));
	ck_assert(mappings_has(mappings, process_at(mappings, 11))); /* the first pass has shown it */
	mappings_free(mappings);
}
END_TEST

START_TEST(a_busy_process_keeps_its_mappings)
{
	struct mappings *mappings = mappings_new();
	struct stream stream = { .used = 0 };

	put(&stream, 0x1000, 0x2000, 1, 0, "/lib/x");
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert_ptr_null(mappings_busy(mappings));
	put_process(&stream, TGID, 1000, 90, MAPPED_LISTED);
	put_process(&stream, TGID, 1000, 90, MAPPED_BUSY);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert_ptr_eq(mappings_busy(mappings), process_at(mappings, TGID));
	ck_assert(exists(mappings, 0x1000));
	put_process(&stream, TGID, 1000, 90, MAPPED_LISTED);
	ck_assert_int_eq(scan(mappings, &stream), 0);
	ck_assert_ptr_null(mappings_busy(mappings));
	ck_assert(!exists(mappings, 0x1000));
	mappings_free(mappings);
}
END_TEST

/* ---- shares ---- */

/* A process of that many mappings, each of a file of its own. Returns how many of them are known then. */
static uint32_t map_files(struct mappings *mappings, uint32_t tgid, uint32_t uid, uint32_t in_kernel,
			  uint32_t count, bool own_files)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	struct mapping_record record;
	char path[64];

	put_process(stream, tgid, uid, in_kernel, MAPPED_LISTED);
	for (uint32_t i = 0; i < count; i++) {
		record = record_make((uint64_t)i << 12, (uint64_t)(i + 1) << 12, own_files ? i + 1 : 1);
		record.tgid = tgid;
		snprintf(path, sizeof(path), own_files ? "/home/%u/%u/%u" : "/lib/c", uid, tgid, i);
		put_record(stream, &record, path);
		if (stream->used > sizeof(stream->bytes) / 2)
			add_stream(mappings, stream);
	}
	add_stream(mappings, stream);
	free(stream);
	return process_at(mappings, tgid)->count;
}

/* 130 processes of one user want all the room there is. */
START_TEST(one_user_cannot_have_all_room)
{
	struct mappings *mappings = mappings_new();
	uint32_t of_one = 0;

	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	for (uint32_t tgid = 1; tgid <= 130; tgid++)
		of_one += map_files(mappings, tgid, 1000, 2000, 2000, false);
	ck_assert_uint_eq(of_one, 131072 / 2);
	ck_assert_uint_eq(mappings_dropped(mappings), 130 * 2000 - of_one);
	ck_assert_uint_eq(map_files(mappings, 1001, 33, 2000, 2000, true), 2000);
	/* room comes back with the end of the processes */
	ck_assert(!mappings_end_pass(mappings));
	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	ck_assert(!mappings_end_pass(mappings));
	mappings_grow_older(mappings);
	mappings_forget(mappings, 1);
	ck_assert_ptr_null(mappings_process(mappings, 0));
	ck_assert_uint_eq(map_files(mappings, 1, 1000, 2000, 2000, false), 2000);
	mappings_free(mappings);
}
END_TEST

START_TEST(processes_with_many_mappings_cannot_have_all_room)
{
	struct mappings *mappings = mappings_new();
	uint32_t of_many = 0;

	mappings_begin_scan(mappings, MAPPINGS_OF_MANY);
	for (uint32_t tgid = 1; tgid <= 70; tgid++) /* each of another user */
		of_many += map_files(mappings, tgid, tgid, 60000, 2048, false);
	ck_assert_uint_eq(of_many, 131072 / 8);
	ck_assert_uint_eq(map_files(mappings, 1001, 33, 2048, 2048, false), 2048);
	/* a process that has fewer mappings now counts no more among them */
	map_files(mappings, 1, 1, 2048, 2048, false);
	ck_assert_uint_eq(map_files(mappings, 1002, 34, 60000, 2048, false), 2048);
	mappings_free(mappings);
}
END_TEST

START_TEST(one_user_cannot_have_all_files)
{
	struct mappings *mappings = mappings_new();
	uint32_t with_path = 0;

	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	for (uint32_t tgid = 1; tgid <= 20; tgid++) {
		map_files(mappings, tgid, 1000, 2000, 2000, true);
		for (uint32_t i = 0; i < 2000; i++)
			with_path += !(process_at(mappings, tgid)->mappings[i].flags & MAPPING_NO_PATH);
	}
	ck_assert_uint_eq(with_path, 32768 / 2);
	map_files(mappings, 1001, 33, 2000, 2000, true);
	for (uint32_t i = 0; i < 2000; i++)
		HOLDS(!(process_at(mappings, 1001)->mappings[i].flags & MAPPING_NO_PATH));
	mappings_free(mappings);
}
END_TEST

/* ---- random ---- */

#define PLACES 64U
#define PROCESSES 20U

/* What is mapped at each place of each process; 0: nothing. Overlapped mappings are removed whole. */
struct reference {
	uint64_t inode[PROCESSES][PLACES], id[PROCESSES][PLACES];
};

static void map(struct reference *reference, uint32_t process, uint32_t first, uint32_t last, uint64_t inode,
		uint64_t id)
{
	for (uint32_t i = first; i < last; i++) {
		uint64_t there = reference->id[process][i];

		for (uint32_t j = 0; there && j < PLACES; j++)
			if (reference->id[process][j] == there)
				reference->id[process][j] = 0;
	}
	for (uint32_t i = first; i < last; i++) {
		reference->inode[process][i] = inode;
		reference->id[process][i] = id;
	}
}

static void check_all(const struct mappings *mappings, const struct reference *reference)
{
	for (uint32_t process = 0; process < PROCESSES; process++) {
		for (uint32_t i = 0; i < PLACES; i++) {
			const struct mapping *found =
				mappings_find(mappings, process, STARTED, i * 16 + i % 16);

			HOLDS((found != NULL) == (reference->id[process][i] != 0));
			HOLDS(!found || found->file->inode == reference->inode[process][i]);
			HOLDS(!found || found->file_offset == reference->id[process][i]);
		}
	}
}

START_TEST(random_mappings)
{
	struct reference *reference = calloc(1, sizeof(*reference));
	struct mappings *mappings = mappings_new();
	struct dice dice = dice_new(180);
	char path[32];

	for (uint64_t id = 1; id < 8000; id++) {
		uint32_t process = dice_below(&dice, PROCESSES), first = dice_below(&dice, PLACES);
		uint32_t last = first + 1 + dice_below(&dice, dice_below(&dice, 4) ? 3 : PLACES - first);
		struct mapping_record record = record_make(first * 16, 0, 1 + dice_below(&dice, 30));
		struct stream stream = { .used = 0 };

		last = last > PLACES ? PLACES : last;
		record.ends = last * 16;
		record.tgid = process;
		record.file_offset = id;
		snprintf(path, sizeof(path), "/file-%llu", record.inode);
		put_record(&stream, &record, path);
		add_stream(mappings, &stream);
		map(reference, process, first, last, record.inode, id);
		if (id % 100 == 0)
			check_all(mappings, reference);
		if (id % 1000 == 0)
			mappings_forget(mappings, 1000); /* removes files that no process maps */
	}
	check_all(mappings, reference);
	mappings_free(mappings);
	free(reference);
}
END_TEST

/* ---- what was replaced ---- */

/* A scan that sees the address space at that epoch: one mapping that stays, and this file in the other's place. */
static void scan_at(struct mappings *mappings, uint32_t epoch, uint64_t inode, const char *path)
{
	struct mapping_record stays = record_make(0x1000, 0x2000, 7),
			      changes = record_make(0x4000, 0x6000, inode);
	struct stream stream = { .used = 0 };

	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	stays.epoch = changes.epoch = epoch;
	put_record(&stream, &stays, "/program");
	put_record(&stream, &changes, path);
	add_stream(mappings, &stream);
	ck_assert(!mappings_end_pass(mappings));
}

static void expect_seen(const struct mapped_process *process, uint32_t epoch, uint64_t inode)
{
	uint32_t sighting = mapping_sighting(process, 0, epoch);
	const struct mapping *mapping = mapping_seen_at(process, 0x5000, sighting);

	ck_assert_uint_gt(sighting, 0);
	ck_assert_ptr_nonnull(mapping);
	ck_assert_uint_eq(mapping->file->inode, inode);
	ck_assert_uint_eq(mapping_seen_at(process, 0x1800, sighting)->file->inode, 7);
	ck_assert_ptr_null(mapping_seen_at(process, 0x3000, sighting));
}

START_TEST(an_epoch_tells_what_was_there)
{
	struct mappings *mappings = mappings_new();
	const struct mapped_process *process;
	struct mapping_record other = record_make(0x8000, 0x9000, 3);
	struct stream stream = { .used = 0 };

	scan_at(mappings, 10, 1, "/plugin-a");
	scan_at(mappings, 10, 1, "/plugin-a");
	ck_assert_ptr_null(mappings_changed(mappings, TGID, STARTED, 0));
	scan_at(mappings, 12, 2, "/plugin-b");
	scan_at(mappings, 14, 1, "/plugin-a");
	process = mappings_changed(mappings, TGID, STARTED, 0);
	ck_assert_ptr_nonnull(process);
	ck_assert_ptr_null(mappings_changed(mappings, TGID, STARTED, UINT64_MAX));
	ck_assert(mapping_has_changed(process, 0x4000) && mapping_has_changed(process, 0x5fff));
	ck_assert(!mapping_has_changed(process, 0x1800) && !mapping_has_changed(process, 0x6000));
	expect_seen(process, 10, 1);
	expect_seen(process, 12, 2);
	expect_seen(process, 14, 1);
	/* however many scans see the last one, those before stay */
	for (uint32_t i = 0; i < 200; i++)
		scan_at(mappings, 14, 1, "/plugin-a");
	process = mappings_changed(mappings, TGID, STARTED, 0);
	expect_seen(process, 10, 1);
	expect_seen(process, 12, 2);
	expect_seen(process, 14, 1);
	/* an epoch that no scan saw, none at all, and the same one of another program */
	ck_assert_uint_eq(mapping_sighting(process, 0, 11), 0);
	ck_assert_uint_eq(mapping_sighting(process, 0, 0), 0);
	ck_assert_uint_eq(mapping_sighting(process, 1, 12), 0);
	/* mappings changed while they were listed: the list is of no epoch */
	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	other.epoch = 16;
	put_record(&stream, &other, "/other");
	other.epoch = 18;
	other.begins = other.ends;
	other.ends += 0x1000;
	put_record(&stream, &other, "/other");
	add_stream(mappings, &stream);
	ck_assert(!mappings_end_pass(mappings));
	process = mappings_changed(mappings, TGID, STARTED, 0);
	ck_assert_uint_eq(mapping_sighting(process, 0, 16), 0);
	ck_assert_uint_eq(mapping_sighting(process, 0, 18), 0);
	mappings_free(mappings);
}
END_TEST

/* A program moves its own code to memory of no file at the same addresses: that is no other code. */
START_TEST(a_copy_of_the_same_code_replaces_nothing)
{
	struct mappings *mappings = mappings_new();
	struct mapping_record record = record_make(0x4000, 0x6000, 7);
	struct stream stream = { .used = 0 };

	scan_at(mappings, 10, 7, "/program");
	mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
	record.flags = MAPPING_IS_EXE | MAPPING_IS_TEXT;
	record.file_offset = 0;
	put_record(&stream, &record, "/program");
	add_stream(mappings, &stream);
	ck_assert(!mappings_end_pass(mappings));
	ck_assert_ptr_null(mappings_changed(mappings, TGID, STARTED, 0));
	ck_assert(mappings_find(mappings, TGID, STARTED, 0x5000)->flags & MAPPING_IS_TEXT);
	mappings_free(mappings);
}
END_TEST

/* The last ones are kept; of what was there before nobody claims anything. */
START_TEST(more_is_replaced_than_is_kept)
{
	struct mappings *mappings = mappings_new();
	const struct mapped_process *process;

	for (uint32_t i = 1; i <= 100; i++)
		scan_at(mappings, 2 * i, i % 2 ? 1 : 2, i % 2 ? "/plugin-a" : "/plugin-b");
	process = mappings_changed(mappings, TGID, STARTED, 0);
	for (uint32_t i = 1; i <= 100; i++) {
		uint32_t sighting = mapping_sighting(process, 0, 2 * i);
		const struct mapping *mapping = mapping_seen_at(process, 0x5000, sighting);

		ck_assert(i < 90 || mapping);
		ck_assert(!mapping || mapping->file->inode == (i % 2 ? 1 : 2));
	}
	ck_assert(mapping_has_changed(process, 0x5000));
	ck_assert(!mapping_has_changed(process, 0x1800)); /* it was there before */
	mappings_free(mappings);
}
END_TEST

/* Each has what it needs while there is room; the rest claims nothing. */
START_TEST(processes_beyond_those_that_have_histories)
{
	struct mappings *mappings = mappings_new();

	for (uint32_t round = 0; round < 2; round++) {
		mappings_begin_scan(mappings, MAPPINGS_OF_FEW);
		for (uint32_t tgid = 1; tgid <= 100; tgid++) {
			struct mapping_record record = record_make(0x4000, 0x6000, 1 + round);
			struct stream stream = { .used = 0 };

			record.tgid = tgid;
			record.epoch = 10 + round;
			put_record(&stream, &record, "/plugin");
			add_stream(mappings, &stream);
		}
		ck_assert(!mappings_end_pass(mappings));
	}
	for (uint32_t tgid = 1; tgid <= 100; tgid++) {
		const struct mapped_process *process = mappings_changed(mappings, tgid, STARTED, 0);

		ck_assert_ptr_nonnull(process);
		ck_assert(mapping_has_changed(process, 0x5000));
		ck_assert((mapping_sighting(process, 0, 10) != 0) == (tgid <= 64));
	}
	mappings_forget(mappings, 1000);
	ck_assert_ptr_nonnull(mappings_changed(mappings, 64, STARTED, 0));
	mappings_free(mappings);
}
END_TEST

SUITE(mappings)
{
	Suite *suite = suite_create("mappings");
	TCase *mappings = tcase_create("mappings");

	tcase_add_test(mappings, an_address_belongs_to_its_mapping);
	tcase_add_test(mappings, records_are_used_when_they_are_whole);
	tcase_add_loop_test(mappings, an_invalid_record, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(mappings, a_path_with_a_nul_in_it);
	tcase_add_test(mappings, the_longest_path);
	tcase_add_test(mappings, a_scan_that_is_cut);
	tcase_add_loop_test(mappings, a_new_mapping_replaces_what_it_overlaps, 0, ARRAY_SIZE(overlap_cases));
	tcase_add_test(mappings, an_exec_changes_the_executable);
	tcase_add_test(mappings, a_path_that_is_missing_this_time);
	tcase_add_test(mappings, a_file_is_shared);
	tcase_add_test(mappings, users_of_a_file_come_youngest_first);
	tcase_add_loop_test(mappings, no_uid_hides_the_users_of_another, 0, 10);
	tcase_add_test(mappings, an_abandoned_scan_hides_no_process);
	tcase_add_test(mappings, a_process_is_forgotten_after_a_while);
	tcase_add_test(mappings, more_mappings_than_are_kept);
	tcase_add_test(mappings, a_scan_shows_processes_without_their_mappings);
	tcase_add_test(mappings, a_scan_goes_on_in_another_slice);
	tcase_add_test(mappings, a_list_goes_on_in_another_pass);
	tcase_add_test(mappings, a_busy_process_keeps_its_mappings);
	tcase_add_test(mappings, one_user_cannot_have_all_room);
	tcase_add_test(mappings, processes_with_many_mappings_cannot_have_all_room);
	tcase_add_test(mappings, one_user_cannot_have_all_files);
	tcase_add_test(mappings, random_mappings);
	tcase_add_test(mappings, an_epoch_tells_what_was_there);
	tcase_add_test(mappings, a_copy_of_the_same_code_replaces_nothing);
	tcase_add_test(mappings, more_is_replaced_than_is_kept);
	tcase_add_test(mappings, processes_beyond_those_that_have_histories);
	suite_add_tcase(suite, mappings);
	return suite;
}
