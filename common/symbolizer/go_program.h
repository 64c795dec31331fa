/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * go_program.h finds the table of functions in the ELF file of a Go program, and what the table alone does not say: where its
 * text begins, and where its inlined functions are. The runtime's moduledata says both.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_GO_PROGRAM_H
#define BOURDON_COMMON_SYMBOLIZER_GO_PROGRAM_H

#include "common/symbolizer/go_functions.h"

#include <gelf.h>

/*
 * SYMBOLIZER: returns 0, -ENOENT if the file has no such table, or -EBADMSG if the table is damaged. The functions are valid as
 * long as the Elf. If the moduledata is missing, damaged or of an unknown release of Go, no inlined function is found.
 */
int go_program_open(struct go_functions *ret_functions, Elf *elf);

#endif
