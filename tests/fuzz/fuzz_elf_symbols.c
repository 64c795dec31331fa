/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads offsets, then any bytes as an ELF file, with symbols, DWARF and packed sections, and as the debug
 * file and the alternate file of itself. Each reply is one that the consumer accepts.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/runtime_sign.h"
#include "common/symbolizer/symbolizer.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

#define OFFSETS 8U

static void ask(struct symbolizer *symbolizer, const struct symbolize_request *request, int fd,
		union symbolizer_answer *answer)
{
	ssize_t bytes;

	memset(answer, 0xa5, sizeof(*answer)); /* the last request wrote here */
	bytes = symbolizer_answer(symbolizer, request, SYMBOLIZE_REQUEST_BYTES(request->count), fd, answer);
	HOLDS(bytes > 0);
	if (request->kind == SYMBOLIZE_NAMES)
		HOLDS(symbolizer_reply_is_valid(&answer->names, (size_t)bytes, request));
	else
		HOLDS(symbolizer_module_is_valid(&answer->module, (size_t)bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct symbolize_request module = { .kind = SYMBOLIZE_MODULE },
					      debug_file = { .kind = SYMBOLIZE_DEBUG_FILE };
	struct symbolize_request names = { .kind = SYMBOLIZE_NAMES, .count = OFFSETS };
	_cleanup_free_ union symbolizer_answer *answer = malloc(sizeof(*answer));
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);
	struct symbolizer symbolizer = { .module = NULL };
	struct input input = { data, bytes };
	uint32_t offset;

	for (uint32_t i = 0; i < OFFSETS; i++) {
		input_read(&input, &offset, sizeof(offset));
		names.offsets[i] = offset;
	}
	HOLDS(answer && fd >= 0 && write(fd, input.next, input.left) == (ssize_t)input.left);
	HOLDS(runtime_sign_is_valid(runtime_sign_find(fd)));
	ask(&symbolizer, &module, dup(fd), answer);
	ask(&symbolizer, &names, -1, answer);
	ask(&symbolizer, &debug_file, dup(fd), answer);
	ask(&symbolizer, &names, -1, answer);
	symbolizer_free(&symbolizer);
	return 0;
}
