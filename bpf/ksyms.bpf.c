/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ksyms.bpf.c reads the kernel's symbols through an iterator, which needs no CAP_SYSLOG. The loader reads it
 * twice. The first read finds the bounds of the kernel's text and the lowest module; they stay in the kernel.
 * The second read prints the rebased address (rebase.h) of every code symbol.
 */
#include "bpf/rebase.h"

/* Read by the samplers through rebase.h. */
__u64 kernel_text = 0;
__u64 kernel_text_last = 0;
__u64 kernel_modules = 0;
__u64 kernel_schedule[2] = { 0 };
__u64 kernel_waking[2] = { 0 };
__u64 kernel_interrupts[2] = { 0 };
__u64 kernel_softirqs[2] = { 0 };
__u64 kernel_forked = 0;
__u64 kernel_locks[2] = { 0 };
__u64 kernel_backlog[2] = { 0 };

static bool has_handle_softirqs;
bool ksyms_emit = false; /* set by the loader between its two reads */

/* The kernel writes the type of a global symbol in upper case. */
static __always_inline bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* The beginning of a symbol's name, zeroed behind its NUL: two are compared without a call for each of 200,000 symbols. */
union symbol_name {
	char text[32];
	__u64 words[4];
};

/* With one branch, for the verifier. */
#define IS_NAME(name, wanted)                                                                                \
	({                                                                                                   \
		const union symbol_name wanted_ = { wanted };                                                \
		!(((name).words[0] ^ wanted_.words[0]) | ((name).words[1] ^ wanted_.words[1]) |              \
		  ((name).words[2] ^ wanted_.words[2]) | ((name).words[3] ^ wanted_.words[3]));              \
	})

/* The part begins with this symbol, or ends with the next one. */
static __always_inline void learn_part(__u64 part[2], __u64 address, bool begins)
{
	if (begins) {
		part[0] = address;
		part[1] = 0;
	} else if (part[0] && !part[1] && address > part[0]) {
		part[1] = address;
	}
}

/* The iterator yields the kernel's own symbols in order of address. */
static __always_inline void learn(const struct kallsym_iter *symbol)
{
	union symbol_name name = { 0 };

	if (symbol->module_name[0]) {
		if (!kernel_modules || symbol->value < kernel_modules)
			kernel_modules = symbol->value;
		return;
	}
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), symbol->name);
	if (IS_NAME(name, "_text"))
		kernel_text = symbol->value;
	learn_part(kernel_schedule, symbol->value, IS_NAME(name, "__schedule"));
	learn_part(kernel_waking, symbol->value, IS_NAME(name, "try_to_wake_up"));
	learn_part(kernel_backlog, symbol->value, IS_NAME(name, "process_backlog"));
	if (IS_NAME(name, "__sched_text_start"))
		kernel_locks[0] = symbol->value;
	if (IS_NAME(name, "__lock_text_end"))
		kernel_locks[1] = symbol->value;
	/* where there is handle_softirqs(), __do_softirq() only calls it */
	if (IS_NAME(name, "handle_softirqs"))
		has_handle_softirqs = true;
	learn_part(kernel_softirqs, symbol->value,
		   IS_NAME(name, "handle_softirqs") ||
			   (!has_handle_softirqs && IS_NAME(name, "__do_softirq")));
	/* the only one before Linux 6.6 (3aec4ecb3d1f) is ret_from_fork() */
	if (IS_NAME(name, "ret_from_fork_asm") || (!kernel_forked && IS_NAME(name, "ret_from_fork")))
		kernel_forked = symbol->value;
	/* x86 enters there for exceptions, too, and for these first */
	if (IS_NAME(name, "asm_common_interrupt") ||
	    (!kernel_interrupts[0] && IS_NAME(name, "__irqentry_text_start")))
		kernel_interrupts[0] = symbol->value;
	if (IS_NAME(name, "__irqentry_text_end"))
		kernel_interrupts[1] = symbol->value;
	if (symbol->value > kernel_text_last)
		kernel_text_last = symbol->value;
}

SEC("iter/ksym")
int walk_ksyms(struct bpf_iter__ksym *ctx)
{
	struct kallsym_iter *symbol = ctx->ksym;
	__s32 place;

	if (!symbol || !is_code(symbol->type))
		return 0;
	if (!ksyms_emit) {
		learn(symbol);
		return 0;
	}
	place = rebase(symbol->value);
	if (!kernel_text || place == KERNEL_FRAME_UNKNOWN)
		return 0;
	if (symbol->module_name[0])
		BPF_SEQ_PRINTF(ctx->meta->seq, "%d %s %s\n", place, symbol->name, symbol->module_name);
	else
		BPF_SEQ_PRINTF(ctx->meta->seq, "%d %s\n", place, symbol->name);
	return 0;
}
