/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * offcpu.bpf.c measures the time that threads of targets spend off CPU: when a thread leaves the CPU, when it
 * becomes runnable, when it runs again, and what it waited for, by the same flags that PSI uses. `totals`
 * sums all of it. Within a budget, an interval is also written with its stacks to a slot of this CPU's ring.
 *
 * A stack can only be recorded when the thread leaves, but only its return shows whether the interval
 * deserves a slot. Until then the stack is kept in `offcpu_open`, where the consumer also finds the threads
 * that are still away. So is the stack of the target that woke it, in `offcpu_wakers`.
 */
#include "bpf/accounts.h"
#include "bpf/clocks.h"
#include "bpf/ended.h"
#include "bpf/sample.h"
#include "bpf/waker.h"

#define TASK_DEAD 0x80U

#define SECOND_NS 1000000000ULL
#define PROGRAM_FRAMES_MAX 6U
#define STACKS_SHARE 20U
#define STACK_NS_MAX 1000000U
/* What may be in the weight of a later interval: the capture counts it where that one ends. */
#define JOINED_NS_MAX SECOND_NS

/* The consumer can write this map: what programs read of it only decides whether a slot is overwritten. */
struct samples_map offcpu SEC(".maps");

/*
 * offcpu_open and offcpu_threads are not preallocated, so a host with few targets uses little memory. Since
 * Linux 6.1 the kernel takes elements from its own cache (kernel/bpf/memalloc.c), which is safe under a run
 * queue's lock.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OFFCPU_OPEN_DEFAULT);
	__type(key, __u32);
	__type(value, struct open_interval);
} offcpu_open SEC(".maps");

/* tid -> the thread that woke it last, with its stack: never shared with user space */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OFFCPU_OPEN_DEFAULT);
	__type(key, __u32);
	__type(value, struct sample);
} offcpu_wakers SEC(".maps");

/* State of a thread between two context switches. */
struct thread {
	__u64 began_ns;                  /* start time of the thread: with the tid, its identity */
	__u64 left_ns;                   /* when it left the CPU, 0 while it runs */
	__u64 woken_ns;                  /* when it became runnable, 0 while it is blocked */
	__u64 usual_ns;                  /* moving average of its off-CPU intervals */
	__u64 reclaim_ns;                /* when it entered reclaim, 0 outside reclaim */
	__u64 reclaim_off_ns;            /* off-CPU time within that reclaim */
	__u64 carried_ns[STALL_CLASSES]; /* off-CPU time not yet written to a slot */
	__u32 reclaim_depth;
	__u32 state;
	__u8 stall;
	__u8 has_stack;       /* offcpu_open holds the stack of this interval */
	__u8 has_waker_stack; /* offcpu_wakers holds the stack of `waker` */
	__u8 is_new;          /* it waits for its first CPU */
	__u8 reserved[4];
	__u32 maker;  /* tgid of who made it */
	__u32 joined; /* intervals in carried_ns that were long enough for a slot */
	struct counted counted;
	struct waker waker; /* who ended this interval */
	struct accounted accounted;
};

struct clocks_map clocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TARGETS_DEFAULT);
	__type(key, __u32);
	__type(value, struct thread);
} offcpu_threads SEC(".maps");

/*
 * By the lower bits of its tid, how many threads offcpu_threads has: nearly all threads that are woken are no
 * targets, and this tells so in a tenth of the time of a look-up.
 */
#define TRACKED_SLOTS 16384U
static __u32 tracked[TRACKED_SLOTS];

static __always_inline bool is_tracked(__u32 tid)
{
	return *(volatile __u32 *)&tracked[tid % TRACKED_SLOTS];
}

/* Set by the loader: drawn by chance, and never told. */
const volatile __u64 lock_secret[2] = { 0 };

/*
 * Token bucket that holds at most one second's budget: next_ns is when the next token is due if none is saved
 * (generic cell rate algorithm, ITU-T I.371).
 */
struct bucket {
	__u64 next_ns;
};

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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} offcpu_cpus SEC(".maps");

/* Returns the saved budget in ns, 0 if the bucket is empty. */
static __always_inline __u64 bucket_level(const struct bucket *bucket, __u64 now_ns)
{
	__s64 saved_ns = (__s64)(now_ns - bucket->next_ns);

	return saved_ns <= 0 ? 0 : (__u64)saved_ns > SECOND_NS ? SECOND_NS : (__u64)saved_ns;
}

/* The price of a token. The consumer can write `control`: root's policy caps its rates. `hz` is not 0. */
static __always_inline __u64 bucket_price(__u32 hz)
{
	return SECOND_NS / (hz < policy.max_rate ? hz : policy.max_rate);
}

/* Spends one token if at least `least_ns` of budget is saved. */
static __always_inline bool bucket_spend(struct bucket *bucket, __u64 now_ns, __u32 hz, __u64 least_ns)
{
	__u64 level_ns = bucket_level(bucket, now_ns);

	if (!hz || !level_ns || level_ns < least_ns)
		return false;
	bucket->next_ns = now_ns - level_ns + bucket_price(hz);
	return true;
}

/*
 * Charges for what the token was spent on: by forged tables a stack takes 22 us, ten times an honest one. So
 * stacks take at most one part in STACKS_SHARE of a CPU's time, whatever their rate.
 */
static __always_inline void bucket_charge(struct bucket *bucket, __u32 hz, __u64 took_ns)
{
	__u64 price_ns = bucket_price(hz), due_ns;

	/* longer: a hypervisor or an interrupt took the time */
	due_ns = (took_ns < STACK_NS_MAX ? took_ns : STACK_NS_MAX) * STACKS_SHARE;
	if (due_ns > price_ns)
		bucket->next_ns += due_ns - price_ns;
}

static __always_inline __u64 start_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, start_boottime);
}

/* Always zero: a program's stack, of 512 bytes, has no room for it. */
static struct thread thread_empty;

static __noinline struct thread *thread_make(__u32 tid, __u64 began_ns)
{
	struct thread *thread = bpf_map_lookup_elem(&offcpu_threads, &tid);

	/* another one had this tid, and its end was not seen */
	if (thread)
		account_stop(&thread->accounted);
	if (put_counted(&offcpu_threads, &tid, &thread_empty, &tracked[tid % TRACKED_SLOTS])) {
		count(COUNTER_OFFCPU_UNTRACKED);
		return NULL;
	}
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (thread)
		thread->began_ns = began_ns;
	return thread;
}

static __always_inline struct thread *thread_find(__u32 tid, __u64 began_ns)
{
	struct thread *thread = bpf_map_lookup_elem(&offcpu_threads, &tid);

	return thread && thread->began_ns == began_ns ? thread : NULL;
}

static __always_inline struct totals *totals_find(__u32 tgid, __u64 started_ns)
{
	struct totals *there = bpf_map_lookup_elem(&totals, &tgid);

	return there && there->started_ns == started_ns ? there : NULL;
}

static __noinline struct totals *totals_make(__u32 tgid, __u64 started_ns)
{
	struct totals fresh = { .started_ns = started_ns };

	bpf_map_update_elem(&totals, &tgid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&totals, &tgid);
}

static __always_inline void add(__u64 *sum, __u64 ns)
{
	__sync_fetch_and_add(sum, ns);
}

/*
 * Stores the stack in the scratch, without the frames below the function `last`: they belong to this program and its
 * callers. A stack that fills the scratch keeps them, so that it counts as truncated.
 */
static __always_inline void put_frames_above(struct sample *sample, const struct stack_scratch *scratch,
					     long bytes, const __u64 last[2])
{
	__u32 skipped = 0;

	for (__u32 i = 0; i < PROGRAM_FRAMES_MAX; i++)
		if (i * sizeof(__u64) < (__u64)bytes && is_in_part(last, scratch->frames[i]))
			skipped = i;
	if (bytes == sizeof(scratch->frames))
		skipped = 0;
	put_kernel_stack(sample, scratch, (__u32)bytes, skipped);
}

static __always_inline void record_kernel_stack(void *ctx, struct sample *sample,
						struct stack_scratch *scratch, __u64 now_ns)
{
	long bytes = get_kernel_stack(ctx, sample, scratch, now_ns);

	if (bytes > 0)
		put_frames_above(sample, scratch, bytes, kernel_schedule);
}

static __always_inline void open_close(struct open_interval *open)
{
	publish(&open->sample.seq, 0);
	publish(&open->seq_again, 0);
}

/*
 * Records the stacks of the thread that leaves the CPU. The length of the interval is known only at its
 * return.
 */
static __always_inline bool open_write(void *ctx, struct cpu_state *state, const struct target *target,
				       struct task_struct *task, const struct thread *thread)
{
	__u32 tid = task->pid;
	struct open_interval *open = bpf_map_lookup_elem(&offcpu_open, &tid);
	struct sample *sample;

	if (!open) {
		if (bpf_map_update_elem(&offcpu_open, &tid, &state->empty, BPF_NOEXIST))
			return false;
		open = bpf_map_lookup_elem(&offcpu_open, &tid);
		if (!open)
			return false;
	}
	open_close(open);
	sample = &open->sample;
	fill_identity(sample, task, target->started_ns, target->pattern_id, SAMPLE_OF_TARGET);
	sample->cpu = bpf_get_smp_processor_id();
	sample->left_ns = thread->left_ns;
	sample->woken_ns = thread->woken_ns;
	sample->kind = SAMPLE_OFF_CPU;
	sample->stall = thread->stall;
	sample->lock = thread->state ? lock_awaited(task, target->started_ns) : 0;
	record_kernel_stack(ctx, sample, &state->scratch, thread->left_ns);
	record_user_stack(ctx, sample, &state->scratch, target->started_ns, thread->left_ns);
	count(COUNTER_OFFCPU_STACKS);
	publish(&open->seq_again, thread->left_ns);
	publish(&open->sample.seq, thread->left_ns);
	return true;
}

/*
 * Returns the budget that must be left for a stack. A thread whose intervals are usually short gets one only while the
 * budget is at least half full; sooner if its unwritten time nears the minimum for a slot; and before all others if it has
 * long got none.
 */
static __always_inline __u64 stack_level_wanted(const struct thread *thread, const struct control *shared)
{
	__u64 carried_ns = 0;

	for (__u32 i = 0; i < STALL_CLASSES; i++)
		carried_ns += thread->carried_ns[i];
	if (carried_ns >= SECOND_NS / 10)
		return 0;
	return SECOND_NS / (thread->usual_ns + carried_ns >= shared->offcpu_min_ns ? 8 : 2);
}

static __always_inline __u64 clock_counts_off(const struct thread *thread)
{
	__u64 counts = thread->stall & STALL_MEMORY || thread->reclaim_depth ? CLOCK_IN_MEMSTALL : 0;

	if (!thread->state)
		return counts | CLOCK_RUNNABLE;
	return thread->stall & STALL_IO ? counts | CLOCK_IN_IOWAIT : counts;
}

/*
 * in_memstall alone does not count on CPU: after a refault the running thread clears it without any event, so
 * the program could not tell when the stall ended.
 */
static __always_inline __u64 clock_counts_on(const struct thread *thread)
{
	return CLOCK_RUNNABLE | CLOCK_ON_CPU | (thread->reclaim_depth ? CLOCK_IN_MEMSTALL : 0);
}

/* Stops counting a thread whose process is no longer a target. */
static __always_inline void stop_counting(struct thread *thread, const struct control *shared, __u64 now_ns)
{
	if (thread)
		account_stop(&thread->accounted);
	if (thread && clocks_run(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, thread->counted.cpu, 0, now_ns);
}

/* Counts a woken thread as runnable, in the queue of the CPU that was chosen for it. */
static __always_inline void clocks_queue(struct thread *thread, struct task_struct *task, __u64 now_ns)
{
	struct control *shared = control_get();
	__u32 tgid = task->tgid;

	if (!shared || !clocks_run(&thread->counted, shared))
		return;
	if (!bpf_map_lookup_elem(&targets, &tgid))
		stop_counting(thread, shared, now_ns);
	else
		clocks_count(&thread->counted, thread->counted.epoch, BPF_CORE_READ(task, thread_info.cpu),
			     CLOCK_RUNNABLE | (thread->counted.counts & CLOCK_IN_MEMSTALL), now_ns);
}

/* The account of a thread that leaves the CPU, if it is blocked: its end may tell more than ACCOUNT_SLEEP. */
static __always_inline __u32 account_of(const struct thread *thread)
{
	if (thread->stall & STALL_MEMORY || thread->reclaim_depth)
		return ACCOUNT_MEMORY;
	return thread->stall & STALL_IO ? ACCOUNT_IO : ACCOUNT_SLEEP;
}

/* The current thread is of the target, or its parent, which has its name and its cgroup. */
static __always_inline __u32 victim_of(struct target *target)
{
	__u32 victim = account_victim(target->victim);

	if (victim != target->victim)
		target->victim = victim;
	return victim;
}

static __always_inline void account_leaving(struct thread *thread, struct target *target,
					    struct task_struct *task, __u64 now_ns)
{
	__u32 account = account_of(thread);
	__u64 lock = thread->state && account == ACCOUNT_SLEEP
			     ? lock_contended(task, target->started_ns, &thread->accounted.expects)
			     : 0;

	thread->accounted.victim = victim_of(target);
	account_leave(&thread->accounted, now_ns, !thread->state, account, lock);
}

static __always_inline void leave_cpu(void *ctx, struct cpu_state *state, const struct control *shared,
				      struct task_struct *task, bool preempted, __u64 now_ns)
{
	__u32 tgid = task->tgid;
	struct target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct thread *thread;
	struct totals *sums;
	__u64 began_ns;
	__u32 hz;

	if (task->flags & PF_EXITING)
		return;
	thread = thread_find(task->pid, start_of(task));
	if (!target || target_is_denied(task)) {
		stop_counting(thread, shared, now_ns);
		return;
	}
	if (!thread)
		thread = thread_make(task->pid, start_of(task));
	sums = totals_find(tgid, target->started_ns);
	if (!sums)
		sums = totals_make(tgid, target->started_ns);
	if (!thread)
		return;
	if (sums && state->tid == (__u32)task->pid)
		add(&sums->on_cpu_ns,
		    now_ns - (state->since_ns > target->since_ns ? state->since_ns : target->since_ns));
	thread->state = preempted ? 0 : task->__state;
	thread->stall = BPF_CORE_READ_BITFIELD(task, in_memstall) ? STALL_MEMORY : 0;
	if (thread->state && BPF_CORE_READ_BITFIELD(task, in_iowait))
		thread->stall |= STALL_IO;
	thread->woken_ns = thread->state ? 0 : now_ns;
	thread->left_ns = now_ns;
	thread->has_stack = thread->has_waker_stack = thread->is_new = 0;
	thread->waker.kind = WAKER_UNKNOWN;
	account_leaving(thread, target, task, now_ns);
	if (clocks_join(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, bpf_get_smp_processor_id(),
			     clock_counts_off(thread), now_ns);
	hz = *(volatile const __u32 *)&shared->offcpu_stacks_hz;
	if (!bucket_spend(&state->stacks, now_ns, hz, stack_level_wanted(thread, shared)))
		return;
	began_ns = bpf_ktime_get_ns();
	thread->has_stack = open_write(ctx, state, target, task, thread);
	bucket_charge(&state->stacks, hz, bpf_ktime_get_ns() - began_ns);
}

/* Returns the budget that must be left: who has waited for longer may spend more of it. */
static __always_inline __u64 level_wanted(__u64 waited_ns)
{
	return waited_ns >= SECOND_NS / 10 ? 0 : waited_ns >= SECOND_NS / 100 ? SECOND_NS / 4 : SECOND_NS / 2;
}

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

/* Writes the stack of the thread that ended the interval behind the interval. The caller has paid for it. */
static __always_inline void write_waker_slot(struct cpu_state *state, const struct control *shared,
					     const struct thread *thread, const struct sample *waker,
					     __u64 now_ns)
{
	struct sample *slot = next_slot(state, shared);

	if (!slot)
		return;
	publish(&slot->seq, 0);
	slot->time_ns = now_ns;
	slot->weight_ns = slot->queued_ns = 0;
	slot->left_ns = thread->left_ns;
	slot->woken_ns = thread->woken_ns;
	copy_to_slot(slot, waker);
	publish(&slot->seq, ++state->written);
}

/* What a thread does that has not run yet is known without reading its stack: it is queued where all threads begin. */
static __always_inline const struct sample *first_wait(struct cpu_state *state, const struct target *target,
						       struct task_struct *task)
{
	struct sample *sample = &state->first;

	sample->header.type = RECORD_SAMPLE;
	sample->header.bytes = sizeof(*sample);
	sample->cpu = bpf_get_smp_processor_id();
	sample->started_ns = target->started_ns;
	sample->pattern_id = target->pattern_id;
	sample->cgroup_id = cgroup_id_of(task);
	sample->tgid = task->tgid;
	sample->tid = task->pid;
	sample->program = (__u32)task->self_exec_id;
	read_comm(task, sample->comm);
	sample->kind = SAMPLE_OFF_CPU;
	sample->kernel_depth = kernel_text && kernel_forked && policy.kernel_stacks;
	sample->kernel_frames[0] = rebase(kernel_forked);
	return sample;
}

/*
 * Writes the interval to this CPU's ring. Returns false if the budget is spent, the ring is full of what the consumer has
 * yet to read, there is no stack, or root's policy meanwhile denies the process.
 */
static __always_inline bool write_slot(struct cpu_state *state, const struct control *shared,
				       const struct target *target, struct task_struct *task,
				       const struct thread *thread, __u64 now_ns, __u64 weight_ns,
				       __u64 queued_ns)
{
	__u32 tid = task->pid;
	const struct sample *interval;
	struct sample *slot = next_slot(state, shared), *waker;

	if (!slot || target_is_denied(task))
		return false;
	interval = thread->is_new      ? first_wait(state, target, task)
		   : thread->has_stack ? bpf_map_lookup_elem(&offcpu_open, &tid)
				       : NULL;
	if (!interval || !bucket_spend(&state->slots, now_ns, shared->offcpu_slots_hz,
				       level_wanted(weight_ns + queued_ns)))
		return false;
	waker = thread->has_waker_stack ? bpf_map_lookup_elem(&offcpu_wakers, &tid) : NULL;
	/* what others wait for is worth more than a second stack of this interval */
	if (waker && !bucket_spend(&state->slots, now_ns, shared->offcpu_slots_hz, SECOND_NS / 2))
		waker = NULL;
	publish(&slot->seq, 0);
	slot->time_ns = now_ns;
	slot->weight_ns = weight_ns;
	slot->queued_ns = queued_ns;
	slot->left_ns = thread->left_ns;
	slot->woken_ns = thread->woken_ns;
	copy_to_slot(slot, interval);
	if (thread->waker.kind == WAKER_THREAD)
		slot->waker = thread->waker;
	else
		slot->waker.kind = thread->waker.kind;
	slot->has_waker_stack = waker != NULL;
	publish(&slot->seq, ++state->written);
	count(COUNTER_SAMPLES_OFFCPU);
	if (waker)
		write_waker_slot(state, shared, thread, waker, now_ns);
	return true;
}

/*
 * All that wait for their first CPU do so in the same place. So where a process makes more than get a slot, one stands for those
 * before it.
 */
static __always_inline struct totals *first_waits_of(__u32 maker)
{
	return bpf_map_lookup_elem(&totals, &maker);
}

static __always_inline void return_to_cpu(struct cpu_state *state, const struct control *shared,
					  const struct target *target, struct task_struct *task, __u64 now_ns)
{
	struct thread *thread = thread_find(task->pid, start_of(task));
	struct totals *sums = totals_find(task->tgid, target->started_ns);
	__u32 tid = task->pid, class, queued_class;
	__u64 blocked_ns, queued_ns, away_ns, carried_blocked_ns, carried_queued_ns;
	struct open_interval *open;
	struct totals *first;

	if (!thread && !(task->flags & PF_EXITING))
		thread = thread_make(tid, start_of(task));
	if (!thread)
		return;
	account_return(&thread->accounted, now_ns, task->sched_info.run_delay, task->sched_info.last_queued);
	if (thread->reclaim_depth)
		account_reclaim_begins(&thread->accounted, now_ns);
	if (clocks_run(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, bpf_get_smp_processor_id(),
			     clock_counts_on(thread), now_ns);
	if (!thread->left_ns)
		return;
	if (thread->left_ns < target->since_ns) {
		thread->left_ns = 0; /* the interval began before the process (again) became a target */
		return;
	}
	/* no wakeup was seen: count the whole interval as blocked */
	if (!thread->woken_ns || thread->woken_ns > now_ns)
		thread->woken_ns = now_ns;
	away_ns = now_ns - thread->left_ns;
	queued_ns = now_ns - thread->woken_ns;
	blocked_ns = away_ns - queued_ns;
	class = thread->stall & (STALL_CLASSES - 1);
	queued_class = STALL_CPU | (class & STALL_MEMORY);
	if (sums && blocked_ns) {
		add(&sums->off_cpu_ns[class], blocked_ns);
		add(&sums->intervals[class], 1);
	}
	if (sums && queued_ns) {
		add(&sums->off_cpu_ns[queued_class], queued_ns);
		add(&sums->intervals[queued_class], 1);
	}
	if (thread->reclaim_depth)
		thread->reclaim_off_ns += away_ns;
	thread->usual_ns = thread->usual_ns / 8 * 7 + away_ns / 8;
	carried_blocked_ns = thread->carried_ns[class] + blocked_ns;
	carried_queued_ns = thread->carried_ns[queued_class] + queued_ns;
	first = thread->is_new ? first_waits_of(thread->maker) : NULL;
	if (first)
		carried_queued_ns += __sync_lock_test_and_set(&first->first_ns, 0);
	if (carried_blocked_ns + carried_queued_ns >= shared->offcpu_min_ns) {
		if (write_slot(state, shared, target, task, thread, now_ns, carried_blocked_ns,
			       carried_queued_ns)) {
			carried_blocked_ns = carried_queued_ns = thread->joined = 0;
		} else if (first || carried_blocked_ns + carried_queued_ns < JOINED_NS_MAX) {
			if (away_ns >= shared->offcpu_min_ns) {
				count(COUNTER_OFFCPU_JOINED);
				thread->joined += !first;
			}
		} else if (away_ns >= shared->offcpu_min_ns) {
			/* no later stack may stand for so long a time */
			count(COUNTER_OFFCPU_UNSTACKED);
			carried_blocked_ns -= blocked_ns;
			carried_queued_ns -= queued_ns;
			if (sums) {
				add(&sums->unstacked_ns[class], blocked_ns);
				add(&sums->unstacked_ns[queued_class], queued_ns);
				add(&sums->unstacked, 1);
			}
		}
	}
	if (first) {
		add(&first->first_ns, carried_queued_ns);
		carried_queued_ns = 0;
	}
	thread->carried_ns[class] = carried_blocked_ns;
	thread->carried_ns[queued_class] = carried_queued_ns;
	if (thread->has_stack) {
		open = bpf_map_lookup_elem(&offcpu_open, &tid);
		if (open)
			open_close(open);
	}
	thread->left_ns = thread->is_new = 0;
}

/* Nothing is counted, so what threads do is not known any more. */
static __always_inline void account_quiet(struct task_struct *from, struct task_struct *to)
{
	struct thread *thread = thread_find(from->pid, start_of(from));

	if (thread)
		account_stop(&thread->accounted);
	thread = thread_find(to->pid, start_of(to));
	if (thread)
		account_stop(&thread->accounted);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(offcpu_switch, bool preempted, struct task_struct *from, struct task_struct *to)
{
	bool is_dead = from->__state & TASK_DEAD, leaves;
	struct control *shared;
	struct cpu_state *state;
	struct target *target;
	__u32 zero = 0, tgid;
	__u64 now_ns;

	if (is_retired())
		return 0;
	account_switch(bpf_get_smp_processor_id());
	if (is_dead)
		ended_leave_cpu(from);
	/* a process may have been a target while the thread ran */
	leaves = !is_dead && (may_be_target(from) || is_tracked(from->pid));
	if (!leaves && !may_be_target(to))
		return 0;
	now_ns = bpf_ktime_get_ns();
	shared = control_get();
	state = bpf_map_lookup_elem(&offcpu_cpus, &zero);
	if (!state || !shared)
		return 0;
	if (is_quiet(shared, now_ns)) {
		state->tid = 0;
		account_quiet(from, to);
		return 0;
	}
	if (leaves && !(from->flags & PF_KTHREAD))
		leave_cpu(ctx, state, shared, from, preempted, now_ns);
	state->tid = 0;
	if (to->flags & PF_KTHREAD || !may_be_target(to))
		return 0;
	tgid = to->tgid;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target)
		return 0;
	state->tid = to->pid;
	state->since_ns = now_ns;
	return_to_cpu(state, shared, target, to, now_ns);
	return 0;
}

/*
 * Records the stack of the current thread, which wakes the thread `tid`. The scratch has its kernel stack, of `bytes`
 * bytes.
 */
static __always_inline bool record_waker(void *ctx, struct cpu_state *state, const struct target *target,
					 struct task_struct *task, __u32 tid, long bytes, __u64 now_ns)
{
	struct sample *sample = bpf_map_lookup_elem(&offcpu_wakers, &tid);

	if (!sample) {
		if (bpf_map_update_elem(&offcpu_wakers, &tid, &state->empty.sample, BPF_NOEXIST))
			return false;
		sample = bpf_map_lookup_elem(&offcpu_wakers, &tid);
		if (!sample)
			return false;
	}
	fill_identity(sample, task, target->started_ns, target->pattern_id, SAMPLE_OF_TARGET);
	sample->cpu = bpf_get_smp_processor_id();
	sample->kind = SAMPLE_WAKER;
	sample->kernel_depth = 0;
	if (kernel_text && policy.kernel_stacks)
		put_frames_above(sample, &state->scratch, bytes, kernel_waking);
	record_user_stack(ctx, sample, &state->scratch, target->started_ns, now_ns);
	count(COUNTER_OFFCPU_STACKS);
	return true;
}

/* Notes who wakes the thread `tid`; and where, if it is a target and half of the budget of stacks is left. */
static __always_inline void note_waker(void *ctx, struct cpu_state *state, const struct control *shared,
				       struct thread *thread, __u32 tid, __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tgid = task->tgid, hz = *(volatile const __u32 *)&shared->offcpu_stacks_hz;
	struct target *target;
	__u64 began_ns;
	long bytes;
	int of;

	bytes = bpf_get_stack(ctx, state->scratch.frames, sizeof(state->scratch.frames), 0);
	if (bytes <= 0 || !kernel_interrupts[1] || !kernel_softirqs[1])
		return;
	if (!task->pid || is_in_interrupt(&state->scratch, (__u32)bytes, !(task->flags & PF_KTHREAD))) {
		thread->waker.kind = WAKER_INTERRUPT;
		return;
	}
	target = bpf_map_lookup_elem(&targets, &tgid);
	of = whose_sample(task, target);
	if (of < 0) {
		thread->waker.kind = WAKER_DENIED;
		return;
	}
	waker_identify(task, (__u8)of, &thread->waker);
	if (!target || !bucket_spend(&state->stacks, now_ns, hz, SECOND_NS / 2))
		return;
	began_ns = bpf_ktime_get_ns();
	thread->has_waker_stack = record_waker(ctx, state, target, task, tid, bytes, now_ns);
	bucket_charge(&state->stacks, hz, bpf_ktime_get_ns() - began_ns);
}

/* Who gives a lock tells what it did while it had it. */
static __always_inline void account_waker(struct thread *thread)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), then = ACCOUNTS;
	struct thread *waker;

	if (thread->accounted.does != ACCOUNTED_BLOCKED || thread->accounted.account != ACCOUNT_SLEEP)
		return;
	waker = thread->accounted.lock ? bpf_map_lookup_elem(&offcpu_threads, &tid) : NULL;
	if (waker)
		then = account_longest(&waker->accounted);
	account_waking(&thread->accounted, then);
}

/*
 * Of a thread that was blocked for WAKER_MIN_NS or longer and may get a slot. This fires before the woken thread gets a
 * run queue, while the current thread is the one that wakes it.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(offcpu_waking, struct task_struct *task)
{
	__u32 tid = task->pid, zero = 0;
	struct cpu_state *state;
	struct control *shared;
	struct thread *thread;
	__u64 now_ns;

	if (!is_tracked(tid) || is_retired())
		return 0;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!thread)
		return 0;
	account_waker(thread);
	if (!thread->left_ns || thread->woken_ns || !thread->has_stack)
		return 0;
	now_ns = bpf_ktime_get_ns();
	shared = control_get();
	state = bpf_map_lookup_elem(&offcpu_cpus, &zero);
	if (now_ns - thread->left_ns >= WAKER_MIN_NS && shared && state && !is_quiet(shared, now_ns))
		note_waker(ctx, state, shared, thread, tid, now_ns);
	return 0;
}

/* last_queued is 0 while it runs. */
static __always_inline void account_queued(struct thread *thread, struct task_struct *task)
{
	account_queue(&thread->accounted, task->thread_info.cpu, task->sched_info.run_delay,
		      task->sched_info.last_queued, (__u64)BPF_CORE_READ(task, se.cfs_rq));
}

/* A thread woken before it left the CPU has left_ns 0 and is skipped. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(offcpu_wakeup, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct open_interval *open;
	struct thread *thread;

	if (!is_tracked(tid) || is_retired())
		return 0;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!thread)
		return 0;
	account_queued(thread, task);
	if (!thread->left_ns || thread->woken_ns)
		return 0;
	thread->woken_ns = bpf_ktime_get_ns();
	clocks_queue(thread, task, thread->woken_ns);
	open = thread->has_stack ? bpf_map_lookup_elem(&offcpu_open, &tid) : NULL;
	if (open)
		open->sample.woken_ns = thread->woken_ns;
	return 0;
}

/* Its time begins when it is queued. */
static __always_inline void account_born(struct thread *thread, struct task_struct *task, __u64 now_ns)
{
	struct target *target;
	__u32 tgid = task->tgid;

	target = bpf_map_lookup_elem(&targets, &tgid);
	thread->accounted.at_ns = task->sched_info.last_queued;
	thread->accounted.at_monotonic = now_ns;
	thread->accounted.victim = target ? victim_of(target) : 0;
	thread->accounted.does = ACCOUNTED_QUEUED;
	account_queued(thread, task);
}

/* A new thread begins in the run queue. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(offcpu_wakeup_new, struct task_struct *task)
{
	struct control *shared = control_get();
	__u64 now_ns = bpf_ktime_get_ns();
	struct thread *thread;
	__u32 tgid = task->tgid;

	if (is_retired() || !shared || is_quiet(shared, now_ns) || task->flags & PF_KTHREAD ||
	    !bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	thread = thread_make(task->pid, start_of(task));
	if (!thread)
		return 0;
	thread->left_ns = thread->woken_ns = now_ns;
	thread->is_new = 1;
	thread->maker = bpf_get_current_pid_tgid() >> 32;
	account_born(thread, task, now_ns);
	/* the current thread is its parent, in the cgroup that the child begins in */
	if (clocks_join(&thread->counted, shared))
		clocks_queue(thread, task, now_ns);
	return 0;
}

/* Forgets a thread that exits or changes its tid. */
static __always_inline void forget(__u32 tid)
{
	struct control *shared = control_get();
	struct thread *thread;

	if (!is_tracked(tid))
		return;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (shared)
		stop_counting(thread, shared, bpf_ktime_get_ns());
	if (!bpf_map_delete_elem(&offcpu_threads, &tid))
		__sync_fetch_and_sub(&tracked[tid % TRACKED_SLOTS], 1);
	bpf_map_delete_elem(&offcpu_open, &tid);
	bpf_map_delete_elem(&offcpu_wakers, &tid);
}

__noinline int offcpu_forget(__u32 tid)
{
	forget(tid);
	return 0;
}

/* Of the current thread. */
static __always_inline void forget_running(__u32 tid)
{
	struct thread *thread = is_tracked(tid) ? bpf_map_lookup_elem(&offcpu_threads, &tid) : NULL;

	if (thread)
		account_run(&thread->accounted, bpf_ktime_get_ns());
	forget(tid);
}

/* What was to count with a later interval of a thread that ends. */
static __always_inline void note_unwritten(struct task_struct *task)
{
	struct thread *thread = is_tracked(task->pid) ? thread_find(task->pid, start_of(task)) : NULL;
	__u32 counter = COUNTER_OFFCPU_UNSTACKED;
	struct totals *sums;
	__u64 *value;

	if (!thread || !thread->joined)
		return;
	value = bpf_map_lookup_elem(&counters, &counter);
	if (value)
		__sync_fetch_and_add(value, thread->joined);
	sums = totals_find(task->tgid, BPF_CORE_READ(task, group_leader, start_boottime));
	if (sums)
		add(&sums->unstacked, thread->joined);
}

/* Runs while quiet, too, and for threads that are no longer targets: nothing else deletes their entries. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(offcpu_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (is_retired() || task->flags & PF_KTHREAD)
		return 0;
	note_unwritten(task);
	forget_running(task->pid);
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&totals, &tgid);
	return 0;
}

/* When a thread other than the leader calls exec, it takes the leader's tid (fs/exec.c, de_thread()). */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(offcpu_exec, struct task_struct *task, int pid_before)
{
	if (!is_retired() && pid_before != task->pid)
		forget_running(pid_before);
	return 0;
}

/* The queue that the task's cgroup has on that CPU; 0: not known. */
static __always_inline __u64 queue_on(struct task_struct *task, int cpu)
{
	struct cfs_rq **queues = BPF_CORE_READ(task, se.cfs_rq, tg, cfs_rq);
	__u64 queue = 0;

	bpf_probe_read_kernel(&queue, sizeof(queue), &queues[cpu]);
	return queue;
}

/* Fires under the lock of the queue that it leaves, when the kernel has taken it out of there; or while it is blocked. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(offcpu_migrate, struct task_struct *task, int cpu)
{
	__u32 tid = task->pid;
	struct thread *thread;

	if (!is_tracked(tid) || is_retired())
		return 0;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (thread && thread->accounted.place)
		account_migrate(&thread->accounted, (__u32)cpu, task->sched_info.run_delay,
				run_queue_of(task)->clock, queue_on(task, cpu));
	return 0;
}

static __always_inline void account_tick(struct task_struct *task, __u64 now_ns)
{
	__u32 tgid = task->tgid, tid = task->pid;
	struct target *target = may_be_target(task) ? bpf_map_lookup_elem(&targets, &tgid) : NULL;
	struct thread *thread;

	if (!target || task->flags & PF_EXITING)
		return;
	thread = thread_find(tid, start_of(task));
	if (!thread)
		thread = thread_make(tid, start_of(task));
	if (thread) {
		thread->accounted.victim = victim_of(target);
		account_run(&thread->accounted, now_ns);
	}
}

__noinline int offcpu_tick(__u64 now_ns)
{
	/* first: the slice is not charged to the thread for a wait of its own that is over */
	account_tick(bpf_get_current_task_btf(), now_ns);
	account_switch(bpf_get_smp_processor_id());
	return 0;
}

__noinline int offcpu_meet(__u32 tid, __u64 began_ns, __u32 tgid, __u32 account, __u64 run_delay)
{
	const struct target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct thread *thread;

	if (!target || account >= ACCOUNTS || (is_tracked(tid) && thread_find(tid, began_ns)))
		return 0;
	thread = thread_make(tid, began_ns);
	if (!thread)
		return 0;
	thread->accounted.at_monotonic = bpf_ktime_get_ns();
	thread->accounted.seen_ns = thread->accounted.left_delay_ns = run_delay;
	thread->accounted.victim = target->victim;
	thread->accounted.account = (__u8)account;
	thread->accounted.does = ACCOUNTED_BLOCKED;
	return 0;
}

/* The iterator `away`: what is in no sum yet, because its end will tell its account, or nothing was seen of the thread. */
SEC("iter/task")
int walk_away(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct away_record record = { .header = { RECORD_AWAY, sizeof(record) }, .account = ACCOUNTS };
	const struct target *target;
	const struct thread *thread;
	__u32 tgid;

	if (is_retired() || !task || task->flags & PF_KTHREAD || task->exit_state)
		return 0;
	tgid = task->tgid;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target || policy_denies_thread(task))
		return 0;
	record.victim = target->victim;
	record.tgid = tgid;
	record.cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	read_comm(task->group_leader, record.comm);
	thread = thread_find(task->pid, task->start_boottime);
	if (!thread || thread->accounted.does == ACCOUNTED_NOT) {
		record.account = task->__state ? account_of_blocked(task) : ACCOUNT_REST;
		record.since_ns = target->since_ns;
	} else if (thread->accounted.does == ACCOUNTED_BLOCKED) {
		record.account = thread->accounted.account;
		record.since_ns = thread->accounted.at_monotonic;
		record.until_ns = thread->woken_ns;
	}
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

static __always_inline void clocks_stall(struct thread *thread, __u64 now_ns)
{
	struct control *shared = control_get();

	if (shared && clocks_join(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, bpf_get_smp_processor_id(),
			     clock_counts_on(thread), now_ns);
}

/*
 * Most memory stall is on-CPU time in reclaim and compaction. PSI brackets it where these tracepoints are
 * (mm/page_alloc.c, mm/memcontrol.c: psi_memstall_enter()). The sections may nest.
 */
static __always_inline void enter_reclaim(bool at_limit)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tgid = task->tgid;
	struct thread *thread;

	if (task->flags & (PF_KTHREAD | PF_EXITING) || !bpf_map_lookup_elem(&targets, &tgid))
		return;
	thread = thread_find(task->pid, start_of(task));
	if (!thread)
		thread = thread_make(task->pid, start_of(task));
	if (thread && !thread->reclaim_depth++) {
		thread->reclaim_ns = bpf_ktime_get_ns();
		thread->reclaim_off_ns = 0;
		thread->accounted.at_limit = 0;
		if (at_limit)
			account_meets_limit(&thread->accounted);
		account_reclaim_begins(&thread->accounted, thread->reclaim_ns);
		clocks_stall(thread, thread->reclaim_ns);
	}
}

/* Also runs for threads that are no longer targets: each enter_reclaim() needs its leave_reclaim(). */
static __always_inline void leave_reclaim(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = thread_find(task->pid, start_of(task));
	struct totals *sums;

	if (!thread || !thread->reclaim_depth || --thread->reclaim_depth)
		return;
	account_reclaim_ends(&thread->accounted, bpf_ktime_get_ns());
	clocks_stall(thread, bpf_ktime_get_ns());
	sums = totals_find(task->tgid, BPF_CORE_READ(task, group_leader, start_boottime));
	if (!sums)
		return;
	add(&sums->reclaim_ns, bpf_ktime_get_ns() - thread->reclaim_ns);
	add(&sums->reclaim_off_ns, thread->reclaim_off_ns);
}

#define RECLAIM_TRACEPOINT(tracepoint, does)                                                                 \
	SEC("tp_btf/" #tracepoint) int BPF_PROG(tracepoint)                                                  \
	{                                                                                                    \
		if (!is_retired())                                                                           \
			does;                                                                                \
		return 0;                                                                                    \
	}

RECLAIM_TRACEPOINT(mm_vmscan_direct_reclaim_begin, enter_reclaim(false))
RECLAIM_TRACEPOINT(mm_vmscan_direct_reclaim_end, leave_reclaim())
RECLAIM_TRACEPOINT(mm_vmscan_memcg_reclaim_begin, enter_reclaim(true))
RECLAIM_TRACEPOINT(mm_vmscan_memcg_reclaim_end, leave_reclaim())
RECLAIM_TRACEPOINT(mm_compaction_begin, enter_reclaim(false))
RECLAIM_TRACEPOINT(mm_compaction_end, leave_reclaim())
