/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes as a symbolizer's reply: of one that is believed every name lies within it. */
#include "consumer/symbolizer/symbolizer.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	struct symbolize_request request = { .count = 1 + input_byte(&input) % SYMBOLIZE_BATCH };
	struct symbolize_reply *reply = copy_bytes(input.next, input.left);

	if (symbolizer_reply_is_valid(reply, input.left, &request)) {
		HOLDS(!reply->count || reply->count == request.count);
		HOLDS(reply->build_id_bytes <= sizeof(reply->build_id));
		for (uint32_t i = 0; i < reply->count; i++) {
			char name[SYMBOLIZE_NAME_BYTES + 1] = "";

			memcpy(name, reply->names + reply->symbols[i].at, reply->symbols[i].bytes);
			HOLDS(strlen(name) == reply->symbols[i].bytes);
		}
	}
	free(reply);
	return 0;
}
