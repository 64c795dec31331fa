/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int kernel_symbols_open(struct kernel_symbols *ret_symbols, int fd)
{
	struct stat at;
	void *text;

	if (fstat(fd, &at))
		return -errno;
	*ret_symbols = (struct kernel_symbols){ 0 };
	if (!at.st_size)
		return 0;
	/* the loader replaces the file by rename, so it never shrinks under the mapping */
	text = mmap(NULL, (size_t)at.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	*ret_symbols = (struct kernel_symbols){ text, (size_t)at.st_size };
	return 0;
}

void kernel_symbols_close(struct kernel_symbols *symbols)
{
	if (symbols->text)
		munmap((void *)symbols->text, symbols->bytes);
	*symbols = (struct kernel_symbols){ 0 };
}

/* Returns the start of the line that contains `at`. */
static size_t line_begin(const struct kernel_symbols *symbols, size_t at)
{
	while (at && symbols->text[at - 1] != '\n')
		at--;
	return at;
}

/*
 * Parses the line at `at`; a line that is invalid or too long gets no name. Returns the start of the next
 * line.
 */
static size_t parse_line(const struct kernel_symbols *symbols, size_t at, struct kernel_symbol *ret_symbol)
{
	const char *line = symbols->text + at, *end = memchr(line, '\n', symbols->bytes - at);
	char copy[640]; /* KSYM_NAME_LEN is 512 */
	size_t bytes = end ? (size_t)(end - line) : symbols->bytes - at, kept;
	long long offset;
	int name = 0;

	kept = bytes < sizeof(copy) - 1 ? bytes : sizeof(copy) - 1;
	memcpy(copy, line, kept);
	copy[kept] = '\0';
	ret_symbol->name[0] = ret_symbol->module[0] = '\0';
	ret_symbol->offset = INT64_MIN;
	if (sscanf(copy, "%lld %n", &offset, &name) == 1) {
		size_t name_bytes = strcspn(copy + name, " ");
		const char *module = copy + name + name_bytes;

		ret_symbol->offset = offset;
		snprintf(ret_symbol->name, sizeof(ret_symbol->name), "%.*s", (int)name_bytes, copy + name);
		if (*module)
			snprintf(ret_symbol->module, sizeof(ret_symbol->module), "%s", module + 1);
	}
	return at + bytes + !!end;
}

/* Padding before a function and aliases for early code are not the names that people use. */
static bool is_alias(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__pi_", 5);
}

bool kernel_symbols_find(const struct kernel_symbols *symbols, int64_t offset,
			 struct kernel_symbol *ret_symbol)
{
	size_t low = 0, high = symbols->bytes, at;
	struct kernel_symbol symbol;
	bool found = false;

	/* binary search in the text for the first line that begins after the offset */
	while (low < high) {
		size_t middle = line_begin(symbols, low + (high - low) / 2);
		size_t next = parse_line(symbols, middle, &symbol);

		if (symbol.offset <= offset)
			low = next;
		else
			high = middle;
	}
	/* go back over all names of the symbol before it; prefer the last that is no alias */
	for (at = low; at;) {
		at = line_begin(symbols, at - 1);
		parse_line(symbols, at, &symbol);
		if (found && symbol.offset != ret_symbol->offset)
			break;
		/* unsigned, because in an unsorted text the distance may have any value */
		if (!symbol.name[0] || (uint64_t)offset - (uint64_t)symbol.offset >= KERNEL_SYMBOL_BYTES_MAX)
			break;
		if (!found || is_alias(ret_symbol->name))
			*ret_symbol = symbol;
		found = true;
	}
	return found;
}
