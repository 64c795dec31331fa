/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a line with an offset, then any text as a snapshot of kernel symbols. The symbol found is within the
 * text; in a snapshot as the loader writes it, it is the one that a plain search finds.
 */
#include "consumer/symbols/kernel_symbols.h"
#include "tests/fuzz/fuzz.h"

struct plain {
	bool well_formed; /* "PLACE NAME" lines, ascending, with a newline behind each */
	bool found;
	long long place;
};

/* The last symbol that begins at or before the offset. */
static struct plain plain_search(const char *text, long long offset)
{
	struct plain plain = { .well_formed = true };
	long long before = INT64_MIN;

	while (*text) {
		long long place;
		char *name;

		place = strtoll(text, &name, 10);
		plain.well_formed &= (*text == '-' || (*text >= '0' && *text <= '9')) && *name == ' ' &&
				     name[1] > ' ' && place >= before && strcspn(text, "\n") < 600;
		text = strchr(text, '\n');
		if (!text || !plain.well_formed)
			return (struct plain){ 0 };
		text++;
		before = place;
		if (place > offset)
			continue;
		plain.found = true;
		plain.place = place;
	}
	plain.found = plain.found && (uint64_t)offset - (uint64_t)plain.place < KERNEL_SYMBOL_BYTES_MAX;
	return plain;
}

static void check(const char *text, size_t bytes, long long offset)
{
	const struct kernel_symbols symbols = { .text = text, .bytes = bytes };
	struct kernel_symbol symbol;
	bool found = kernel_symbols_find(&symbols, offset, &symbol);
	struct plain plain = { 0 };

	if (found) {
		HOLDS(symbol.offset <= offset);
		HOLDS((uint64_t)offset - (uint64_t)symbol.offset < KERNEL_SYMBOL_BYTES_MAX);
		HOLDS(symbol.name[0] && memchr(symbol.name, '\0', sizeof(symbol.name)));
		HOLDS(memchr(symbol.module, '\0', sizeof(symbol.module)));
	}
	if (!memchr(text, '\0', bytes)) {
		char *whole = copy_text(text, bytes);

		plain = plain_search(whole, offset);
		free(whole);
	}
	if (plain.well_formed) {
		HOLDS(found == plain.found);
		HOLDS(!found || symbol.offset == plain.place);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const uint8_t *newline = bytes ? memchr(data, '\n', bytes) : NULL;
	size_t first = newline ? (size_t)(newline - data) + 1 : bytes;
	char *offset = copy_text(data, first), *text = copy_bytes(data + first, bytes - first);

	check(text, bytes - first, strtoll(offset, NULL, 10));
	free(offset);
	free(text);
	return 0;
}
