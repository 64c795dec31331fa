/* SPDX-License-Identifier: GPL-2.0-only */
/* Offsets, then any bytes as an ELF file: the reply is one that the consumer believes. */
#include "common/cleanup.h"
#include "consumer/symbolizer/elf_symbols.h"
#include "consumer/symbolizer/symbolizer.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

#define OFFSETS 8U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	struct symbolize_request request = { .count = OFFSETS };
	_cleanup_free_ struct symbolize_reply *reply = malloc(sizeof(*reply));
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);
	uint32_t offset;

	for (uint32_t i = 0; i < OFFSETS; i++) {
		input_take(&input, &offset, sizeof(offset));
		request.offsets[i] = offset;
	}
	HOLDS(reply && fd >= 0 && write(fd, input.next, input.left) == (ssize_t)input.left);
	memset(reply, 0xa5, sizeof(*reply)); /* what the last one left */
	HOLDS(symbolizer_reply_is_valid(reply, elf_symbols_answer(fd, &request, reply), &request));
	return 0;
}
