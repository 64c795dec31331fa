/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reference.bpf.c is the straightforward sampler that bourdon's is compared with. At each tick of the same
 * clock, for the same process, it reads both stacks with bpf_get_stack() into one record of a fixed size in a
 * ring buffer; user frames are build ids and file offsets, so that the mappings need not be known.
 */
#include "bench/reference.h"
#include "bpf/kernel.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} reference_tgids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} reference_ring SEC(".maps");

__u64 samples = 0;
__u64 dropped = 0; /* the ring was full */

SEC("perf_event")
int reference_tick(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32;
	struct reference_record *record;

	if (!bpf_map_lookup_elem(&reference_tgids, &tgid))
		return 0;
	record = bpf_ringbuf_reserve(&reference_ring, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&dropped, 1);
		return 0;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->tgid = tgid;
	record->tid = (__u32)id;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record->kernel_bytes =
		(__s32)bpf_get_stack(ctx, record->kernel_frames, sizeof(record->kernel_frames), 0);
	record->user_bytes = (__s32)bpf_get_stack(ctx, record->user_frames, sizeof(record->user_frames),
						  BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	bpf_ringbuf_submit(record, 0);
	__sync_fetch_and_add(&samples, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
