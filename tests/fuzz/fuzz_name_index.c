/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes an index of chosen spans, changes bytes of it, and reads it: what is accepted has no more than the content. */
#include "consumer/symbols/name_index.h"
#include "tests/fuzz/fuzz.h"

#define SPANS 16U

static int check(void *user, const struct frame_name *name)
{
	uint32_t *frames = user;

	HOLDS(!name->function == !name->function_bytes || !name->function_bytes);
	HOLDS(!name->function || strlen(name->function) == name->function_bytes);
	HOLDS(!name->file || strlen(name->file) == name->file_bytes);
	HOLDS(name->function_offset >= 0 && name->line <= INT32_MAX);
	HOLDS(++*frames <= SYMBOLIZE_DEPTH);
	return 0;
}

static void look_up_all(const struct name_index *index)
{
	for (uint64_t offset = 0; offset < 512; offset++) {
		uint32_t frames = 0;

		name_index_find(index, offset, check, &frames);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	struct name_index *index = name_index_new(&(struct name_source){ .build_id = "00" }), *read;
	struct kept_bytes content = { 0 };
	uint8_t spans = input_byte(&input) % SPANS;
	char *copy;

	HOLDS(index);
	for (uint8_t i = 0; i < spans; i++) {
		uint8_t before = input_byte(&input), text = input_byte(&input),
			count = 1 + input_byte(&input) % 3;
		struct frame_name names[3];

		for (uint8_t j = 0; j < count; j++)
			names[j] = (struct frame_name){ .function = "one two three",
							.function_bytes = text % 14,
							.function_offset = before,
							.file = "a/b/c",
							.file_bytes = text % 6,
							.line = text };
		HOLDS(!name_index_add(index, 255U + input_byte(&input), before, 1U + input_byte(&input),
				      names, count));
	}
	look_up_all(index);
	HOLDS(!name_index_write(index, &content));
	copy = copy_bytes(content.bytes, content.used);
	while (input.left) {
		uint16_t at;

		input_read(&input, &at, sizeof(at));
		copy[at % content.used] = (char)input_byte(&input);
	}
	if (!name_index_read(copy, content.used, &read)) {
		const struct frame_name name = { "another", 7, 0, NULL, 0, 1 };

		look_up_all(read);
		HOLDS(!name_index_add(read, 400, 0, 100, &name, 1));
		look_up_all(read);
		name_index_free(read);
	}
	free(copy);
	kept_bytes_free(&content);
	name_index_free(index);
	return 0;
}
