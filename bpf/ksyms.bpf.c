/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ksyms.bpf.c owns the names of kernel code, and where it lies: an iterator over the kernel's symbols that
 * needs no CAP_SYSLOG. The loader reads it twice: once to find the ends of the kernel's text and the lowest
 * module, which stay in the kernel, and once for the place of every code symbol (rebase.h).
 */
#include "bpf/rebase.h"

/* Read by the samplers. */
__u64 kernel_text = 0;
__u64 kernel_text_last = 0;
__u64 kernel_modules = 0;
__u64 kernel_schedule = 0, kernel_schedule_end = 0;

bool ksyms_emit = false; /* the loader, between its two reads */

/* The kernel counts a type in upper case as global. */
static __always_inline bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* The symbols of the kernel itself come by their addresses. */
static __always_inline void learn(const struct kallsym_iter *symbol)
{
	char name[16] = {};

	if (symbol->module_name[0]) {
		if (!kernel_modules || symbol->value < kernel_modules)
			kernel_modules = symbol->value;
		return;
	}
	bpf_probe_read_kernel_str(name, sizeof(name), symbol->name);
	if (!bpf_strncmp(name, sizeof("_text"), "_text"))
		kernel_text = symbol->value;
	if (!bpf_strncmp(name, sizeof("__schedule"), "__schedule"))
		kernel_schedule = symbol->value;
	else if (kernel_schedule && !kernel_schedule_end && symbol->value > kernel_schedule)
		kernel_schedule_end = symbol->value;
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
