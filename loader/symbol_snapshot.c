/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/symbol_snapshot.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "common/system/files.h"

#include <bpf/bpf.h>
#include <string.h>

#define SNAPSHOT_BYTES_MAX (64UL << 20)

static int read_iterator(int link_fd, char **ret_text, size_t *ret_bytes)
{
	_cleanup_close_ int fd = bpf_iter_create(link_fd);

	return fd < 0 ? fd : file_read_all(fd, SNAPSHOT_BYTES_MAX, ret_text, ret_bytes);
}

struct symbol {
	long offset;
	char *line;
};

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *left = a, *right = b;

	return COMPARE(left->offset, right->offset) ?: strcmp(left->line, right->line);
}

/*
 * Sorts the lines of `text` into a new text: kallsyms sorts the kernel's symbols, then those of each module.
 */
static int sort_lines(char *text, size_t bytes, char **ret_sorted)
{
	_cleanup_free_ struct symbol *symbols = NULL;
	_cleanup_free_ char *sorted = malloc(bytes + 1);
	size_t count = 0, room = 0;
	char *to = sorted;

	if (!sorted)
		return -ENOMEM;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (array_make_room(symbols, count, room, 1UL))
			return -ENOMEM;
		symbols[count++] = (struct symbol){ strtol(line, NULL, 10), line };
	}
	if (count)
		qsort(symbols, count, sizeof(*symbols), compare_symbols);
	for (size_t i = 0; i < count; i++) {
		to = stpcpy(to, symbols[i].line);
		*to++ = '\n';
	}
	*to = '\0';
	*ret_sorted = TAKE_PTR(sorted);
	return 0;
}

int kernel_symbols_snapshot(int link_fd, bool *emit, char **ret_text, size_t *ret_bytes)
{
	_cleanup_free_ char *nothing = NULL, *text = NULL, *sorted = NULL;
	size_t bytes;
	int result = read_iterator(link_fd, &nothing, &bytes);

	*emit = true;
	if (!result)
		result = read_iterator(link_fd, &text, &bytes);
	if (!result)
		result = sort_lines(text, bytes, &sorted);
	if (result < 0)
		return result;
	*ret_text = TAKE_PTR(sorted);
	*ret_bytes = strlen(*ret_text);
	return *ret_bytes ? 0 : -ENOENT;
}
