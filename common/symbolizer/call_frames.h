/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_frames.h executes call frame instructions (DWARF 5, 6.4.2; those of GNU are in the Linux Standard Base,
 * Core, 10.6) and gives the rule of each address. It follows only the registers that a rule has. DW_CFA_set_loc, which
 * no compiler writes into .eh_frame, is invalid here.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_CALL_FRAMES_H
#define BOURDON_COMMON_SYMBOLIZER_CALL_FRAMES_H

#include "common/abi/abi.h"
#include "common/symbolizer/dwarf_bytes.h"

/* How the frame keeps the value that a register had in its caller. */
struct call_frames_saved {
	uint8_t how;   /* call_frames.c's own */
	uint8_t where; /* UNWIND_AT_* */
	int32_t at;
};

enum call_frames_register {
	CALL_FRAMES_RETURN,
	CALL_FRAMES_POINTER,
	CALL_FRAMES_EXTRA,
	CALL_FRAMES_REGISTERS
};

/* The rules at one address. */
struct call_frames_row {
	uint8_t cfa_kind; /* call_frames.c's own */
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct dwarf_bytes cfa_expression;
	struct call_frames_saved saved[CALL_FRAMES_REGISTERS];
};

/* What the entries of functions have in common: a common information entry (CIE). */
struct call_frames_common {
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_register;
	uint8_t encoding; /* of the addresses: DW_EH_PE_* */
	bool is_signal;
	bool has_augmentation; /* each function's entry has a length, and data of so many bytes */
	struct call_frames_row initial;
};

/* From this address on the rule holds. A result other than 0 ends the execution. */
typedef int call_frames_add(void *user, uint64_t address, const struct unwind_rule *rule);

/* Executes the initial instructions of a CIE, all else of which is set. Returns false if they are invalid. */
bool call_frames_begin(struct call_frames_common *common, struct dwarf_bytes instructions);

/*
 * Calls `add` with ascending addresses, and at last with the end, or with the address of the first invalid
 * instruction, and a rule of kind UNWIND_NONE. Returns 0 or the result of `add`.
 */
int call_frames_execute(const struct call_frames_common *common, struct dwarf_bytes instructions,
			uint64_t begins, uint64_t ends, call_frames_add *add, void *user);

#endif
