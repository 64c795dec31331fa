/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * offcpu_ring.h owns the slots of the off-CPU rings: which one is written next, within which budget, and how it is filled. Slots
 * are written by the program of context switches (slots.h) and by that of growth (growth.bpf.c), neither of which an interrupt runs,
 * and which the kernel calls with preemption off: so each has the ring of its CPU to itself.
 */
#ifndef BOURDON_BPF_OFFCPU_RING_H
#define BOURDON_BPF_OFFCPU_RING_H

#include "bpf/bucket.h"
#include "bpf/sample.h"

/* The consumer can write this map: what programs read of it only decides whether a slot is overwritten. */
extern struct samples_map offcpu SEC(".maps");

struct cpu_state {
	__u64 since_ns; /* the thread of a target that ran last runs since then */
	__u32 tid;      /* 0: none */
	__u32 reserved;
	__u64 written; /* slots written on this CPU */
	struct bucket stacks, slots;
	struct stack_scratch scratch;
	struct open_interval empty; /* always zero: initial value of an offcpu_open element */
	struct sample first;        /* of a thread that has not run yet */
};

struct offcpu_cpus_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
};

extern struct offcpu_cpus_map offcpu_cpus SEC(".maps");

/* The slot of this CPU's ring that is written next, or NULL if the consumer has yet to read it. */
static __always_inline struct sample *next_slot(const struct cpu_state *state, const struct control *shared)
{
	__u64 unread_ns = *(volatile const __u64 *)&shared->offcpu_unread_ns;
	__u32 cpu = bpf_get_smp_processor_id(), index;
	struct sample *slot;

	if (cpu >= ring_cpus)
		return NULL;
	index = cpu * slots_per_cpu + (__u32)(state->written % slots_per_cpu);
	slot = bpf_map_lookup_elem(&offcpu, &index);
	return slot && unread_ns && slot->seq && slot->time_ns >= unread_ns ? NULL : slot;
}

/* Copies all that follows the times, and of the stacks what is used. */
static __always_inline void copy_to_slot(struct sample *slot, const struct sample *from)
{
	__u64 kernel_bytes, user_bytes;

	slot->header = from->header;
	slot->cpu = from->cpu;
	bpf_probe_read_kernel(&slot->started_ns,
			      offsetof(struct sample, kernel_frames) - offsetof(struct sample, started_ns),
			      &from->started_ns);
	kernel_bytes = from->kernel_depth > 0 ? (__u64)from->kernel_depth * sizeof(from->kernel_frames[0])
					      : 0;
	if (kernel_bytes > sizeof(slot->kernel_frames))
		kernel_bytes = sizeof(slot->kernel_frames);
	bpf_probe_read_kernel(slot->kernel_frames, (__u32)kernel_bytes, from->kernel_frames);
	user_bytes = from->user_depth > 0 ? (__u64)from->user_depth * sizeof(from->user_frames[0]) : 0;
	if (user_bytes > sizeof(slot->user_frames))
		user_bytes = sizeof(slot->user_frames);
	bpf_probe_read_kernel(slot->user_frames, (__u32)user_bytes, from->user_frames);
}

#endif
