/* SPDX-License-Identifier: GPL-2.0-only */
/* empty_walk.bpf.c is an iterator over all threads that does nothing: what no other iterator can be cheaper than. */
#include "bpf/kernel.h"

SEC("iter/task")
int empty_walk(struct bpf_iter__task *ctx)
{
	(void)ctx;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
