/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elf_symbols.h owns the names of functions in the symbol tables of an ELF file.
 */
#ifndef BOURDON_SYMBOLIZER_ELF_SYMBOLS_H
#define BOURDON_SYMBOLIZER_ELF_SYMBOLS_H

#include "consumer/symbolizer/protocol.h"

#include <gelf.h>
#include <stdbool.h>

/* A place in a module, and the best symbol so far that covers it. */
struct elf_place {
	uint64_t address; /* the offset's virtual address */
	bool mapped;      /* a segment holds the offset */
	const char *name; /* NULL: no symbol covers it. Valid as long as the Elf that it was found in. */
	uint64_t begins;
	int rank;
};

/* SYMBOLIZER: where the offsets, at most SYMBOLIZE_BATCH of them, are in the module's address space. */
void elf_symbols_map(Elf *elf, const uint64_t *offsets, struct elf_place *places, uint32_t count);

/* SYMBOLIZER: the same where the addresses are known. */
void elf_symbols_place(const uint64_t *addresses, struct elf_place *places, uint32_t count);

/*
 * SYMBOLIZER: looks in tables of this type, SHT_SYMTAB or SHT_DYNSYM, for those places that have no symbol
 * yet. A symbol covers what its size says; one without a size covers nothing, and what lies behind the last
 * function has no name.
 */
void elf_symbols_find(Elf *elf, uint32_t type, struct elf_place *places, uint32_t count);

#endif
