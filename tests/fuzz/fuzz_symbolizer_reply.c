/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any bytes as a reply of a symbolizer: all frames and names of an accepted reply are within it. */
#include "common/symbolizer/symbolizer.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const struct symbolize_reply *reply, uint32_t at, uint32_t bytes)
{
	char text[SYMBOLIZE_NAME_BYTES + 1] = "";

	memcpy(text, reply->text + at, bytes);
	HOLDS(strlen(text) == bytes);
	for (uint32_t i = 0; i < bytes; i++)
		HOLDS((unsigned char)text[i] >= ' ');
}

static void check_names(const struct symbolize_reply *reply, const struct symbolize_request *request)
{
	uint32_t position = 0;

	HOLDS(reply->count <= request->count);
	for (uint32_t i = 0; i < reply->count; i++) {
		HOLDS(reply->before[i] <= request->offsets[i] && (reply->after[i] || !reply->before[i]));
		HOLDS(reply->before[i] <= SYMBOLIZE_SPAN_MAX && reply->after[i] <= SYMBOLIZE_SPAN_MAX);
		for (uint32_t j = 0; j < reply->depths[i]; j++, position++) {
			const struct symbolize_frame *frame = &reply->frames[position];

			check_text(reply, frame->name, frame->name_bytes);
			check_text(reply, frame->file, frame->file_bytes);
			HOLDS(frame->name_bytes || reply->depths[i] == 1);
			/* the function begins before all of the span */
			HOLDS(!frame->name_bytes || frame->function_offset >= reply->before[i]);
		}
	}
	HOLDS(position == reply->frames_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	struct symbolize_request request = { .count = 1 + input_byte(&input) % SYMBOLIZE_BATCH };
	void *reply;

	/* half of them near 0, half far from it */
	for (uint32_t i = 0; i < request.count; i++)
		request.offsets[i] = i & 1 ? i : 1ULL << (i % 64);
	reply = copy_bytes(input.next, input.left);

	if (symbolizer_reply_is_valid(reply, input.left, &request))
		check_names(reply, &request);
	if (symbolizer_module_is_valid(reply, input.left)) {
		const struct symbolize_module *module = reply;

		HOLDS(module->build_id_bytes <= sizeof(module->build_id));
		HOLDS(strlen(module->debuglink) < sizeof(module->debuglink));
		HOLDS(strlen(module->alternate) < sizeof(module->alternate));
	}
	free(reply);
	return 0;
}
