/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_table.h compiles a file's .eh_frame and .debug_frame, and of a Go program also its .gopclntab, into the rows that the
 * kernel programs unwind by (abi.h, unwind_*): each address range with one rule becomes a row, unless it is one of the steps of
 * another.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_UNWIND_TABLE_H
#define BOURDON_COMMON_SYMBOLIZER_UNWIND_TABLE_H

#include "common/abi/abi.h"

#include <stdint.h>

/*
 * Places are file offsets, so that users need not know the segments. A page's first_row counts from the
 * table's own first chunk, a row's rule from its own first rule. Rule 0 means no rule.
 */
struct unwind_table {
	uint64_t first_page; /* file offset of pages[0], in pages */
	uint32_t text_page;  /* the same of the page at which the first segment with code is mapped */
	struct unwind_page *pages;
	uint32_t pages_count;
	struct unwind_chunk *chunks;
	uint32_t chunks_count;
	struct unwind_rule *rules;
	uint32_t rules_count;
	uint32_t rows; /* number of rows used in the chunks */
};

/*
 * The number of the rule that a row stands for at a distance from it, found as by the programs (bpf/unwind.bpf.c). `number` is the
 * row's.
 */
uint32_t unwind_table_step(const struct unwind_rule *rules, uint32_t number, uint32_t distance);

/* Larger than any known file needs; a file beyond them gets no table. */
#define UNWIND_TABLE_PAGES_MAX (1U << 18)  /* 1 GiB of text */
#define UNWIND_TABLE_CHUNKS_MAX (1U << 13) /* 8 M rows */
#define UNWIND_TABLE_RULES_MAX 4096U       /* largest seen: 1,105, and 2,373 with steps */

/*
 * SYMBOLIZER: returns 0, -ENOTSUP if the file is no ELF file of this machine, -ENODATA without any of them,
 * -EFBIG beyond a limit above, -EBADMSG if nothing in it is usable, or -ENOMEM. The caller frees the table
 * with unwind_table_free().
 */
int unwind_table_compile(int elf_fd, struct unwind_table *ret_table);
void unwind_table_free(struct unwind_table *table);

#endif
