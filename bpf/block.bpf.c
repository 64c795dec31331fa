/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * block.bpf.c measures requests to block devices: how long each waited in a queue, and how long the device had it.
 *
 * A request begins when the kernel puts it into a queue (block_rq_insert), or when the driver gets it, if it was in none: without
 * an I/O scheduler most are not. A driver that has no room gives a request back (block_rq_requeue), and gets it again later. The
 * kernel keeps the memory of requests and uses it again for others: an address is a request's until its end.
 *
 * What waits before there is a request is not seen here: a bio for its cgroup's I/O limit, or for a free tag.
 *
 * An end may be lost. Completions come in interrupts, and kernels were seen on which no program of any kind runs, and none
 * counts as missed, while the interrupted thread is of a certain process: another attachment would see no more. So nothing is
 * computed from begins less ends: an end that is missing is found when the kernel uses the request's memory again.
 */
#include "bpf/account_parts.h"
#include "bpf/in_flight.h"
#include "bpf/pairs.h"
#include "bpf/target.h"

#define REQUEST_OPERATION 0xffU /* include/linux/blk_types.h: REQ_OP_MASK */
#define DEVICE_MINOR_BITS 20U

struct block_request {
	struct pair pair;       /* its key is the request, since when it waits or is served */
	__u64 issued_ns;        /* when the driver got it last; 0: it does not have it */
	struct blame_key party; /* who asked; `victim`: of a target's thread, which may wait for it, else 0 */
	__u32 device;
	__u32 bytes;
	__u32 place; /* of in_flight_enter(), while the driver has it */
	__u8 operation;
	__u8 was_requeued; /* the kernel may put it into a queue again */
	__u16 waits;       /* of in_flight_wait() */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PAIRS);
	__type(key, __u32);
	__type(value, struct block_request);
} block_requests SEC(".maps");

/* Of pairs_are_measured(). */
static __u64 measured_since_ns;

static __always_inline bool is_measured(void)
{
	return pairs_are_measured(&measured_since_ns, LATENCY_BLOCK);
}

/* The verifier allows one computation with a pointer of the kernel: its difference to another pointer. */
static __always_inline __u64 key_of(const struct request *request)
{
	__u64 key = (__u64)request, base = (__u64)&measured_since_ns;

	asm volatile("%0 -= %1" : "+r"(key) : "r"(base));
	return key;
}

/* ---- who asks ---- */

/*
 * The cgroup that pays for the request's first bio. Kernel threads write what others have made dirty, and go on with what these
 * began. NULL: it is not known, or in a hierarchy of version 1, whose ids are not those of cgroup2.
 */
static __always_inline struct cgroup *paying_cgroup(struct request *request, struct task_struct *task)
{
	struct cgroup *cgroup;

	if (!bpf_core_field_exists(request->bio->bi_blkg) || !request->bio)
		return NULL;
	cgroup = request->bio->bi_blkg->blkcg->css.cgroup;
	return cgroup->root == task->cgroups->dfl_cgrp->root ? cgroup : NULL;
}

/*
 * Names who asks for the request, if root's policy lets them be named. A cgroup pays for those below it that do not have the I/O
 * controller, the root for all: then the thread that asks has the nearer one. Of other cgroups only those are named that were told,
 * because a process was there that may be named.
 */
static __always_inline void name_party(struct request *request, struct blame_key *party)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup *cgroup = paying_cgroup(request, task);
	bool is_kernel = task->flags & PF_KTHREAD;
	__u64 id = cgroup ? cgroup->kn->id : 0;

	if (!id || !cgroup->level ||
	    (!is_kernel && bpf_get_current_ancestor_cgroup_id(cgroup->level) == id)) {
		account_name(party);
		return;
	}
	if (!bpf_map_lookup_elem(&cgroups_told, &id)) {
		party->by = BLAME_DENIED;
		return;
	}
	party->by = BLAME_PROCESS;
	party->cgroup_id = id;
}

/* The victim of the current thread, which may wait for what it asks for; or 0. */
static __always_inline __u32 victim_now(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct target *target;
	__u32 tgid = task->tgid;

	if (!may_be_target(task))
		return 0;
	target = bpf_map_lookup_elem(&targets, &tgid);
	return target ? target->victim : 0;
}

static __always_inline __u32 device_of(struct request *request)
{
	const struct gendisk *disk = request->q->disk;

	return disk ? (__u32)disk->major << DEVICE_MINOR_BITS | (__u32)disk->first_minor : 0;
}

/* ---- requests ---- */

static __always_inline void leave_device(struct block_request *request, __u64 now_ns)
{
	request->issued_ns = 0;
	if (request->place)
		in_flight_leave(request->place, now_ns);
	request->place = 0;
}

/* The last moment still counts for all that the device has. */
static __always_inline void end_wait(struct block_request *request, __u64 now_ns)
{
	if (request->waits)
		in_flight_waited(request->waits, now_ns);
	request->waits = 0;
}

/* What began before is counted no longer (bpf/in_flight.h), and may not be what ends. */
static __always_inline bool is_of_before(const struct block_request *request)
{
	return request->pair.since_ns < measured_since_ns;
}

/* NULL: there is no room, which its end counts. */
static __always_inline struct block_request *begin(struct block_request *known, struct request *request,
						   __u64 key, __u64 now_ns)
{
	struct block_request *begun = known;
	struct blame_key party = {};

	if (!known) {
		begun = pair_make(&block_requests, key, now_ns, METRIC_BLOCK);
	} else if (!is_of_before(known)) {
		histogram_count_unpaired(METRIC_BLOCK);
		end_wait(known, now_ns);
		leave_device(known, now_ns);
	}
	if (!begun)
		return NULL;
	name_party(request, &party);
	party.victim = victim_now();
	begun->pair.since_ns = now_ns;
	begun->issued_ns = 0;
	begun->party = party;
	begun->device = device_of(request);
	begun->bytes = 0;
	begun->place = 0;
	begun->operation = request->cmd_flags & REQUEST_OPERATION;
	begun->was_requeued = 0;
	begun->waits = party.victim
			       ? (__u16)in_flight_wait(begun->device, party.victim, measured_since_ns, now_ns)
			       : 0;
	return begun;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_inserted, struct request *request)
{
	struct block_request *known;
	__u64 key;

	if (!is_measured())
		return 0;
	key = key_of(request);
	known = pair_find(&block_requests, key);
	if (!known || !known->was_requeued || known->issued_ns || is_of_before(known))
		begin(known, request, key, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issued, struct request *request)
{
	struct block_request *known;
	__u64 key, now_ns;

	if (!is_measured())
		return 0;
	key = key_of(request);
	now_ns = bpf_ktime_get_ns();
	known = pair_find(&block_requests, key);
	if (!known || known->issued_ns || is_of_before(known))
		known = begin(known, request, key, now_ns);
	if (!known)
		return 0;
	/* what a part of it moves before it is issued again, counts */
	if (known->bytes < request->__data_len)
		known->bytes = request->__data_len;
	known->issued_ns = now_ns;
	known->place = in_flight_enter(&known->party, known->device, measured_since_ns, now_ns);
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(block_requeued, struct request *request)
{
	struct block_request *known;

	if (!is_measured())
		return 0;
	known = pair_find(&block_requests, key_of(request));
	if (!known || is_of_before(known))
		return 0;
	leave_device(known, bpf_ktime_get_ns());
	known->was_requeued = 1;
	return 0;
}

/* Another request has it in it: the kernel does not tell its end. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(block_merged, struct request *request)
{
	struct block_request *known;

	if (!is_measured())
		return 0;
	known = pair_find(&block_requests, key_of(request));
	if (!known)
		return 0;
	if (!is_of_before(known))
		end_wait(known, bpf_ktime_get_ns());
	pair_free(known);
	return 0;
}

static __always_inline void put(const struct block_request *ended, __u32 detail, __u64 now_ns)
{
	bool is_named = policy.latency_labels || ended->party.victim;
	struct histogram_key key = { .object = is_named ? ended->device : 0,
				     .owner = is_named ? ended->party.cgroup_id : 0,
				     .detail = (__u8)detail };
	struct block_values values = { .since_ns = ended->pair.since_ns,
				       .issued_ns = ended->issued_ns,
				       .ended_ns = now_ns,
				       .bytes = ended->bytes };

	histogram_add_block(&key, &values);
}

/*
 * The end of a request, or of a part of it. A write that has the device's cache flushed ends again, with 0 bytes, when that is
 * done, and one without data ends so without a begin: the flush is a request of its own (block/blk-flush.c).
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_completed, struct request *request, unsigned char error, unsigned int bytes)
{
	struct block_request ended, *known;
	__u64 now_ns;

	if (!is_measured() || bytes < request->__data_len)
		return 0;
	now_ns = bpf_ktime_get_ns();
	known = pair_find(&block_requests, key_of(request));
	if (!known) {
		if (bytes && request->start_time_ns >= measured_since_ns)
			histogram_count_unpaired(METRIC_BLOCK);
		return 0;
	}
	if (is_of_before(known)) {
		pair_free(known);
		return 0;
	}
	ended = *known;
	end_wait(known, now_ns);
	leave_device(known, now_ns);
	pair_free(known);
	if (!ended.issued_ns) {
		histogram_count_unpaired(METRIC_BLOCK);
		return 0;
	}
	put(&ended, (ended.operation & BLOCK_OPERATION) | (error ? BLOCK_FAILED : 0), now_ns);
	return 0;
}
