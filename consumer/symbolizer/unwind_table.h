/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_table.h owns the way from a file's .eh_frame to the rows by which the programs walk stacks (abi.h,
 * unwind_*). libdw runs the call frame instructions; here each range of addresses with one rule becomes a
 * row.
 */
#ifndef BOURDON_SYMBOLIZER_UNWIND_TABLE_H
#define BOURDON_SYMBOLIZER_UNWIND_TABLE_H

#include "common/abi.h"

#include <stdint.h>

/*
 * Places are offsets in the file, so that nobody else has to know its segments. A page's first_row counts
 * from the table's own first chunk, a row's rule from its own first rule, which is no. 0: none.
 */
struct unwind_table {
	uint64_t first_page; /* the file offset of pages[0], in pages */
	struct unwind_page *pages;
	uint32_t pages_count;
	struct unwind_chunk *chunks;
	uint32_t chunks_count;
	struct unwind_rule *rules;
	uint32_t rules_count;
	uint32_t rows; /* that are used, of the chunks' */
};

/* More than any file has that is known; what exceeds them gets no table. */
#define UNWIND_TABLE_PAGES_MAX (1U << 18)  /* 1 GiB of text */
#define UNWIND_TABLE_CHUNKS_MAX (1U << 13) /* 8 M rows */
#define UNWIND_TABLE_RULES_MAX 4096U       /* seen: 600 */

/*
 * SYMBOLIZER: 0, -ENOTSUP for a file that is no ELF of this machine, -ENODATA for one without .eh_frame,
 * -EFBIG where a limit above is exceeded, -EBADMSG where nothing of it can be used, or -ENOMEM. The caller
 * frees with unwind_table_free().
 */
int unwind_table_compile(int elf_fd, struct unwind_table *ret_table);
void unwind_table_free(struct unwind_table *table);

#endif
