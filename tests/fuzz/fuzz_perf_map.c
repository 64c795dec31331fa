/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads addresses, then any bytes as a perf map: the reply is one that the consumer accepts, and answers each
 * address.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/perf_map.h"
#include "common/symbolizer/symbolizer.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

#define ADDRESSES 4U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct symbolize_request request = { .kind = SYMBOLIZE_PERF_MAP, .count = ADDRESSES };
	_cleanup_free_ struct symbolize_reply *reply = malloc(sizeof(*reply));
	_cleanup_close_ int fd = memfd_create("map", MFD_CLOEXEC);
	struct input input = { data, bytes };

	for (uint32_t i = 0; i < ADDRESSES; i++) {
		uint16_t address;

		input_read(&input, &address, sizeof(address));
		request.offsets[i] = address;
	}
	HOLDS(reply && fd >= 0 && write(fd, input.next, input.left) == (ssize_t)input.left);
	memset(reply, 0xa5, sizeof(*reply)); /* the last request wrote here */
	HOLDS(symbolizer_reply_is_valid(reply, perf_map_name(fd, &request, reply), &request));
	HOLDS(reply->count == ADDRESSES && reply->frames_count == ADDRESSES);
	for (uint32_t i = 0; i < ADDRESSES; i++)
		HOLDS(!reply->frames[i].name_bytes || memchr(input.next, '\n', input.left));
	return 0;
}
