/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/go_frames.h"

#include "common/symbolizer/go_program.h"

#include <string.h>

#define WORD 8
#define RSP 7U /* DWARF's numbers: System V ABI, AMD64, 3.6.2 */
#define RBP 6U

/* struct ucontext of the kernel: where a signal's handler returns, the stack pointer points to it. */
#define CONTEXT_RBP 120
#define CONTEXT_RBX 128
#define CONTEXT_RSP 160
#define CONTEXT_RIP 168

struct reading {
	const struct go_functions *functions;
	call_frames_add *add;
	eh_frame_begin *begin;
	void *user;
	struct unwind_rule
		to_goroutine; /* UNWIND_GO_SWITCH; UNWIND_NONE: the runtime's structures are unknown */
};

/* ---- rules ---- */

static struct unwind_rule rule_of_depth(int32_t depth, bool has_saved_rbp)
{
	struct unwind_rule rule = { .kind = UNWIND_CFA,
				    .cfa_register = RSP,
				    .cfa_offset = depth + WORD,
				    .return_address = UNWIND_AT_CFA,
				    .return_address_at = -WORD };

	if (has_saved_rbp) {
		rule.frame_pointer = UNWIND_AT_CFA;
		rule.frame_pointer_at = -2 * WORD;
	}
	/* to Go all registers are the callee's: a C function that called Go is found by its own rbx alone */
	rule.extra = UNWIND_ELSEWHERE;
	return rule;
}

static const struct unwind_rule no_rule = { .kind = UNWIND_NONE }, root = { .kind = UNWIND_ROOT },
				not_followed = { .kind = UNWIND_EXPRESSION };

/* A function that moves to another stack and returns leaves its frame pointer where its frame is. */
static const struct unwind_rule by_frame_pointer = { .kind = UNWIND_CFA_MOVED,
						     .cfa_register = RBP,
						     .cfa_offset = 2 * WORD,
						     .return_address = UNWIND_AT_CFA,
						     .return_address_at = -WORD,
						     .frame_pointer = UNWIND_AT_CFA,
						     .frame_pointer_at = -2 * WORD,
						     .extra = UNWIND_ELSEWHERE };

static const struct unwind_rule of_signal = { .kind = UNWIND_CFA_DEREF,
					      .cfa_register = RSP,
					      .cfa_offset = CONTEXT_RSP,
					      .is_signal = 1,
					      .return_address = UNWIND_AT_STACK_POINTER,
					      .return_address_at = CONTEXT_RIP,
					      .frame_pointer = UNWIND_AT_STACK_POINTER,
					      .frame_pointer_at = CONTEXT_RBP,
					      .extra = UNWIND_AT_STACK_POINTER,
					      .extra_at = CONTEXT_RBX };

/* ---- machine code ---- */

#define NOWHERE UINT64_MAX

/* Of one function. Positions count from its first byte; those beyond it hold nothing. */
static struct go_bytes code_of(const struct go_functions *functions, const struct go_function *function)
{
	uint64_t into = function->begins - functions->text;

	if (into > functions->code.count || function->bytes > functions->code.count - into)
		return (struct go_bytes){ NULL, 0 };
	return (struct go_bytes){ functions->code.at + into, function->bytes };
}

static bool code_is(struct go_bytes code, uint64_t at, const char *bytes, size_t count)
{
	return at <= code.count && count <= code.count - at && !memcmp(code.at + at, bytes, count);
}

/* Returns where these bytes are from a position on, or NOWHERE. */
static uint64_t find_bytes(struct go_bytes code, uint64_t from, const char *bytes, size_t count)
{
	const uint8_t *found = from < code.count ? memmem(code.at + from, code.count - from, bytes, count)
						 : NULL;

	return found ? (uint64_t)(found - code.at) : NOWHERE;
}

#define IS(code, at, bytes) code_is(code, at, bytes, sizeof(bytes) - 1)
#define FIND(code, from, bytes) find_bytes(code, from, bytes, sizeof(bytes) - 1)

static bool read_code(struct go_bytes code, uint64_t at, unsigned int width, int32_t *ret_number)
{
	uint64_t number;

	if (!go_bytes_number(code, at, width, &number))
		return false;
	*ret_number = width == 1 ? (int8_t)number : (int32_t)number;
	return true;
}

/*
 * Returns the position behind the instruction that moves to another stack, by loading the stack pointer from a register's address
 * or from that plus a byte: mov (%reg),%rsp or mov N(%reg),%rsp.
 */
static uint64_t behind_move(struct go_bytes code)
{
	for (uint64_t at = 0; at + 4 <= code.count; at++) {
		bool is_load = (code.at[at] & 0xfe) == 0x48 && code.at[at + 1] == 0x8b;
		uint8_t operands = is_load ? code.at[at + 2] : 0, base = operands & 7;

		if ((operands & 0xf8) == 0x60 && base != 4)
			return at + 4;
		if ((operands & 0xf8) == 0x20 && base != 4 && base != 5)
			return at + 3;
	}
	return NOWHERE;
}

/*
 * Reads where things are in the runtime's structures, from the way back that runtime.systemstack goes behind its call:
 * mov %fs:TLS,%rax; mov M(%rax),%rbx; mov GOROUTINE(%rbx),%rax; mov %rax,%fs:TLS; mov POINTER(%rax),%rsp
 */
static bool read_way_back(struct go_bytes code, uint64_t at, struct unwind_rule *rule)
{
	int32_t m, goroutine, pointer;
	bool is_loaded =
		IS(code, at, "\x48\xc7\xc1"); /* mov $TLS,%rcx: of programs that are loaded anywhere */

	if (!is_loaded && !IS(code, at, "\x64\x48\x8b\x04\x25"))
		return false;
	if (!read_code(code, at + (is_loaded ? 3 : 5), 4, &rule->cfa_add))
		return false;
	at += is_loaded ? 7 : 9;
	if (is_loaded) {
		if (!IS(code, at, "\x64\x48\x8b\x01")) /* mov %fs:(%rcx),%rax */
			return false;
		at += 4;
	}
	if (!IS(code, at, "\x48\x8b\x58") || !read_code(code, at + 3, 1, &m) || m < 0 ||
	    !IS(code, at + 4, "\x48\x8b\x83") || !read_code(code, at + 7, 4, &goroutine) ||
	    goroutine != (int16_t)goroutine)
		return false;
	at += 11;
	at += is_loaded ? 4 : 9; /* mov %rax,%fs:(%rcx), or mov %rax,%fs:TLS */
	if (!IS(code, at, "\x48\x8b\x60") || !read_code(code, at + 3, 1, &pointer))
		return false;
	rule->kind = UNWIND_GO_SWITCH;
	rule->cfa_register = (__u8)m;
	rule->extra_at = (__s16)goroutine;
	rule->frame_pointer_at = pointer;
	return true;
}

/* Whether the bytes behind which the stack pointer is `depth` below the return address have saved rbp, and since when. */
static bool saves_rbp(struct go_bytes code, uint64_t at, int32_t depth, uint64_t *ret_since)
{
	int32_t offset;

	*ret_since = at;
	if (depth == WORD && at && code_is(code, at - 1, "\x55", 1)) /* push %rbp */
		return true;
	/* until Go 1.20: mov %rbp,N(%rsp), with N in a byte or a word */
	if (IS(code, at, "\x48\x89\x6c\x24") && read_code(code, at + 4, 1, &offset))
		*ret_since = at + 5;
	else if (IS(code, at, "\x48\x89\xac\x24") && read_code(code, at + 4, 4, &offset))
		*ret_since = at + 8;
	else
		return false;
	return offset == depth - WORD;
}

/* Returns the position behind the instruction at `at` that makes rbp the frame pointer, or NOWHERE. */
static uint64_t behind_frame_pointer(struct go_bytes code, uint64_t at)
{
	return IS(code, at, "\x48\x89\xe5")       ? at + 3 /* mov %rsp,%rbp */
	       : IS(code, at, "\x48\x8d\x6c\x24") ? at + 5 /* lea N(%rsp),%rbp */
	       : IS(code, at, "\x48\x8d\xac\x24") ? at + 8
						  : NOWHERE;
}

/* ---- functions ---- */

static int put(const struct reading *reading, const struct go_function *function, uint64_t into,
	       const struct unwind_rule *rule)
{
	return reading->add(reading->user, function->begins + into, rule);
}

/* One rule for the whole function. */
static int add_one(const struct reading *reading, const struct go_function *function,
		   const struct unwind_rule *rule)
{
	int result = reading->begin(reading->user, function->begins);

	if (!result)
		result = put(reading, function, 0, rule);
	return result ? result : put(reading, function, function->bytes, &no_rule);
}

/*
 * The rules of a frame that is on one stack, up to `until`. A function that moves to another one, and whose frame pointer stays
 * where its frame is, has that from there on; one without has no rule.
 */
static int add_depths(const struct reading *reading, struct go_function function, uint64_t until)
{
	struct go_bytes code = code_of(reading->functions, &function);
	uint64_t at = 0, ends = 0, since = NOWHERE, pointer = NOWHERE;
	int32_t depth = 0;
	bool has_changed = false, has_saved = false;
	int result = 0;

	while (!result && at < until && go_functions_depth(&function, &ends, &depth)) {
		struct unwind_rule rule = rule_of_depth(depth, false);

		if (depth < 0)
			return put(reading, &function, at, &no_rule);
		if (depth && !has_changed) {
			has_changed = true;
			has_saved = saves_rbp(code, at, depth, &since);
			pointer = has_saved ? behind_frame_pointer(code, since) : NOWHERE;
		}
		if (depth && has_saved && at < since && since < ends) {
			result = put(reading, &function, at, &rule);
			at = since;
		}
		if (depth && has_saved)
			rule = rule_of_depth(depth, true);
		if (!result && function.is_moving && pointer != NOWHERE && depth && at < pointer &&
		    pointer < ends) {
			result = put(reading, &function, at, &rule);
			at = pointer;
		}
		if (function.is_moving && depth && at >= pointer)
			rule = by_frame_pointer;
		else if (function.is_moving && depth && !has_saved)
			rule = no_rule;
		if (!result)
			result = put(reading, &function, at, &rule);
		at = ends;
	}
	return result;
}

static int add_function(const struct reading *reading, const struct go_function *function)
{
	int result = reading->begin(reading->user, function->begins);

	if (!result)
		result = add_depths(reading, *function, function->bytes);
	return result ? result : put(reading, function, function->bytes, &no_rule);
}

/* Returns how far below the return address the stack pointer is at a position, before a switch. */
static int32_t depth_at(struct go_function function, uint64_t at)
{
	uint64_t ends = 0;
	int32_t depth = 0;

	while (ends <= at && go_functions_depth(&function, &ends, &depth))
		;
	return ends > at ? depth : 0;
}

/* The rule from a switch on, which is at this position. */
static struct unwind_rule switch_at(const struct reading *reading, const struct go_function *function,
				    uint64_t at)
{
	struct unwind_rule rule = reading->to_goroutine;
	int32_t depth = depth_at(*function, at);

	if (rule.kind == UNWIND_NONE)
		return rule;
	rule.cfa_offset = depth + WORD;
	rule.return_address = UNWIND_AT_CFA;
	rule.return_address_at = -WORD;
	rule.frame_pointer = depth ? UNWIND_AT_CFA : UNWIND_SAME;
	return rule;
}

/* runtime.systemstack calls a function on the scheduler's stack, and returns to the goroutine's. */
static int add_systemstack(const struct reading *reading, const struct go_function *function)
{
	struct go_bytes code = code_of(reading->functions, function);
	uint64_t call = FIND(code, 0, "\x48\x89\xfa\x48\x8b\x3f\xff\xd7"), back = NOWHERE;
	struct unwind_rule rule = { .kind = UNWIND_NONE };
	int result = reading->begin(reading->user, function->begins);

	if (call != NOWHERE) {
		rule = switch_at(reading, function, call);
		back = FIND(code, call, "\x48\x8b\x60");
	}
	if (back == NOWHERE)
		return result ? result : put(reading, function, function->bytes, &no_rule);
	if (!result)
		result = add_depths(reading, *function, call);
	if (!result)
		result = put(reading, function, call, &rule);
	rule = rule_of_depth(depth_at(*function, back), depth_at(*function, back) > 0);
	if (!result)
		result = put(reading, function, back + 4, &rule);
	return result ? result : put(reading, function, function->bytes, &no_rule);
}

/* From its move to the scheduler's stack on, the function has this rule. */
static int add_mover(const struct reading *reading, const struct go_function *function,
		     const struct unwind_rule *rule)
{
	uint64_t behind = behind_move(code_of(reading->functions, function));
	int result = reading->begin(reading->user, function->begins);

	if (!result)
		result = add_depths(reading, *function, behind < function->bytes ? behind : function->bytes);
	if (!result && behind < function->bytes)
		result = put(reading, function, behind, rule);
	return result ? result : put(reading, function, function->bytes, &no_rule);
}

/*
 * runtime.mcall leaves the goroutine for the scheduler, which does not return to it; gogo leaves the scheduler for a goroutine, and
 * goes on at a place that the stack does not hold.
 */
static int add_leaver(const struct reading *reading, const struct go_function *function)
{
	return add_mover(reading, function, &root);
}

/* runtime.morestack is called by a function that has no frame yet, and goes on with its begin. */
static int add_morestack(const struct reading *reading, const struct go_function *function)
{
	struct unwind_rule rule = reading->to_goroutine;

	rule.return_address = UNWIND_SAME;
	return add_mover(reading, function, &rule);
}

/* Finds the next call behind a position: of an address in a register or, from Go 1.24 on, of a function that jumps there. */
static uint64_t find_call(struct go_bytes code, uint64_t from, uint64_t *ret_behind)
{
	uint64_t by_register = FIND(code, from, "\xff\xd0"), direct = FIND(code, from, "\xe8"),
		 call = by_register < direct ? by_register : direct;

	*ret_behind = call == NOWHERE ? NOWHERE : call + (call == direct ? 5 : 2);
	return call;
}

/*
 * runtime.asmcgocall calls a C function, on the scheduler's stack, and elsewhere in its code on the stack that it is on, which it
 * aligns and whose pointer it keeps.
 */
static int add_asmcgocall(const struct reading *reading, const struct go_function *function)
{
	struct go_bytes code = code_of(reading->functions, function);
	uint64_t behind = behind_move(code), returns, call = find_call(code, behind, &returns),
		 back = FIND(code, call, "\x48\x89\xf4"), other = find_call(code, back, &returns);
	int32_t depth = depth_at(*function, behind), kept = 0;
	struct unwind_rule rule = switch_at(reading, function, behind);
	int result = reading->begin(reading->user, function->begins);

	if (!result)
		result = add_depths(reading, *function, back == NOWHERE ? 0 : behind);
	if (!result && back != NOWHERE)
		result = put(reading, function, behind, &rule);
	if (!result && back != NOWHERE)
		result = put(reading, function, back + 3, &no_rule);
	/* mov N(%rsp),%rsi */
	if (!result && other != NOWHERE &&
	    (IS(code, returns, "\x48\x8b\x34\x24") ||
	     (IS(code, returns, "\x48\x8b\x74\x24") && read_code(code, returns + 4, 1, &kept)))) {
		rule = rule_of_depth(depth, depth > 0);
		rule.kind = UNWIND_CFA_DEREF;
		rule.cfa_add = rule.cfa_offset;
		rule.cfa_offset = kept;
		result = put(reading, function, other, &rule);
		if (!result)
			result = put(reading, function, returns + 1, &no_rule);
	}
	return result ? result : put(reading, function, function->bytes, &no_rule);
}

/*
 * The first function of a stack: goroutines return to runtime.goexit, as if it had called them. Or a function that
 * runtime.newstack leaves the goroutine by for the scheduler: it does not return, and soon the thread has another goroutine.
 */
static int add_root(const struct reading *reading, const struct go_function *function)
{
	return add_one(reading, function, &root);
}

/* A handler of a signal returns to its first byte, to which no call leads; so the rule begins one byte before it. */
static int add_sigreturn(const struct reading *reading, const struct go_function *function)
{
	int result = reading->begin(reading->user, function->begins - 1);

	if (!result)
		result = reading->add(reading->user, function->begins - 1, &of_signal);
	return result ? result : put(reading, function, function->bytes, &no_rule);
}

/* C code that Go called has called Go. The stack of the C code is not followed. */
static int add_callback(const struct reading *reading, const struct go_function *function)
{
	return add_one(reading, function, &not_followed);
}

static const struct {
	const char *name;
	int (*add)(const struct reading *reading, const struct go_function *function);
} special[] = {
	{ "gogo", add_leaver },
	{ "runtime.asmcgocall", add_asmcgocall },
	{ "runtime.cgocallback", add_callback },
	{ "runtime.goexit", add_root },
	{ "runtime.gopreempt_m", add_root },
	{ "runtime.mcall", add_leaver },
	{ "runtime.morestack", add_morestack },
	{ "runtime.mstart", add_root },
	{ "runtime.preemptPark", add_root },
	{ "runtime.rt0_go", add_root },
	{ "runtime.sigreturn", add_sigreturn },
	{ "runtime.sigreturn__sigaction", add_sigreturn },
	{ "runtime.systemstack", add_systemstack },
};

#define SPECIAL (sizeof(special) / sizeof(special[0]))

/* Returns the position in special[], or SPECIAL. */
static size_t special_of(const struct go_function *function)
{
	size_t i = 0;

	if (!function->name)
		return SPECIAL;
	while (i < SPECIAL && strcmp(function->name, special[i].name))
		i++;
	return i;
}

static void find_structures(struct reading *reading)
{
	struct go_function function;

	for (uint64_t i = 0; i < reading->functions->count; i++) {
		struct go_bytes code;
		uint64_t call;

		if (!go_functions_get(reading->functions, i, &function) || !function.name ||
		    strcmp(function.name, "runtime.systemstack"))
			continue;
		code = code_of(reading->functions, &function);
		call = FIND(code, 0, "\x48\x89\xfa\x48\x8b\x3f\xff\xd7");
		if (call == NOWHERE || !read_way_back(code, call + 8, &reading->to_goroutine))
			reading->to_goroutine = no_rule;
		return;
	}
}

int go_frames_read_functions(const struct go_functions *functions, eh_frame_begin *begin,
			     call_frames_add *add, void *user)
{
	struct reading reading = { .functions = functions, .add = add, .begin = begin, .user = user };
	struct go_function function;
	int result = 0;

	if (functions->word != WORD || functions->quantum != 1)
		return 0;
	find_structures(&reading);
	for (uint64_t i = 0; i < functions->count && !result; i++) {
		size_t which;

		if (!go_functions_get(functions, i, &function) || !function.bytes)
			continue;
		which = special_of(&function);
		result = which < SPECIAL ? special[which].add(&reading, &function)
					 : add_function(&reading, &function);
	}
	return result;
}

int go_frames_read(Elf *elf, eh_frame_begin *begin, call_frames_add *add, void *user)
{
	struct go_functions functions;

	return go_program_open(&functions, elf) ? 0 : go_frames_read_functions(&functions, begin, add, user);
}
