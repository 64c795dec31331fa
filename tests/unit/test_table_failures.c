/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which files without an unwind table the daemon remembers, in which order, that their number is bounded, and how the
 * status tells of them.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/status_line.h"
#include "consumer/status.h"
#include "consumer/unwind/table_failures.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct table_failures *failures;
static struct table_failure list[TABLE_FAILURES_MOST];

static void set_up(void)
{
	ck_assert_int_eq(table_failures_new(&failures), 0);
}

static void tear_down(void)
{
	table_failures_free(failures);
}

static void note(uint64_t inode, const char *path, int error, uint64_t now_ns, uint64_t retry_ns)
{
	table_failures_note(failures, path, &(struct table_identity){ inode, 8, 1 }, error, now_ns, retry_ns);
}

static void remove_file(uint64_t inode)
{
	table_failures_remove(failures, &(struct table_identity){ inode, 8, 1 });
}

START_TEST(a_file_is_listed_once_and_since_its_first_failure)
{
	note(1, "/a", -ENOSPC, 10, 60);
	note(2, "/b", -ENOSPC, 11, 61);
	note(1, "/moved", -EFBIG, 70, 0);
	ck_assert_uint_eq(table_failures_copy(failures, list), 2);
	ck_assert_str_eq(list[0].path, "/b");
	ck_assert_str_eq(list[1].path, "/moved");
	ck_assert_int_eq(list[1].error, -EFBIG);
	ck_assert_uint_eq(list[1].since_ns, 10);
	ck_assert_uint_eq(list[1].retry_ns, 0);
	/* another device: another file */
	table_failures_remove(failures, &(struct table_identity){ 1, 8, 2 });
	ck_assert_uint_eq(table_failures_copy(failures, list), 2);
	remove_file(1);
	ck_assert_uint_eq(table_failures_copy(failures, list), 1);
	ck_assert_str_eq(list[0].path, "/b");
	remove_file(1);
	table_failures_clear(failures);
	ck_assert_uint_eq(table_failures_copy(failures, list), 0);
}
END_TEST

START_TEST(what_can_be_helped_comes_first_then_the_oldest)
{
	note(1, "/text", -ENOTSUP, 1, 0);
	note(2, "/go", -ENODATA, 2, 0);
	note(3, "/late", -ENOSPC, 9, 0);
	note(4, "/early", -ENOSPC, 4, 0);
	note(5, "/refused", -ESTALE, 3, 0);
	ck_assert_uint_eq(table_failures_copy(failures, list), 5);
	ck_assert_str_eq(list[0].path, "/early");
	ck_assert_str_eq(list[1].path, "/late");
	ck_assert_str_eq(list[2].path, "/refused");
	ck_assert_str_eq(list[3].path, "/go");
	ck_assert_str_eq(list[4].path, "/text");
}
END_TEST

/* Whoever maps many texts does not hide the file that finds no room. */
START_TEST(a_full_list_keeps_what_can_be_helped)
{
	for (uint64_t i = 0; i < 2UL * TABLE_FAILURES_MOST; i++)
		note(i, "/text", -ENOTSUP, i, 0);
	ck_assert_uint_eq(table_failures_copy(failures, list), TABLE_FAILURES_MOST);
	for (uint64_t i = 1000; i < 1000 + TABLE_FAILURES_MOST; i++)
		note(i, "/room", -ENOSPC, i, 0);
	ck_assert_uint_eq(table_failures_copy(failures, list), TABLE_FAILURES_MOST);
	for (uint32_t i = 0; i < TABLE_FAILURES_MOST; i++)
		ck_assert_uint_eq(list[i].file.inode, 1000 + i);
	note(5000, "/more", -ENOSPC, 1, 0);
	note(5001, "/text", -ENOTSUP, 1, 0);
	table_failures_copy(failures, list);
	ck_assert_uint_eq(list[0].file.inode, 1000);
}
END_TEST

START_TEST(of_a_long_path_the_end_is_kept)
{
	char path[4096];

	memset(path, 'x', sizeof(path));
	memcpy(path + sizeof(path) - 6, "/file", 6);
	path[0] = '/';
	note(1, path, -ENOSPC, 1, 0);
	note(2, path + sizeof(path) - TABLE_PATH_BYTES, -ENOSPC, 2, 0);
	ck_assert_uint_eq(table_failures_copy(failures, list), 2);
	ck_assert_uint_eq(strlen(list[0].path), TABLE_PATH_BYTES - 1);
	ck_assert(!strncmp(list[0].path, "…xx", strlen("…xx")));
	ck_assert_str_eq(list[0].path + TABLE_PATH_BYTES - 6, "/file");
	ck_assert_str_eq(list[1].path, path + sizeof(path) - TABLE_PATH_BYTES);
}
END_TEST

START_TEST(without_a_list_nothing_happens)
{
	table_failures_note(NULL, "/a", &(struct table_identity){ 0 }, -ENOSPC, 1, 2);
	table_failures_remove(NULL, &(struct table_identity){ 0 });
	table_failures_clear(NULL);
	ck_assert_uint_eq(table_failures_copy(NULL, list), 0);
	table_failures_free(NULL);
}
END_TEST

/* Each error that a table may end with has its words, and no two reasons have the same. */
START_TEST(each_reason_has_words)
{
	static const int errors[TABLE_REASONS] = {
		[TABLE_NO_ROOM] = -ENOSPC,      [TABLE_REFUSED] = -EACCES,  [TABLE_SYMBOLIZER_DIED] = -EPIPE,
		[TABLE_INVALID] = -EBADMSG,     [TABLE_TOO_LARGE] = -EFBIG, [TABLE_TOO_SLOW] = -ETIMEDOUT,
		[TABLE_NO_MEMORY] = -ENOMEM,    [TABLE_FAILED] = -EIO,      [TABLE_WAITS] = -EBUSY,
		[TABLE_NO_EH_FRAME] = -ENODATA, [TABLE_NOT_ELF] = -ENOTSUP,
	};
	char text[TABLE_REASON_BYTES], other[TABLE_REASON_BYTES];

	for (int i = 0; i < TABLE_REASONS; i++) {
		ck_assert_int_eq(table_reason_of(errors[i]), i);
		ck_assert_ptr_nonnull(table_reason_texts[i].word);
		ck_assert_ptr_nonnull(table_reason_texts[i].remedy);
		table_reason_write(errors[i], text);
		ck_assert_uint_lt(strlen(text), TABLE_REASON_BYTES - 1);
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(text, table_reason_write(errors[j], other));
	}
	ck_assert_str_eq(table_reason_write(-EIO, text), "it failed: Input/output error");
	ck_assert_int_eq(table_reason_of(-ESTALE), TABLE_REFUSED);
}
END_TEST

__asm__(".pushsection .rodata\n"
	".global captures_document\n"
	"captures_document:\n"
	".incbin \"docs/CAPTURES.md\"\n"
	".byte 0\n"
	".popsection\n");
extern const char captures_document[];

/* The document has a row for each reason, in the same words. */
START_TEST(the_document_has_the_same_words)
{
	_cleanup_free_ char *document = strdup(captures_document);
	char *to = document;

	for (const char *from = document; *from; from++)
		if (*from != '`')
			*to++ = *from;
	*to = '\0';
	for (int i = 0; i < TABLE_REASONS; i++) {
		const struct table_reason_text *text = &table_reason_texts[i];
		_cleanup_free_ char *begin = NULL, *row = NULL;
		const char *at;

		ck_assert_int_gt(asprintf(&begin, "\n| %s | %s", text->word, text->reason), 0);
		at = strstr(document, begin);
		ck_assert_msg(at, "docs/CAPTURES.md lacks: %s", begin + 1);
		row = strndup(at + 1, strcspn(at + 1, "\n"));
		ck_assert_msg(strstr(row + strlen(begin) - 1, text->remedy), "docs/CAPTURES.md: %s lacks: %s",
			      row, text->remedy);
	}
}
END_TEST

/* What the control socket sends; the caller frees. */
static char *status_of(uint64_t without, uint64_t now_ns)
{
	struct unwind_gauges gauges = { .failures = failures };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	atomic_store(&gauges.modules_without, without);
	status_write_tables(&gauges, now_ns, out);
	fclose(out);
	return text;
}

START_TEST(the_status_names_files_reasons_times_and_remedies)
{
	_cleanup_free_ char *text = NULL, *none = status_of(0, 1);

	ck_assert_str_eq(none, "");
	note(1, "/a\t\n\033[2J", -ENOSPC, 1 * CLOCK_SECOND_NS, 61 * CLOCK_SECOND_NS);
	note(2, "/b", -ENODATA, 2 * CLOCK_SECOND_NS, 0);
	note(3, "/c", -EBUSY, 3 * CLOCK_SECOND_NS, 4 * CLOCK_SECOND_NS);
	text = status_of(7, 5 * CLOCK_SECOND_NS);
	ck_assert_str_eq(
		text,
		"without_table\tpath=/a\\x09\\x0a\\x1b[2J\treason=no-room\ttext=no room in the kernel's maps\t"
		"remedy=raise bourdon-load --unwind-memory\tsince_ns=4000000000\tretry_ns=56000000000\n"
		"without_table\tpath=/c\treason=waits\ttext=its request to bourdon-grant waits for its turn\t"
		"remedy=nothing: it is asked for within seconds\tsince_ns=2000000000\tretry_ns=0\n"
		"without_table\tpath=/b\treason=no-eh-frame\ttext=it has neither .eh_frame nor .debug_frame\tremedy=nothing, if it keeps frame pointers, "
		"as Go does; otherwise build it with -fasynchronous-unwind-tables\tsince_ns=3000000000\tretry_ns=\n"
		"without_table\tmore=5\n");
	for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct status_line parsed;

		ck_assert_int_eq(status_line_parse(line, &parsed), 0);
	}
}
END_TEST

/* The worst names in a full list are far from what a reader of the status accepts (16 MiB). */
START_TEST(the_status_is_bounded)
{
	_cleanup_free_ char *text = NULL;
	char path[4096];

	memset(path, 1, sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (uint64_t i = 0; i < 1000; i++)
		note(i, path, -ENOSPC, i, 0);
	text = status_of(1000, 1);
	ck_assert_uint_lt(strlen(text), 256UL << 10);
	ck_assert_ptr_nonnull(strstr(text, "without_table\tmore=936\n"));
}
END_TEST

SUITE(table_failures)
{
	Suite *suite = suite_create("table_failures");
	TCase *cases = tcase_create("failures");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, a_file_is_listed_once_and_since_its_first_failure);
	tcase_add_test(cases, what_can_be_helped_comes_first_then_the_oldest);
	tcase_add_test(cases, a_full_list_keeps_what_can_be_helped);
	tcase_add_test(cases, of_a_long_path_the_end_is_kept);
	tcase_add_test(cases, without_a_list_nothing_happens);
	tcase_add_test(cases, each_reason_has_words);
	tcase_add_test(cases, the_document_has_the_same_words);
	tcase_add_test(cases, the_status_names_files_reasons_times_and_remedies);
	tcase_add_test(cases, the_status_is_bounded);
	suite_add_tcase(suite, cases);
	return suite;
}
