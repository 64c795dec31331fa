/* SPDX-License-Identifier: GPL-2.0-only */
/* elf_module.h names offsets in a module: from the ELF file, and from debug files handed over later. */
#ifndef BOURDON_COMMON_SYMBOLIZER_ELF_MODULE_H
#define BOURDON_COMMON_SYMBOLIZER_ELF_MODULE_H

#include "common/symbolizer/protocol.h"

struct elf_module;

/*
 * SYMBOLIZER: takes ownership of the descriptor, also on error. Returns NULL if the file is no ELF file or
 * memory is exhausted.
 */
struct elf_module *elf_module_open(int fd);
void elf_module_close(struct elf_module *module);

/*
 * SYMBOLIZER: takes ownership of the descriptor. Uses the file if the module lacks it: its build id must
 * match or, if either has none, its CRC. Otherwise nothing changes.
 */
void elf_module_add_file(struct elf_module *module, int fd);

/* SYMBOLIZER: describes the module and what it still lacks. */
void elf_module_describe(const struct elf_module *module, struct symbolize_module *ret_reply);

/* SYMBOLIZER: answers as many offsets as fit into the reply. Returns the reply's size in bytes. */
size_t elf_module_name(struct elf_module *module, const struct symbolize_request *request,
		       struct symbolize_reply *ret_reply);

#endif
