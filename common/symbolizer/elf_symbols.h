/* SPDX-License-Identifier: GPL-2.0-only */
/* elf_symbols.h finds function names in the symbol tables of an ELF file. */
#ifndef BOURDON_COMMON_SYMBOLIZER_ELF_SYMBOLS_H
#define BOURDON_COMMON_SYMBOLIZER_ELF_SYMBOLS_H

#include "common/symbolizer/protocol.h"
#include "common/symbolizer/span.h"

#include <gelf.h>
#include <stdbool.h>

/* An offset in a module and the best symbol found for it so far. */
struct elf_place {
	uint64_t address; /* virtual address of the offset */
	bool mapped;      /* a segment contains the offset */
	const char *name; /* NULL: no symbol. Valid as long as its Elf */
	uint64_t begins;
	int rank;
	const char *label; /* elf_symbols_find_labels() */
	uint64_t label_begins;
	struct span span; /* the addresses of which all of this is true */
};

/* SYMBOLIZER: converts at most SYMBOLIZE_BATCH file offsets to virtual addresses. */
void elf_symbols_map(Elf *elf, const uint64_t *offsets, struct elf_place *places, uint32_t count);

/* SYMBOLIZER: as elf_symbols_map(), for known virtual addresses. */
void elf_symbols_place(const uint64_t *addresses, struct elf_place *places, uint32_t count);

/*
 * SYMBOLIZER: searches tables of this type, SHT_SYMTAB or SHT_DYNSYM, for the places without a symbol. A
 * symbol covers its size only: one without a size covers nothing, and code after the last function has no
 * name.
 */
void elf_symbols_find(Elf *elf, uint32_t type, struct elf_place *places, uint32_t count);

/*
 * SYMBOLIZER: for the places without a symbol, the label that assembler code has before them: the nearest symbol, if it has no
 * size. It reaches to the next symbol, or to the end of its section. Call it for whole tables alone (SHT_SYMTAB): where functions
 * are missing, it would reach over them.
 */
void elf_symbols_find_labels(Elf *elf, struct elf_place *places, uint32_t count);

#endif
