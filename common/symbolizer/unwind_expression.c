/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/unwind_expression.h"

#include <dwarf.h>

#define OPERATIONS_MAX 9U /* of the longest form */

struct operation {
	uint8_t code;
	uint8_t base;    /* a register plus a number: its register */
	uint64_t number; /* operand; of a literal its value */
};

/* DW_OP_lit0 to lit31, and DW_OP_breg0 to breg31, stand for the first of them. */
static bool read_operation(struct dwarf_bytes *bytes, struct operation *ret_operation)
{
	uint8_t code = dwarf_bytes_u8(bytes);
	struct operation operation = { .code = code };

	switch (code) {
	case DW_OP_lit0 ... DW_OP_lit31:
		operation.code = DW_OP_lit0;
		operation.number = code - DW_OP_lit0;
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		operation.code = DW_OP_breg0;
		operation.base = (uint8_t)(code - DW_OP_breg0);
		operation.number = (uint64_t)dwarf_bytes_sleb(bytes);
		break;
	case DW_OP_bregx: {
		uint64_t base = dwarf_bytes_uleb(bytes);

		operation.code = DW_OP_breg0;
		operation.base = (uint8_t)base;
		operation.number = (uint64_t)dwarf_bytes_sleb(bytes);
		if (base > UINT8_MAX)
			return false;
		break;
	}
	case DW_OP_plus_uconst:
		operation.number = dwarf_bytes_uleb(bytes);
		break;
	case DW_OP_deref:
	case DW_OP_and:
	case DW_OP_ge:
	case DW_OP_shl:
	case DW_OP_plus:
		break;
	default:
		return false;
	}
	*ret_operation = operation;
	return !bytes->is_bad;
}

/* Returns their number, or 0 if there are none, too many, or others than those of the known forms. */
static size_t read_operations(struct dwarf_bytes bytes, struct operation into[OPERATIONS_MAX])
{
	size_t count = 0;

	for (; bytes.at < bytes.end; count++)
		if (count == OPERATIONS_MAX || !read_operation(&bytes, &into[count]))
			return 0;
	return count;
}

static bool is_base(const struct operation *operation, struct unwind_rule *rule)
{
	rule->cfa_register = operation->base;
	rule->cfa_offset = (__s32)operation->number;
	return operation->code == DW_OP_breg0 && (int64_t)operation->number == rule->cfa_offset;
}

/* rsp + 8 + (((rip & 15) >= n) << 3): binutils writes this for .plt, whose entries push from byte n on. */
static bool is_plt(const struct operation *operations, size_t count, struct unwind_rule *rule)
{
	static const uint8_t form[] = { DW_OP_breg0, DW_OP_breg0, DW_OP_lit0, DW_OP_and, DW_OP_lit0,
					DW_OP_ge,    DW_OP_lit0,  DW_OP_shl,  DW_OP_plus };

	for (size_t i = 0; i < sizeof(form); i++)
		if (count != sizeof(form) || operations[i].code != form[i])
			return false;
	rule->kind = UNWIND_CFA_PLT;
	rule->cfa_add = (__s32)operations[4].number;
	return rule->cfa_register == UNWIND_STACK_POINTER && operations[1].base == 16 &&
	       !operations[1].number && operations[2].number == 15 && operations[6].number == 3;
}

/* Memory at register plus offset, plus a constant: realigned stacks, signal frames, assembler code. */
static bool is_deref(const struct operation *operations, size_t count, struct unwind_rule *rule)
{
	bool adds_constant = count == 3 && operations[2].code == DW_OP_plus_uconst &&
			     operations[2].number <= INT32_MAX,
	     adds_zero = count == 4 && operations[2].code == DW_OP_lit0 && operations[3].code == DW_OP_plus;

	if (count < 2 || operations[1].code != DW_OP_deref || (count > 2 && !adds_constant && !adds_zero))
		return false;
	rule->kind = UNWIND_CFA_DEREF;
	rule->cfa_add = count > 2 ? (__s32)operations[2].number : 0;
	return true;
}

bool unwind_expression_cfa(struct dwarf_bytes expression, struct unwind_rule *rule)
{
	struct operation operations[OPERATIONS_MAX];
	size_t count = read_operations(expression, operations);

	rule->kind = UNWIND_CFA;
	return count && is_base(&operations[0], rule) &&
	       (count == 1 || is_plt(operations, count, rule) || is_deref(operations, count, rule));
}

bool unwind_expression_saved(struct dwarf_bytes expression, uint8_t *ret_where, int32_t *ret_at)
{
	struct operation operations[OPERATIONS_MAX];
	size_t count = read_operations(expression, operations);
	struct unwind_rule base;

	if (count != 1)
		return false;
	if (operations[0].code == DW_OP_plus_uconst) {
		*ret_where = UNWIND_AT_CFA;
		*ret_at = (int32_t)operations[0].number;
		return operations[0].number <= INT32_MAX;
	}
	*ret_where = operations[0].base == UNWIND_STACK_POINTER ? UNWIND_AT_STACK_POINTER
								: UNWIND_AT_FRAME_POINTER;
	*ret_at = (int32_t)operations[0].number;
	return is_base(&operations[0], &base) &&
	       (operations[0].base == UNWIND_STACK_POINTER || operations[0].base == UNWIND_FRAME_POINTER);
}
