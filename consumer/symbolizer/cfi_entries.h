/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cfi_entries.h lists the address ranges of an .eh_frame section's entries. libdw itself only answers
 * questions about single addresses.
 */
#ifndef BOURDON_SYMBOLIZER_CFI_ENTRIES_H
#define BOURDON_SYMBOLIZER_CFI_ENTRIES_H

#include <gelf.h>
#include <stdint.h>

/*
 * Virtual addresses: first byte, and first byte after the range. A result other than 0 stops the iteration.
 */
typedef int cfi_entry_add(void *user, uint64_t begins, uint64_t ends);

/*
 * Calls `add` for every frame description entry of the file. Skips entries whose addresses are absent or in
 * an unsupported encoding; their code gets no rules. Returns 0, -ENODATA if there is no .eh_frame, or the
 * result of `add`.
 */
int cfi_entries_each(Elf *elf, cfi_entry_add *add, void *user);

#endif
