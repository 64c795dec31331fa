/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elf_module.h owns a module while its offsets are asked for: the ELF file, those that it lacks and that were
 * handed over later, and what all of them together say is at an offset.
 */
#ifndef BOURDON_CONSUMER_SYMBOLIZER_ELF_MODULE_H
#define BOURDON_CONSUMER_SYMBOLIZER_ELF_MODULE_H

#include "consumer/symbolizer/protocol.h"

struct elf_module;

/* SYMBOLIZER: takes the descriptor over, whatever comes of it. NULL: not an ELF file, or no memory. */
struct elf_module *elf_module_open(int fd);
void elf_module_close(struct elf_module *module);

/*
 * SYMBOLIZER: takes the descriptor over. The file counts if it is what the module lacks: of the build id that
 * belongs to it or, where one of the two has none, of the CRC. Nothing has changed if it is not.
 */
void elf_module_add_file(struct elf_module *module, int fd);

/* SYMBOLIZER: what the module is, and what it still lacks. */
void elf_module_describe(const struct elf_module *module, struct symbolize_module *ret_reply);

/* SYMBOLIZER: answers as many of the offsets as there is room for. Returns the reply's bytes. */
size_t elf_module_name(struct elf_module *module, const struct symbolize_request *request,
		       struct symbolize_reply *ret_reply);

#endif
