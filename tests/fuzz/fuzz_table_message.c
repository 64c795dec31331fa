/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any bytes as a message of a table: each number of an accepted message is in its range. */
#include "common/symbolizer/table_stream.h"
#include "tests/fuzz/fuzz.h"

static void expect_in_range(const struct table_message *message, const struct table_head *head)
{
	for (uint32_t i = 0; i < message->count; i++) {
		const struct unwind_page *page = &message->pages[i];

		if (message->part == TABLE_PAGES && page->rows)
			HOLDS(page->first_row / UNWIND_CHUNK_ROWS < head->chunks &&
			      page->first_row % UNWIND_CHUNK_ROWS + page->rows <= UNWIND_CHUNK_ROWS);
		for (uint32_t step = 0; message->part == TABLE_RULES && step < UNWIND_STEPS_MAX; step++)
			HOLDS(message->rules[i].kind != UNWIND_STEPS ||
			      message->rules[i].steps.rules[step] < head->rules);
		for (uint32_t row = 0; message->part == TABLE_CHUNKS && row < UNWIND_CHUNK_ROWS; row++)
			HOLDS(message->chunks[i].rows[row].rule < head->rules);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	struct table_head head = { .rules = 1U + input_byte(&input),
				   .chunks = input_byte(&input),
				   .pages = 1U + input_byte(&input) };
	uint32_t part = TABLE_HEAD + input_byte(&input) % TABLE_PAGES, done = input_byte(&input);
	uint32_t most = part == TABLE_RULES ? head.rules : part == TABLE_CHUNKS ? head.chunks : head.pages;
	struct table_message *message = copy_bytes(input.next, input.left);

	if (part == TABLE_HEAD || done > most)
		done = 0;
	if (table_message_is_valid(message, input.left, &head, part, done)) {
		HOLDS(message->part == part && message->count);
		HOLDS(part == TABLE_HEAD || message->count + done <= most);
		if (part != TABLE_HEAD)
			expect_in_range(message, &head);
		else if (!message->head.result)
			HOLDS(message->head.rules && message->head.rules <= UNWIND_TABLE_RULES_MAX);
	}
	free(message);
	return 0;
}
