/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * empty_hooks.bpf.c has programs that do nothing, where offcpu.bpf.c has its programs for each switch and wake-up, growth.bpf.c
 * for each change of a process's memory, and block.bpf.c for the end of a request: no program at these places can be cheaper.
 */
#include "bpf/kernel.h"

SEC("tp_btf/sched_switch")
int empty_switch(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int empty_waking(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_wakeup")
int empty_wakeup(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_complete")
int empty_request(void *ctx)
{
	return 0;
}

SEC("tp_btf/rss_stat")
int empty_rss(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
