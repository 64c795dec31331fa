/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_expression.h recognizes the DWARF expressions (DWARF 5, 2.5) of call frame information that a rule
 * for the kernel programs can hold. There are few: binutils writes one for .plt, GCC one for functions that
 * align their stack, and the C library some for signal frames and assembler code.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_UNWIND_EXPRESSION_H
#define BOURDON_COMMON_SYMBOLIZER_UNWIND_EXPRESSION_H

#include "common/abi/abi.h"
#include "common/symbolizer/dwarf_bytes.h"

/* DWARF register numbers: System V ABI, AMD64, 3.6.2 */
#define UNWIND_FRAME_POINTER 6U
#define UNWIND_STACK_POINTER 7U

/* Sets kind, cfa_register, cfa_offset and cfa_add of the rule. Returns false, with them undefined, if it cannot. */
bool unwind_expression_cfa(struct dwarf_bytes expression, struct unwind_rule *rule);

/*
 * Where a register is saved: the address is the expression's value, which is evaluated with the CFA on the
 * stack. Returns false if it is of no known form.
 */
bool unwind_expression_saved(struct dwarf_bytes expression, uint8_t *ret_where, int32_t *ret_at);

#endif
