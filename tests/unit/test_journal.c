/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the bytes of entries in the journal's native protocol, that no value becomes a field, and that a journal that is
 * full, missing or started anew blocks nothing: entries wait, are sent in their order, and what is lost is counted.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/process/journal.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/socket.h>

/* ---- bytes ---- */

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	struct journal_field fields[2];
	const char *bytes;
	size_t length;
} entries[] = {
	{ { { "MESSAGE", "a capture" }, { "PRIORITY", "5" } }, BYTES("MESSAGE=a capture\nPRIORITY=5\n") },
	{ { { "A", "" }, { "B", "x=y" } }, BYTES("A=\nB=x=y\n") },
	/* a newline is no end of the value */
	{ { { "A", "x\nPRIORITY=0" }, { "B", "y" } }, BYTES("A\n\x0c\0\0\0\0\0\0\0x\nPRIORITY=0\nB=y\n") },
	{ { { "A", "\n" }, { "B", "\n\n" } }, BYTES("A\n\1\0\0\0\0\0\0\0\n\nB\n\2\0\0\0\0\0\0\0\n\n\n") },
	/* bytes of any kind */
	{ { { "A", "\x1b[2J\xff\x80" }, { "B", "\xf0\x9f\x94\xa5" } },
	  BYTES("A=\x1b[2J\xff\x80\nB=\xf0\x9f\x94\xa5\n") },
};

START_TEST(entry_has_these_bytes)
{
	char got[256];
	long length = journal_encode(entries[_i].fields, 2, got, sizeof(got));

	ck_assert_int_eq(length, (long)entries[_i].length);
	ck_assert_mem_eq(got, entries[_i].bytes, entries[_i].length);
	/* not one byte more is written than there is room for */
	for (size_t room = 0; room < entries[_i].length; room++) {
		memset(got, '#', sizeof(got));
		ck_assert_int_eq(journal_encode(entries[_i].fields, 2, got, room), -EMSGSIZE);
		for (size_t i = room; i < sizeof(got); i++)
			HOLDS(got[i] == '#');
	}
}
END_TEST

/* Reads an entry as systemd's journald does (journald-native.c); returns the number of fields, with the last value. */
static unsigned int decode(const char *bytes, size_t length, char *last, size_t last_bytes)
{
	const char *end = bytes + length;
	unsigned int count = 0;

	while (bytes < end) {
		const char *line = memchr(bytes, '\n', (size_t)(end - bytes)), *equals;
		uint64_t value_bytes;

		HOLDS(line != NULL);
		equals = memchr(bytes, '=', (size_t)(line - bytes));
		if (equals) {
			snprintf(last, last_bytes, "%.*s", (int)(line - equals - 1), equals + 1);
			bytes = line + 1;
		} else {
			memcpy(&value_bytes, line + 1, sizeof(value_bytes));
			HOLDS(line[1 + sizeof(value_bytes) + value_bytes] == '\n');
			snprintf(last, last_bytes, "%.*s", (int)value_bytes, line + 1 + sizeof(value_bytes));
			bytes = line + 1 + sizeof(value_bytes) + value_bytes + 1;
		}
		count++;
	}
	return count;
}

START_TEST(any_value_stays_one_value)
{
	struct dice dice = dice_new(21);

	for (int round = 0; round < 20000; round++) {
		static const char alphabet[] = "\n=A\x01\xff ";
		char value[12], got[256], last[64];
		struct journal_field fields[] = { { "ONE", value }, { "TWO", value } };
		size_t bytes = dice_below(&dice, sizeof(value));
		long length;

		for (size_t i = 0; i < bytes; i++)
			value[i] = alphabet[dice_below(&dice, sizeof(alphabet) - 1)];
		value[bytes] = '\0';
		length = journal_encode(fields, 2, got, sizeof(got));
		HOLDS(length > 0);
		HOLDS(decode(got, (size_t)length, last, sizeof(last)) == 2);
		HOLDS(!strcmp(last, value));
	}
}
END_TEST

/* ---- a journal ---- */

struct fake_journal {
	char *directory, *path;
	int fd;
	struct own_counters counters;
	struct journal journal;
};

static void fake_listen(struct fake_journal *fake)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fake->path);
	unlink(fake->path);
	fake->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(fake->fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static void fake_make(struct fake_journal *fake)
{
	*fake = (struct fake_journal){ .directory = directory_make(), .fd = -EBADF };
	fake->path = path_join(fake->directory, "socket");
	ck_assert_int_eq(journal_open(&fake->journal, fake->path, &fake->counters), 0);
}

static void fake_free(struct fake_journal *fake)
{
	journal_close(&fake->journal);
	cleanup_close(&fake->fd);
	directory_remove(fake->directory);
	free(fake->directory);
	free(fake->path);
}

static int send_number(struct fake_journal *fake, unsigned int number, uint64_t now_ns)
{
	char text[16];
	struct journal_field field = { "N", text };

	snprintf(text, sizeof(text), "%u", number);
	return journal_send(&fake->journal, &field, 1, now_ns);
}

/* The number of the next entry, or 0 where none came. */
static unsigned int next_number(struct fake_journal *fake)
{
	char got[64];
	ssize_t bytes = recv(fake->fd, got, sizeof(got) - 1, 0);
	unsigned int number = 0;

	if (bytes < 0)
		return 0;
	got[bytes] = '\0';
	ck_assert_int_eq(sscanf(got, "N=%u\n", &number), 1);
	return number;
}

static void expect_counts(struct fake_journal *fake, uint64_t taken, uint64_t lost)
{
	ck_assert_uint_eq(own_counted(&fake->counters, OWN_JOURNAL_ENTRIES), taken);
	ck_assert_uint_eq(own_counted(&fake->counters, OWN_JOURNAL_LOST), lost);
}

START_TEST(a_journal_that_starts_later_gets_later_entries)
{
	struct fake_journal fake;

	fake_make(&fake);
	ck_assert_int_eq(send_number(&fake, 1, CLOCK_SECOND_NS), -ENOENT);
	expect_counts(&fake, 0, 1);
	fake_listen(&fake);
	ck_assert_int_eq(send_number(&fake, 2, CLOCK_SECOND_NS), 0);
	ck_assert_uint_eq(next_number(&fake), 2);
	/* nobody listens at the path that is left, then another one does */
	close(fake.fd);
	ck_assert_int_eq(send_number(&fake, 3, CLOCK_SECOND_NS), -ECONNREFUSED);
	fake_listen(&fake);
	ck_assert_int_eq(send_number(&fake, 4, CLOCK_SECOND_NS), 0);
	ck_assert_uint_eq(next_number(&fake), 4);
	ck_assert_uint_eq(fake.journal.retry_ns, 0);
	expect_counts(&fake, 2, 2);
	fake_free(&fake);
}
END_TEST

/* Sends until the journal is full; returns the number of the entry that waits. */
static unsigned int fill(struct fake_journal *fake)
{
	unsigned int number = 0;
	int result = 0;

	while (!result && number < 100000)
		result = send_number(fake, ++number, CLOCK_SECOND_NS);
	ck_assert_int_eq(result, -EAGAIN);
	ck_assert_uint_eq(fake->journal.retry_ns, 2 * CLOCK_SECOND_NS);
	return number;
}

START_TEST(entries_wait_for_a_full_journal_and_keep_their_order)
{
	struct fake_journal fake;
	unsigned int number;

	fake_make(&fake);
	fake_listen(&fake);
	number = fill(&fake);
	/* still full */
	ck_assert_int_eq(journal_retry(&fake.journal, 2 * CLOCK_SECOND_NS), 0);
	ck_assert_uint_eq(fake.journal.retry_ns, 3 * CLOCK_SECOND_NS);
	ck_assert_uint_eq(next_number(&fake), 1);
	/* there is room, and one waits that came before */
	ck_assert_int_eq(send_number(&fake, number + 1, 2 * CLOCK_SECOND_NS), -EAGAIN);
	for (unsigned int i = 2; i < number; i++)
		ck_assert_uint_eq(next_number(&fake), i);
	ck_assert_uint_eq(next_number(&fake), 0);
	ck_assert_int_eq(journal_retry(&fake.journal, 3 * CLOCK_SECOND_NS), 0);
	ck_assert_uint_eq(fake.journal.retry_ns, 0);
	ck_assert_uint_eq(next_number(&fake), number);
	ck_assert_uint_eq(next_number(&fake), number + 1);
	expect_counts(&fake, number + 1, 0);
	fake_free(&fake);
}
END_TEST

START_TEST(a_journal_that_stays_full_loses_entries_after_a_minute)
{
	uint64_t end_ns = CLOCK_SECOND_NS + JOURNAL_PATIENCE_NS;
	struct fake_journal fake;
	unsigned int number;

	fake_make(&fake);
	fake_listen(&fake);
	number = fill(&fake);
	for (unsigned int i = 1; i < JOURNAL_WAITING; i++)
		ck_assert_int_eq(send_number(&fake, number + i, 2 * CLOCK_SECOND_NS), -EAGAIN);
	/* no more memory than for these */
	ck_assert_int_eq(send_number(&fake, 0, 2 * CLOCK_SECOND_NS), -ENOBUFS);
	expect_counts(&fake, number - 1, 1);
	ck_assert_int_eq(journal_retry(&fake.journal, end_ns - 1), 0);
	expect_counts(&fake, number - 1, 1);
	/* the first has waited for a minute, the others a second less */
	ck_assert_int_eq(journal_retry(&fake.journal, end_ns), -EAGAIN);
	expect_counts(&fake, number - 1, 2);
	ck_assert_uint_eq(fake.journal.retry_ns, end_ns + CLOCK_SECOND_NS);
	/* what waits at the end is lost, too */
	journal_close(&fake.journal);
	expect_counts(&fake, number - 1, 1 + JOURNAL_WAITING);
	fake_free(&fake);
}
END_TEST

START_TEST(an_entry_that_is_too_large_is_lost)
{
	char value[JOURNAL_ENTRY_BYTES];
	struct journal_field field = { "A", value };
	struct fake_journal fake;

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	fake_make(&fake);
	fake_listen(&fake);
	ck_assert_int_eq(journal_send(&fake.journal, &field, 1, 1), -EMSGSIZE);
	expect_counts(&fake, 0, 1);
	/* "A=", the newline, and no end of the text */
	value[sizeof(value) - 3] = '\0';
	ck_assert_int_eq(journal_send(&fake.journal, &field, 1, 1), 0);
	expect_counts(&fake, 1, 1);
	fake_free(&fake);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused)
{
	struct own_counters counters = { 0 };
	struct journal journal;
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(journal_open(&journal, path, &counters), -ENAMETOOLONG);
	ck_assert_int_eq(journal_send(&journal, &(struct journal_field){ "A", "b" }, 1, 1), -EBADF);
	ck_assert_uint_eq(own_counted(&counters, OWN_JOURNAL_LOST), 1);
	journal_close(&journal);
}
END_TEST

SUITE(journal)
{
	Suite *suite = suite_create("journal");
	TCase *bytes = tcase_create("bytes"), *journal = tcase_create("journal");

	tcase_add_loop_test(bytes, entry_has_these_bytes, 0, ARRAY_SIZE(entries));
	tcase_add_test(bytes, any_value_stays_one_value);
	tcase_add_test(journal, a_journal_that_starts_later_gets_later_entries);
	tcase_add_test(journal, entries_wait_for_a_full_journal_and_keep_their_order);
	tcase_add_test(journal, a_journal_that_stays_full_loses_entries_after_a_minute);
	tcase_add_test(journal, an_entry_that_is_too_large_is_lost);
	tcase_add_test(journal, a_path_that_is_too_long_is_refused);
	suite_add_tcase(suite, bytes);
	suite_add_tcase(suite, journal);
	return suite;
}
