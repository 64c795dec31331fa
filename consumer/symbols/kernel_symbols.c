/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/kernel_symbols.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define LINE_BYTES 640U  /* KSYM_NAME_LEN is 512 */
#define MARK_BYTES 1024U /* between two marks: a text of 4 MiB has marks of 64 KiB */
#define PART_BYTES 8192U /* searched at once; an address with many names has some hundred bytes of them */

/* The first line that begins in a stretch of MARK_BYTES. */
struct kernel_symbols_mark {
	size_t at;
	int64_t offset; /* of the symbol */
};

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
	char copy[LINE_BYTES];
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

static bool find_in_text(const struct kernel_symbols *symbols, int64_t offset,
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

/* ---- the file ---- */

/* Marks the first line that begins in the stretch behind `at`, unless it is invalid. Returns 0 or -ENOMEM. */
static int add_mark(struct kernel_symbols *symbols, const struct kernel_symbols *text, size_t at,
		    uint32_t *room)
{
	struct kernel_symbol symbol;

	if (at) {
		/* a newline right before `at` means that a line begins there */
		size_t left = text->bytes - at + 1;
		const char *newline =
			memchr(text->text + at - 1, '\n', left < MARK_BYTES ? left : MARK_BYTES);

		if (!newline)
			return 0;
		at = (size_t)(newline - text->text) + 1;
	}
	if (at >= text->bytes)
		return 0;
	parse_line(text, at, &symbol);
	if (!symbol.name[0])
		return 0;
	if (array_make_room(symbols->marks, symbols->marks_count, *room, 1U))
		return -ENOMEM;
	symbols->marks[symbols->marks_count++] = (struct kernel_symbols_mark){ at, symbol.offset };
	return 0;
}

int kernel_symbols_open(struct kernel_symbols *ret_symbols, int fd)
{
	struct kernel_symbols symbols = { 0 }, text = { 0 };
	uint32_t room = 0;
	struct stat at;
	int result = 0;

	*ret_symbols = symbols;
	if (fstat(fd, &at))
		return -errno;
	if (!at.st_size)
		return 0;
	symbols.bytes = text.bytes = (size_t)at.st_size;
	symbols.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (symbols.fd < 0)
		return -errno;
	/* the loader replaces the file by rename, so its content stays the same; mapped for this one pass */
	text.text = mmap(NULL, text.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text.text == MAP_FAILED)
		result = -errno;
	for (size_t from = 0; from < text.bytes && !result; from += MARK_BYTES)
		result = add_mark(&symbols, &text, from, &room);
	if (text.text != MAP_FAILED)
		munmap((void *)text.text, text.bytes);
	if (!result && symbols.marks) {
		*ret_symbols = symbols;
		return 0;
	}
	close(symbols.fd);
	free(symbols.marks);
	return result;
}

void kernel_symbols_close(struct kernel_symbols *symbols)
{
	if (symbols->marks)
		close(symbols->fd);
	free(symbols->marks);
	*symbols = (struct kernel_symbols){ 0 };
}

/* The number of marks whose symbols begin at the offset or before it. */
static uint32_t marks_until(const struct kernel_symbols *symbols, int64_t offset)
{
	return array_partition_point(symbols->marks_count, i, symbols->marks[i].offset <= offset);
}

bool kernel_symbols_find(const struct kernel_symbols *symbols, int64_t offset,
			 struct kernel_symbol *ret_symbol)
{
	const struct kernel_symbols_mark *marks = symbols->marks;
	char part[PART_BYTES];
	struct kernel_symbols text = { .text = part };
	uint32_t behind, first;
	size_t end;
	ssize_t got;

	if (!marks)
		return find_in_text(symbols, offset, ret_symbol);
	first = behind = marks_until(symbols, offset);
	if (!behind)
		return false;
	end = behind < symbols->marks_count ? marks[behind].at : symbols->bytes;
	first--;
	/* the names of one address may begin before the mark */
	while (first && marks[first].offset == marks[behind - 1].offset &&
	       end - marks[first - 1].at <= PART_BYTES)
		first--;
	if (end - marks[first].at > PART_BYTES)
		return false; /* no lines of a snapshot */
	got = pread(symbols->fd, part, end - marks[first].at, (off_t)marks[first].at);
	text.bytes = got < 0 ? 0 : (size_t)got;
	return find_in_text(&text, offset, ret_symbol);
}
