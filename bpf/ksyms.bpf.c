/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ksyms.bpf.c owns the names of kernel code, and where _text is: an iterator over the kernel's symbols that
 * needs no CAP_SYSLOG. The loader reads it twice: once to find _text, which stays in the kernel, and once
 * for every code symbol's offset from it.
 */
#include "bpf/kernel.h"

__u64 kernel_text = 0; /* read by the samplers */

/* The kernel counts a type in upper case as global. */
static __always_inline bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

SEC("iter/ksym")
int walk_ksyms(struct bpf_iter__ksym *ctx)
{
	struct kallsym_iter *symbol = ctx->ksym;
	char name[8] = {};
	__s64 offset;

	if (!symbol || !is_code(symbol->type))
		return 0;
	if (!kernel_text) {
		bpf_probe_read_kernel_str(name, sizeof(name), symbol->name);
		if (name[0] == '_' && name[1] == 't' && name[2] == 'e' && name[3] == 'x' && name[4] == 't' &&
		    !name[5])
			kernel_text = symbol->value;
		return 0;
	}
	offset = (__s64)(symbol->value - kernel_text);
	if (offset != (__s32)offset)
		return 0;
	if (symbol->module_name[0])
		BPF_SEQ_PRINTF(ctx->meta->seq, "%d %s %s\n", (__s32)offset, symbol->name,
			       symbol->module_name);
	else
		BPF_SEQ_PRINTF(ctx->meta->seq, "%d %s\n", (__s32)offset, symbol->name);
	return 0;
}
