/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any bytes as the table of a Go program's functions, with the tree of inlined functions before it; or, if the first byte
 * is odd, as the program. What is found is in the bytes, and one that the consumer accepts.
 */
#include "common/symbolizer/go_program.h"
#include "tests/fuzz/fuzz.h"

#define FUNCTIONS 24U
#define ADDRESSES 4U

static void find(const struct go_functions *functions, uint64_t address, const uint8_t *bytes, size_t count)
{
	struct source_frame frames[SYMBOLIZE_DEPTH];
	struct span span = SPAN_ALL;
	uint32_t found = go_functions_find(functions, address, frames, &span);

	HOLDS(found <= SYMBOLIZE_DEPTH);
	for (uint32_t i = 0; i < found; i++) {
		const uint8_t *name = (const uint8_t *)frames[i].name,
			      *file = (const uint8_t *)frames[i].file;

		HOLDS(name >= bytes && name < bytes + count && *name && strlen(frames[i].name) < count);
		HOLDS(!file || (file >= bytes && file < bytes + count && strlen(frames[i].file) < count));
		HOLDS(!file == !frames[i].line && frames[i].line <= INT32_MAX);
		HOLDS(frames[i].begins <= address && address - frames[i].begins <= INT64_MAX);
	}
}

/* The first functions, and a few addresses of the input. */
static void find_all(const struct go_functions *functions, const uint32_t *addresses, const uint8_t *bytes,
		     size_t count)
{
	for (uint64_t i = 0; i < functions->count && i < FUNCTIONS; i++) {
		uint64_t begins = go_functions_entry(functions, i),
			 ends = go_functions_entry(functions, i + 1);

		HOLDS(begins <= ends);
		find(functions, functions->text + begins, bytes, count);
		find(functions, functions->text + begins + (ends - begins) / 2, bytes, count);
	}
	for (uint32_t i = 0; i < ADDRESSES; i++)
		find(functions, functions->text + addresses[i], bytes, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	bool is_program = input_byte(&input) & 1;
	uint32_t addresses[ADDRESSES];
	struct go_functions functions;
	uint16_t trees;
	uint8_t *copy;
	size_t count;
	Elf *elf;

	input_read(&input, addresses, sizeof(addresses));
	input_read(&input, &trees, sizeof(trees));
	count = input.left;
	copy = copy_bytes(input.next, count);
	if (is_program) {
		elf_version(EV_CURRENT);
		elf = elf_memory((char *)copy, count);
		if (elf && !go_program_open(&functions, elf))
			find_all(&functions, addresses, copy, count);
		elf_end(elf);
	} else if (trees <= count && !go_functions_open(&functions, copy + trees, count - trees)) {
		functions.trees = (struct go_bytes){ copy, trees };
		find_all(&functions, addresses, copy, count);
	}
	free(copy);
	return 0;
}
