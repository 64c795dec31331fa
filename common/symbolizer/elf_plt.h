/* SPDX-License-Identifier: GPL-2.0-only */
/* elf_plt.h names the entries of an x86 procedure linkage table by the functions that they lead to. */
#ifndef BOURDON_COMMON_SYMBOLIZER_ELF_PLT_H
#define BOURDON_COMMON_SYMBOLIZER_ELF_PLT_H

#include "common/symbolizer/protocol.h"
#include "common/symbolizer/span.h"

#include <gelf.h>
#include <stdbool.h>

struct plt_entry {
	char name[SYMBOLIZE_NAME_BYTES]; /* as a debugger shows it: write@plt */
	uint64_t begins;
};

/*
 * SYMBOLIZER: finds the entry that has the address. Returns false if it lies in no such table, or in the entry that calls the
 * dynamic loader. Narrows the span to the entry, or to what is outside of all of them.
 */
bool elf_plt_find(Elf *elf, uint64_t address, struct plt_entry *ret_entry, struct span *span);

#endif
