/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a table arrives through the symbolizer's socket as it was compiled, from the confined process;
 * that each number of a message that is out of its range is refused; and what happens when a symbolizer sends
 * too little, or nothing.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/runtime_sign.h"
#include "common/symbolizer/symbolizer.h"
#include "common/symbolizer/table_stream.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "tests/unit/fake_unwind.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The table, put together from the messages. */
struct received {
	struct table_head head;
	struct unwind_rule *rules;
	struct unwind_chunk *chunks;
	struct unwind_page *pages;
	uint32_t rules_count, chunks_count, pages_count;
	uint32_t fails_at; /* TABLE_*, or 0 */
	uint32_t runtime;
};

static void keep_runtime(void *user, uint32_t sign)
{
	struct received *received = user;

	received->runtime = sign;
}

static int keep_head(void *user, const struct table_head *head)
{
	struct received *received = user;

	received->head = *head;
	received->rules = calloc(head->rules, sizeof(*received->rules));
	received->chunks = calloc(head->chunks + 1, sizeof(*received->chunks));
	received->pages = calloc(head->pages, sizeof(*received->pages));
	return received->fails_at == TABLE_HEAD ? -ENOSPC : 0;
}

static int keep_rules(void *user, uint32_t from, struct unwind_rule *rules, uint32_t count)
{
	struct received *received = user;

	HOLDS(from == received->rules_count && from + count <= received->head.rules);
	memcpy(received->rules + from, rules, count * sizeof(*rules));
	received->rules_count += count;
	return received->fails_at == TABLE_RULES ? -ENOSPC : 0;
}

static int keep_chunks(void *user, uint32_t from, struct unwind_chunk *chunks, uint32_t count)
{
	struct received *received = user;

	HOLDS(from == received->chunks_count && from + count <= received->head.chunks);
	memcpy(received->chunks + from, chunks, count * sizeof(*chunks));
	received->chunks_count += count;
	return received->fails_at == TABLE_CHUNKS ? -ENOSPC : 0;
}

static int keep_pages(void *user, uint32_t from, struct unwind_page *pages, uint32_t count)
{
	struct received *received = user;

	HOLDS(from == received->pages_count && from + count <= received->head.pages);
	memcpy(received->pages + from, pages, count * sizeof(*pages));
	received->pages_count += count;
	return received->fails_at == TABLE_PAGES ? -ENOSPC : 0;
}

static void received_free(struct received *received)
{
	free(received->rules);
	free(received->chunks);
	free(received->pages);
}

struct taking {
	struct table_stream stream;
	struct received *received;
};

static int take(void *user, struct table_message *message, size_t bytes)
{
	struct taking *taking = user;
	const struct table_receiver taker = { keep_head,  keep_rules,   keep_chunks,
					      keep_pages, keep_runtime, taking->received };

	return table_take(&taking->stream, message, bytes, &taker);
}

static int receive(int socket, int elf, struct received *received, bool *ret_usable)
{
	struct taking taking = { .received = received };
	int result = fake_table_receive(socket, elf, take, &taking);

	*ret_usable = table_is_answer(&taking.stream, result);
	return result;
}

START_TEST(a_table_arrives_as_it_was_compiled)
{
	_cleanup_close_ int elf = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	struct unwind_table table;
	int socket;
	pid_t child = fake_symbolizer_start(&socket);

	ck_assert_int_eq(unwind_table_compile(elf, &table), 0);
	for (int round = 0; round < 2; round++) {
		struct received received = { .fails_at = 0 };
		bool usable;

		ck_assert_int_eq(receive(socket, elf, &received, &usable), 0);
		ck_assert(usable);
		ck_assert_uint_eq(received.runtime, RUNTIME_NO_SIGN);
		ck_assert_uint_eq(received.head.rows, table.rows);
		ck_assert_uint_eq(received.head.first_page, table.first_page);
		ck_assert_uint_eq(received.rules_count, table.rules_count);
		ck_assert_uint_eq(received.chunks_count, table.chunks_count);
		ck_assert_uint_eq(received.pages_count, table.pages_count);
		HOLDS(!memcmp(received.rules, table.rules, table.rules_count * sizeof(*table.rules)));
		HOLDS(!memcmp(received.chunks, table.chunks, table.chunks_count * sizeof(*table.chunks)));
		HOLDS(!memcmp(received.pages, table.pages, table.pages_count * sizeof(*table.pages)));
		received_free(&received);
	}
	unwind_table_free(&table);
	fake_symbolizer_end(child, socket);
}
END_TEST

/* The symbolizer is still usable after a file without a table. */
START_TEST(files_without_a_table)
{
	_cleanup_close_ int text = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int elf = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	struct received none = { .runtime = RUNTIME_NO_SIGN }, whole = { .fails_at = 0 };
	bool usable = false;
	int socket;
	pid_t child = fake_symbolizer_start(&socket);

	ck_assert_int_eq(receive(socket, text, &none, &usable), -ENOTSUP);
	ck_assert(usable && !none.rules && none.runtime == RUNTIME_NOT_READ);
	ck_assert_int_eq(receive(socket, elf, &whole, &usable), 0);
	received_free(&whole);
	fake_symbolizer_end(child, socket);
}
END_TEST

START_TEST(a_callback_that_fails)
{
	_cleanup_close_ int elf = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	struct received received = { .fails_at = TABLE_HEAD + (uint32_t)_i };
	bool usable = true;
	int socket, status;
	pid_t child = fake_symbolizer_start(&socket);

	ck_assert_int_eq(receive(socket, elf, &received, &usable), -ENOSPC);
	ck_assert(!usable);
	received_free(&received);
	close(socket);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
}
END_TEST

/* Some messages, and then the end of the connection. */
START_TEST(a_symbolizer_that_ends_too_early)
{
	_cleanup_close_ int elf = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	struct table_message message = { .part = TABLE_HEAD, .count = 1 };
	struct received received = { .fails_at = 0 };
	bool usable = true;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	message.head = (struct table_head){ .rules = 2, .chunks = 1, .pages = 1 };
	if (_i)
		ck_assert_int_eq(pass_fd_send(pair[1], &message,
					      offsetof(struct table_message, head) + sizeof(message.head),
					      -1),
				 0);
	shutdown(pair[1], SHUT_WR);
	ck_assert_int_eq(receive(pair[0], elf, &received, &usable), -EPIPE);
	ck_assert(!usable);
	received_free(&received);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

/* ---- messages ---- */

static const struct table_head head_of_messages = { .rules = 3, .chunks = 2, .pages = 5 };

struct message_case {
	uint32_t part, done;
	struct table_message message;
	int extra; /* bytes more than the message has */
	bool valid;
};

#define HEAD(...)                                                                                            \
	{                                                                                                    \
		.part = TABLE_HEAD, .count = 1, .head = { __VA_ARGS__ }                                      \
	}
#define HOTSPOT(place, first, last, block, complete, is_offset, rest)                                        \
	HEAD(.rules = 1, .pages = 1,                                                                         \
	     .hotspot = { (place),                                                                           \
			  { (first), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, (last) },                                 \
			  (block),                                                                           \
			  (complete),                                                                        \
			  (is_offset),                                                                       \
			  (rest) })
#define RULES(number, ...)                                                                                   \
	{                                                                                                    \
		.part = TABLE_RULES, .count = (number), .rules = { __VA_ARGS__ }                             \
	}
#define PAGES(number, ...)                                                                                   \
	{                                                                                                    \
		.part = TABLE_PAGES, .count = (number), .pages = { __VA_ARGS__ }                             \
	}
#define CHUNKS(number, row, ...)                                                                             \
	{                                                                                                    \
		.part = TABLE_CHUNKS, .count = (number), .chunks[0].rows[row] = { __VA_ARGS__ }              \
	}

static const struct message_case message_cases[] = {
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .pages = 1), 0, true },
	{ TABLE_HEAD, 0, HEAD(.result = -ENODATA), 0, true },
	{ TABLE_HEAD, 0, HEAD(.result = -ENODATA, .runtime = RUNTIME_SIGNS_FIRST), 0, true },
	{ TABLE_HEAD, 0, HEAD(.result = -ENODATA, .runtime = RUNTIME_SIGNS_FIRST + RUNTIME_MARKS), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .pages = 1, .runtime = UINT32_MAX), 0, false },
	{ TABLE_HEAD, 0, HEAD(.result = 1, .rules = 1, .pages = 1), 0, false },
	{ TABLE_HEAD, 0, HEAD(.result = -100000), 0, false },
	{ TABLE_HEAD, 0, HEAD(.result = -ETIMEDOUT), 0, false },
	{ TABLE_HEAD, 0, HEAD(.result = -EAGAIN), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 0, .pages = 1), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .pages = 0), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = UNWIND_TABLE_RULES_MAX + 1, .pages = 1), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .chunks = UNWIND_TABLE_CHUNKS_MAX + 1, .pages = 1), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .pages = UNWIND_TABLE_PAGES_MAX + 1), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .pages = 1, .first_page = UINT64_MAX / 2), 0, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .pages = 1), 1, false },
	{ TABLE_HEAD, 0, HEAD(.rules = 1, .pages = 1), -1, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, HOTSPOT_PLACE_MAX - 1, 64, 2, 0, 0), 0, true },
	{ TABLE_HEAD, 0, HOTSPOT(HOTSPOT_PLACE_MAX - 1, 1, 1, 1, 4, 1, 0), 0, true },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, 1, 8, 3, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, 1, 8, 0, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(0, 1, 1, 8, 4, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(HOTSPOT_PLACE_MAX, 1, 1, 8, 4, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 0, 1, 8, 4, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, HOTSPOT_PLACE_MAX, 8, 4, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, 1, 0, 4, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, 1, 65, 4, 0, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, 1, 8, 4, 2, 0), 0, false },
	{ TABLE_HEAD, 0, HOTSPOT(1, 1, 1, 8, 4, 0, 1), 0, false },
	{ TABLE_RULES, 0, HEAD(.rules = 1, .pages = 1), 0, false },
	{ TABLE_RULES, 0, RULES(3, { .kind = UNWIND_CFA }), 0, true },
	{ TABLE_RULES, 1, RULES(2, { .kind = UNWIND_KINDS - 1 }), 0, true },
	{ TABLE_RULES, 1, RULES(3, { .kind = UNWIND_CFA }), 0, false },
	{ TABLE_RULES, 0, RULES(0), 0, false },
	{ TABLE_RULES, 0, RULES(1, { .kind = UNWIND_STEPS + 1 }), 0, false },
	{ TABLE_RULES, 1,
	  RULES(2, { .kind = UNWIND_CFA }, { .steps = { UNWIND_STEPS, { 0, 1, 3 }, { 1, 0, 1 }, 0 } }), 0,
	  true },
	{ TABLE_RULES, 1, RULES(1, { .steps = { UNWIND_STEPS, { 0 }, { [6] = 1 }, 0 } }), 0, false },
	{ TABLE_RULES, 0, RULES(1, { .is_signal = 2 }), 0, false },
	{ TABLE_RULES, 0, RULES(1, { .frame_pointer = UNWIND_ELSEWHERE }), 0, false },
	{ TABLE_RULES, 0, RULES(1, { .return_address = UNWIND_ELSEWHERE }), 0, false },
	{ TABLE_RULES, 0, RULES(1, { .extra = UNWIND_ELSEWHERE }), 0, true },
	{ TABLE_RULES, 0, RULES(1, { .extra = UNWIND_ELSEWHERE + 1 }), 0, false },
	{ TABLE_CHUNKS, 0, CHUNKS(2, 1023, 4095, 2), 0, true },
	{ TABLE_CHUNKS, 1, CHUNKS(2, 0, 0, 0), 0, false },
	{ TABLE_CHUNKS, 0, CHUNKS(1, 1023, 4096, 2), 0, false },
	{ TABLE_CHUNKS, 0, CHUNKS(1, 1023, 0, 3), 0, false },
	{ TABLE_PAGES, 0, PAGES(5, { 0, 1024, 0 }, { 1024 + 1023, 1, 0 }, { 0, 0, 0 }), 0, true },
	{ TABLE_PAGES, 0, PAGES(6, { 0, 1, 0 }), 0, false },
	{ TABLE_PAGES, 0, PAGES(1, { 0, 1025, 0 }), 0, false },
	{ TABLE_PAGES, 0, PAGES(1, { 1, 1024, 0 }), 0, false },
	{ TABLE_PAGES, 0, PAGES(1, { 2048, 1, 0 }), 0, false },
	{ TABLE_PAGES, 0, PAGES(1, { 5, 0, 0 }), 0, false },
};

START_TEST(messages)
{
	static const size_t elements[] = { 0, sizeof(struct table_head), sizeof(struct unwind_rule),
					   sizeof(struct unwind_chunk), sizeof(struct unwind_page) };
	const struct message_case *one = &message_cases[_i];
	size_t bytes =
		offsetof(struct table_message, head) + one->message.count * elements[one->message.part];

	ck_assert_int_eq(table_message_is_valid(&one->message, bytes + (size_t)one->extra, &head_of_messages,
						one->part, one->done),
			 one->valid);
}
END_TEST

SUITE(table_stream)
{
	Suite *suite = suite_create("table_stream");
	TCase *streams = tcase_create("streams"), *cases = tcase_create("messages");

	tcase_add_test(streams, a_table_arrives_as_it_was_compiled);
	tcase_add_test(streams, files_without_a_table);
	tcase_add_loop_test(streams, a_callback_that_fails, 0, 4);
	tcase_add_loop_test(streams, a_symbolizer_that_ends_too_early, 0, 2);
	tcase_add_loop_test(cases, messages, 0, ARRAY_SIZE(message_cases));
	suite_add_tcase(suite, streams);
	suite_add_tcase(suite, cases);
	return suite;
}
