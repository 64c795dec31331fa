/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elf_symbols.h owns the names of functions in an ELF file, from .symtab and .dynsym.
 */
#ifndef BOURDON_SYMBOLIZER_ELF_SYMBOLS_H
#define BOURDON_SYMBOLIZER_ELF_SYMBOLS_H

#include "consumer/symbolizer/protocol.h"

/*
 * SYMBOLIZER: answers `request` for the file into `ret_reply`, which it fills whole. Returns the number of
 * its bytes that are used. A file that is no ELF is a reply with count 0.
 */
size_t elf_symbols_answer(int fd, const struct symbolize_request *request, struct symbolize_reply *ret_reply);

#endif
