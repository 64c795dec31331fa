/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/call_frames.h"

#include "common/symbolizer/unwind_expression.h"

#include <dwarf.h>

#define EXTRA 3U /* DWARF's number of rbx: System V ABI, AMD64, 3.6.2 */

#define REMEMBERED_MAX 16U /* compilers nest two at most */

enum { SAVED_UNDEFINED, SAVED_SAME, SAVED_AT, SAVED_ELSEWHERE };
enum { CFA_NONE, CFA_REGISTER, CFA_EXPRESSION };

struct execution {
	const struct call_frames_common *common;
	const struct call_frames_row *initial; /* NULL: these are the initial instructions */
	struct call_frames_row row;
	struct call_frames_row remembered[REMEMBERED_MAX];
	size_t remembered_count;
	struct dwarf_bytes bytes;
	uint64_t advance; /* by the last instruction; 0: not at all */
};

/* ---- rules ---- */

/* Returns a place for what is said of registers that no rule has. */
static struct call_frames_saved *saved_of(struct execution *execution, uint64_t number,
					  struct call_frames_saved *other)
{
	struct call_frames_saved *saved = execution->row.saved;

	if (number == execution->common->return_register)
		return &saved[CALL_FRAMES_RETURN];
	return number == UNWIND_FRAME_POINTER ? &saved[CALL_FRAMES_POINTER]
	       : number == EXTRA              ? &saved[CALL_FRAMES_EXTRA]
					      : other;
}

static struct call_frames_saved saved_at(int64_t at)
{
	return at == (int32_t)at ? (struct call_frames_saved){ SAVED_AT, UNWIND_AT_CFA, (int32_t)at }
				 : (struct call_frames_saved){ .how = SAVED_ELSEWHERE };
}

/* glibc's vfork() keeps its return address so, because its child returns over it. */
static struct call_frames_saved saved_in(const struct execution *execution, uint64_t number, uint64_t keeper)
{
	if (number != execution->common->return_register || keeper >= number)
		return (struct call_frames_saved){ .how = SAVED_ELSEWHERE };
	return (struct call_frames_saved){ SAVED_AT, UNWIND_IN_REGISTER, (int32_t)keeper };
}

static struct call_frames_saved saved_by(struct dwarf_bytes expression)
{
	struct call_frames_saved saved = { .how = SAVED_AT };

	if (expression.at == expression.end)
		return saved_at(0); /* the CFA itself */
	if (!unwind_expression_saved(expression, &saved.where, &saved.at))
		saved = (struct call_frames_saved){ .how = SAVED_ELSEWHERE };
	return saved;
}

static bool make_cfa(const struct call_frames_row *row, struct unwind_rule *rule)
{
	if (row->cfa_kind == CFA_EXPRESSION)
		return unwind_expression_cfa(row->cfa_expression, rule);
	rule->kind = UNWIND_CFA;
	rule->cfa_register = (__u8)row->cfa_register;
	rule->cfa_offset = (__s32)row->cfa_offset;
	return row->cfa_kind == CFA_REGISTER && row->cfa_register <= UINT8_MAX &&
	       row->cfa_offset == rule->cfa_offset;
}

/* Rarely needed: if it cannot be expressed, unwinding ends at a frame that needs it. */
static void set_extra(const struct call_frames_saved *saved, struct unwind_rule *rule)
{
	rule->extra_at = (__s16)saved->at;
	rule->extra = saved->how == SAVED_AT && rule->extra_at == saved->at ? saved->where
		      : saved->how == SAVED_AT || saved->how == SAVED_ELSEWHERE
			      ? UNWIND_ELSEWHERE
			      : UNWIND_SAME; /* not mentioned: rbx is callee-saved */
	if (rule->extra == UNWIND_SAME || rule->extra == UNWIND_ELSEWHERE)
		rule->extra_at = 0;
}

static struct unwind_rule make_rule(const struct call_frames_row *row, bool is_signal)
{
	const struct call_frames_saved *saved = row->saved;
	struct unwind_rule rule = { .is_signal = is_signal };

	/* undefined return address: the first function of a thread */
	if (saved[CALL_FRAMES_RETURN].how == SAVED_UNDEFINED)
		return (struct unwind_rule){ .kind = UNWIND_ROOT };
	if (saved[CALL_FRAMES_RETURN].how != SAVED_AT || saved[CALL_FRAMES_POINTER].how == SAVED_ELSEWHERE ||
	    !make_cfa(row, &rule))
		return (struct unwind_rule){ .kind = UNWIND_EXPRESSION };
	rule.return_address = saved[CALL_FRAMES_RETURN].where;
	rule.return_address_at = saved[CALL_FRAMES_RETURN].at;
	rule.frame_pointer = UNWIND_SAME;
	if (saved[CALL_FRAMES_POINTER].how == SAVED_AT) {
		rule.frame_pointer = saved[CALL_FRAMES_POINTER].where;
		rule.frame_pointer_at = saved[CALL_FRAMES_POINTER].at;
	}
	set_extra(&saved[CALL_FRAMES_EXTRA], &rule);
	return rule;
}

/* ---- instructions ---- */

static bool set_cfa(struct call_frames_row *row, uint64_t number, int64_t offset)
{
	row->cfa_kind = CFA_REGISTER;
	row->cfa_register = number;
	row->cfa_offset = offset;
	return true;
}

static bool restore(struct execution *execution, uint64_t number)
{
	struct call_frames_saved other, *saved = saved_of(execution, number, &other);

	if (!execution->initial)
		return false;
	if (saved != &other)
		*saved = execution->initial->saved[saved - execution->row.saved];
	return true;
}

static void save(struct execution *execution, uint64_t number, struct call_frames_saved how)
{
	struct call_frames_saved other;

	*saved_of(execution, number, &other) = how;
}

/* Offsets count in units of the data alignment; too large a product is as good as any other wrong offset. */
static int64_t factored(const struct execution *execution, int64_t offset)
{
	int64_t product;

	return __builtin_mul_overflow(offset, execution->common->data_alignment, &product) ? INT64_MAX
											   : product;
}

static int64_t factored_uleb(struct execution *execution)
{
	return factored(execution, (int64_t)dwarf_bytes_uleb(&execution->bytes));
}

/* -INT64_MIN is no int64_t */
static int64_t negated(int64_t offset)
{
	int64_t result;

	return __builtin_sub_overflow(0, offset, &result) ? INT64_MAX : result;
}

static int64_t factored_sleb(struct execution *execution)
{
	return factored(execution, dwarf_bytes_sleb(&execution->bytes));
}

static struct dwarf_bytes take_block(struct dwarf_bytes *bytes)
{
	uint64_t count = dwarf_bytes_uleb(bytes);

	return dwarf_bytes_take(bytes, count);
}

static bool advance(struct execution *execution, uint64_t delta)
{
	return !__builtin_mul_overflow(delta, execution->common->code_alignment, &execution->advance);
}

/* Those about the canonical frame address. Returns -1 for another one, or whether it is valid. */
static int execute_cfa(struct execution *execution, uint8_t code)
{
	struct dwarf_bytes *bytes = &execution->bytes;
	struct call_frames_row *row = &execution->row;
	uint64_t number;

	switch (code) {
	case DW_CFA_def_cfa:
		number = dwarf_bytes_uleb(bytes);
		return set_cfa(row, number, (int64_t)dwarf_bytes_uleb(bytes));
	case DW_CFA_def_cfa_sf:
		number = dwarf_bytes_uleb(bytes);
		return set_cfa(row, number, factored_sleb(execution));
	case DW_CFA_def_cfa_register:
		row->cfa_register = dwarf_bytes_uleb(bytes);
		return row->cfa_kind == CFA_REGISTER;
	case DW_CFA_def_cfa_offset:
		row->cfa_offset = (int64_t)dwarf_bytes_uleb(bytes);
		return row->cfa_kind == CFA_REGISTER;
	case DW_CFA_def_cfa_offset_sf:
		row->cfa_offset = factored_sleb(execution);
		return row->cfa_kind == CFA_REGISTER;
	case DW_CFA_def_cfa_expression:
		row->cfa_kind = CFA_EXPRESSION;
		row->cfa_expression = take_block(bytes);
		return true;
	default:
		return -1;
	}
}

/* Those about a register. The same results. */
static int execute_register(struct execution *execution, uint8_t code)
{
	struct dwarf_bytes *bytes = &execution->bytes;
	uint64_t number;

	switch (code) {
	case DW_CFA_offset_extended:
		number = dwarf_bytes_uleb(bytes);
		save(execution, number, saved_at(factored_uleb(execution)));
		return true;
	case DW_CFA_offset_extended_sf:
		number = dwarf_bytes_uleb(bytes);
		save(execution, number, saved_at(factored_sleb(execution)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		number = dwarf_bytes_uleb(bytes);
		save(execution, number, saved_at(negated(factored_uleb(execution))));
		return true;
	case DW_CFA_restore_extended:
		return restore(execution, dwarf_bytes_uleb(bytes));
	case DW_CFA_undefined:
		save(execution, dwarf_bytes_uleb(bytes),
		     (struct call_frames_saved){ .how = SAVED_UNDEFINED });
		return true;
	case DW_CFA_same_value:
		save(execution, dwarf_bytes_uleb(bytes), (struct call_frames_saved){ .how = SAVED_SAME });
		return true;
	case DW_CFA_register:
		number = dwarf_bytes_uleb(bytes);
		save(execution, number, saved_in(execution, number, dwarf_bytes_uleb(bytes)));
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf: /* the second operand takes as many bytes with a sign as without */
		number = dwarf_bytes_uleb(bytes);
		dwarf_bytes_uleb(bytes);
		save(execution, number, (struct call_frames_saved){ .how = SAVED_ELSEWHERE });
		return true;
	case DW_CFA_val_expression:
		number = dwarf_bytes_uleb(bytes);
		take_block(bytes);
		save(execution, number, (struct call_frames_saved){ .how = SAVED_ELSEWHERE });
		return true;
	case DW_CFA_expression:
		number = dwarf_bytes_uleb(bytes);
		save(execution, number, saved_by(take_block(bytes)));
		return true;
	default:
		return -1;
	}
}

static bool execute_other(struct execution *execution, uint8_t code)
{
	struct dwarf_bytes *bytes = &execution->bytes;

	switch (code) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_advance_loc1:
		return advance(execution, dwarf_bytes_u8(bytes));
	case DW_CFA_advance_loc2:
		return advance(execution, dwarf_bytes_number(bytes, 2));
	case DW_CFA_advance_loc4:
		return advance(execution, dwarf_bytes_number(bytes, 4));
	case DW_CFA_MIPS_advance_loc8:
		return advance(execution, dwarf_bytes_number(bytes, 8));
	case DW_CFA_remember_state:
		if (execution->remembered_count == REMEMBERED_MAX)
			return false;
		execution->remembered[execution->remembered_count++] = execution->row;
		return true;
	case DW_CFA_restore_state:
		if (!execution->remembered_count)
			return false;
		execution->row = execution->remembered[--execution->remembered_count];
		return true;
	case DW_CFA_GNU_args_size:
		dwarf_bytes_uleb(bytes);
		return true;
	default:
		return false;
	}
}

/* Executes the next instruction. Returns false if it is invalid. */
static bool execute_next(struct execution *execution)
{
	uint8_t code = dwarf_bytes_u8(&execution->bytes), operand = code & 0x3f;
	int result;

	execution->advance = 0;
	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(execution, operand);
	case DW_CFA_offset:
		save(execution, operand, saved_at(factored_uleb(execution)));
		return !execution->bytes.is_bad;
	case DW_CFA_restore:
		return restore(execution, operand);
	}
	result = execute_cfa(execution, code);
	if (result < 0)
		result = execute_register(execution, code);
	if (result < 0)
		result = execute_other(execution, code);
	return result && !execution->bytes.is_bad;
}

bool call_frames_begin(struct call_frames_common *common, struct dwarf_bytes instructions)
{
	/* callee-saved registers are the caller's until something else is said: System V ABI, AMD64, 3.2.1 */
	struct execution execution = { .common = common,
				       .bytes = instructions,
				       .row.saved = { [CALL_FRAMES_POINTER] = { .how = SAVED_SAME },
						      [CALL_FRAMES_EXTRA] = { .how = SAVED_SAME } } };

	while (execution.bytes.at < execution.bytes.end)
		if (!execute_next(&execution) || execution.advance) /* there is no address yet */
			return false;
	common->initial = execution.row;
	return true;
}

static int add_row(const struct execution *execution, uint64_t at, call_frames_add *add, void *user)
{
	struct unwind_rule rule = make_rule(&execution->row, execution->common->is_signal);

	return add(user, at, &rule);
}

int call_frames_execute(const struct call_frames_common *common, struct dwarf_bytes instructions,
			uint64_t begins, uint64_t ends, call_frames_add *add, void *user)
{
	static const struct unwind_rule none = { .kind = UNWIND_NONE };
	struct execution execution;
	uint64_t at = begins, next;
	int result = 0;

	execution.common = common;
	execution.initial = &common->initial;
	execution.row = common->initial;
	execution.remembered_count = 0; /* the array is not cleared: it is larger than most entries */
	execution.bytes = instructions;
	while (!result && at < ends && execution.bytes.at < execution.bytes.end) {
		if (!execute_next(&execution) || __builtin_add_overflow(at, execution.advance, &next))
			return add(user, at, &none);
		if (execution.advance)
			result = add_row(&execution, at, add, user);
		at = next;
	}
	if (!result && at < ends)
		result = add_row(&execution, at, add, user);
	return result ? result : add(user, ends, &none);
}
