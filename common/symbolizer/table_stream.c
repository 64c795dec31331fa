/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/table_stream.h"

#include "common/base/clock.h"
#include "common/symbolizer/hotspot.h"
#include "common/symbolizer/protocol.h"
#include "common/symbolizer/runtime_sign.h"
#include "common/system/pass_fd.h"

#include <errno.h>
#include <string.h>

#define MESSAGE_BYTES(payload) (offsetof(struct table_message, head) + (payload))

static size_t element_bytes(uint32_t part)
{
	switch (part) {
	case TABLE_RULES:
		return sizeof(struct unwind_rule);
	case TABLE_CHUNKS:
		return sizeof(struct unwind_chunk);
	case TABLE_PAGES:
		return sizeof(struct unwind_page);
	default:
		return sizeof(struct table_head);
	}
}

/* ---- the symbolizer's side ---- */

static int send_part(int socket, struct table_message *message, uint32_t part, const void *elements,
		     uint32_t count)
{
	size_t each = element_bytes(part);
	uint32_t most = (uint32_t)(TABLE_PART_BYTES / each);
	int result = 0;

	for (uint32_t sent = 0; sent < count && !result; sent += message->count) {
		message->part = part;
		message->count = count - sent < most ? count - sent : most;
		memcpy(message->rules, (const char *)elements + sent * each, message->count * each);
		result = pass_fd_send(socket, message, MESSAGE_BYTES(message->count * each), -1);
	}
	return result;
}

int table_send(int socket, int elf_fd)
{
	static struct table_message message; /* static, because it is too large for the stack */
	struct unwind_table table = { 0 };
	uint64_t began_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct table_head head = { .result = unwind_table_compile(elf_fd, &table),
				   .runtime = runtime_sign_find(elf_fd) };
	int result;

	head.rules = table.rules_count;
	head.chunks = table.chunks_count;
	head.pages = table.pages_count;
	head.rows = table.rows;
	head.first_page = table.first_page;
	head.text_page = table.text_page;
	/* of all files, only libjvm.so is searched */
	if (!head.result && runtime_sign_is_jvm(head.runtime))
		hotspot_find(elf_fd, &head.hotspot);
	head.cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - began_ns;
	result = send_part(socket, &message, TABLE_HEAD, &head, 1);
	if (!result)
		result = send_part(socket, &message, TABLE_RULES, table.rules, table.rules_count);
	if (!result)
		result = send_part(socket, &message, TABLE_CHUNKS, table.chunks, table.chunks_count);
	if (!result)
		result = send_part(socket, &message, TABLE_PAGES, table.pages, table.pages_count);
	unwind_table_free(&table);
	return result;
}

/* ---- the consumer's side ---- */

static uint32_t count_of(const struct table_head *head, uint32_t part)
{
	return part == TABLE_RULES    ? head->rules
	       : part == TABLE_CHUNKS ? head->chunks
	       : part == TABLE_PAGES  ? head->pages
				      : 1;
}

static bool head_is_valid(const struct table_head *head)
{
	if (!runtime_sign_is_valid(head->runtime) || !hotspot_is_valid(&head->hotspot))
		return false;
	if (head->result)
		return head->result == -ENOTSUP || head->result == -ENODATA || head->result == -EFBIG ||
		       head->result == -EBADMSG || head->result == -ENOMEM;
	return head->rules && head->rules <= UNWIND_TABLE_RULES_MAX &&
	       head->chunks <= UNWIND_TABLE_CHUNKS_MAX && head->pages &&
	       head->pages <= UNWIND_TABLE_PAGES_MAX &&
	       head->first_page < UINT64_MAX / UNWIND_PAGE_BYTES - head->pages;
}

/* Steps are of rules that came before them. */
static bool steps_are_valid(const struct unwind_steps *steps, uint32_t number)
{
	for (uint32_t i = 0; i < UNWIND_STEPS_MAX; i++)
		if (steps->rules[i] >= number)
			return false;
	return true;
}

static bool rule_is_valid(const struct unwind_rule *rule, uint32_t number)
{
	if (rule->kind == UNWIND_STEPS)
		return steps_are_valid(&rule->steps, number);
	return rule->kind < UNWIND_KINDS && rule->is_signal <= 1 &&
	       rule->frame_pointer <= UNWIND_AT_FRAME_POINTER &&
	       (rule->return_address <= UNWIND_AT_FRAME_POINTER ||
		rule->return_address == UNWIND_IN_REGISTER) &&
	       rule->extra <= UNWIND_ELSEWHERE;
}

static bool page_is_valid(const struct unwind_page *page, const struct table_head *head)
{
	if (!page->rows)
		return !page->first_row;
	return page->first_row / UNWIND_CHUNK_ROWS < head->chunks && page->rows <= UNWIND_CHUNK_ROWS &&
	       page->first_row % UNWIND_CHUNK_ROWS + page->rows <= UNWIND_CHUNK_ROWS;
}

static bool chunk_is_valid(const struct unwind_chunk *chunk, const struct table_head *head)
{
	for (size_t i = 0; i < UNWIND_CHUNK_ROWS; i++)
		if (chunk->rows[i].rule >= head->rules || chunk->rows[i].at >= UNWIND_PAGE_BYTES)
			return false;
	return true;
}

bool table_message_is_valid(const struct table_message *message, size_t bytes, const struct table_head *head,
			    uint32_t part, uint32_t done)
{
	size_t each = element_bytes(part);

	if (bytes < MESSAGE_BYTES(each) || bytes > sizeof(*message) || message->part != part ||
	    !message->count || message->count > TABLE_PART_BYTES / each ||
	    message->count > count_of(head, part) - done || bytes != MESSAGE_BYTES(message->count * each))
		return false;
	if (part == TABLE_HEAD)
		return head_is_valid(&message->head);
	for (uint32_t i = 0; i < message->count; i++)
		if ((part == TABLE_RULES && !rule_is_valid(&message->rules[i], done + i)) ||
		    (part == TABLE_CHUNKS && !chunk_is_valid(&message->chunks[i], head)) ||
		    (part == TABLE_PAGES && !page_is_valid(&message->pages[i], head)))
			return false;
	return true;
}

static int deliver(const struct table_receiver *receiver, uint32_t from, struct table_message *message)
{
	switch (message->part) {
	case TABLE_RULES:
		return receiver->rules(receiver->user, from, message->rules, message->count);
	case TABLE_CHUNKS:
		return receiver->chunks(receiver->user, from, message->chunks, message->count);
	case TABLE_PAGES:
		return receiver->pages(receiver->user, from, message->pages, message->count);
	default:
		if (receiver->runtime)
			receiver->runtime(receiver->user, message->head.runtime);
		return message->head.result ? message->head.result
					    : receiver->head(receiver->user, &message->head);
	}
}

int table_ask(int socket, int elf_fd)
{
	const struct symbolize_request request = { .kind = SYMBOLIZE_TABLE };

	return pass_fd_send_now(socket, &request, SYMBOLIZE_REQUEST_BYTES(0), elf_fd);
}

int table_take(struct table_stream *stream, struct table_message *message, size_t bytes,
	       const struct table_receiver *receiver)
{
	int result;

	if (!stream->part)
		stream->part = TABLE_HEAD;
	if (stream->part > TABLE_PAGES ||
	    !table_message_is_valid(message, bytes, &stream->head, stream->part, stream->done))
		return -EBADMSG;
	if (stream->part == TABLE_HEAD)
		stream->head = message->head;
	result = deliver(receiver, stream->done, message);
	if (result < 0)
		return result;
	stream->done += message->count;
	while (stream->part <= TABLE_PAGES && stream->done == count_of(&stream->head, stream->part)) {
		stream->part++;
		stream->done = 0;
	}
	return stream->part <= TABLE_PAGES;
}

bool table_is_answer(const struct table_stream *stream, int result)
{
	return !result || (stream->part == TABLE_HEAD && result == stream->head.result);
}
