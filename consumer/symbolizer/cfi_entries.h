/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cfi_entries.h owns which addresses the entries of an .eh_frame section are for: what libdw does not tell
 * without being asked for an address.
 */
#ifndef BOURDON_SYMBOLIZER_CFI_ENTRIES_H
#define BOURDON_SYMBOLIZER_CFI_ENTRIES_H

#include <gelf.h>
#include <stdint.h>

/* Virtual addresses: of the first byte, and the one behind the last. Another result than 0 ends the walk. */
typedef int cfi_entry_add(void *user, uint64_t begins, uint64_t ends);

/*
 * Every frame description entry of the file but those whose addresses are written in a way that is not known,
 * or are none: their code has no rules. 0, -ENODATA without the section, or what `add` returned.
 */
int cfi_entries_each(Elf *elf, cfi_entry_add *add, void *user);

#endif
