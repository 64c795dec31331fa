/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_symbols.h names kernel frames. The loader's snapshot (loader/symbol_snapshot.h) is a text of 4 MiB; of it
 * only marks are in memory, and the part between two of them is read at each search.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_KERNEL_SYMBOLS_H
#define BOURDON_CONSUMER_SYMBOLS_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols {
	const char *text; /* NULL: no symbols, or those of `fd` */
	size_t bytes;
	int fd;
	struct kernel_symbols_mark *marks; /* NULL: there is no `fd` */
	uint32_t marks_count;
};

struct kernel_symbol {
	int64_t offset; /* of the symbol: from _text */
	char name[128];
	char module[64]; /* "" for the kernel itself */
};

/* Keeps a duplicate of `fd`. An empty file has no symbols. Returns 0 or -errno. */
int kernel_symbols_open(struct kernel_symbols *ret_symbols, int fd);
void kernel_symbols_close(struct kernel_symbols *symbols);

/*
 * Finds the symbol that contains the offset. kallsyms has no sizes: a symbol extends to the next one, but at
 * most KERNEL_SYMBOL_BYTES_MAX, because after the last symbol of a section lies something else.
 */
#define KERNEL_SYMBOL_BYTES_MAX (256 << 10)
bool kernel_symbols_find(const struct kernel_symbols *symbols, int64_t offset,
			 struct kernel_symbol *ret_symbol);

#endif
