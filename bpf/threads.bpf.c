/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.bpf.c owns the text iterator `threads`: a header, and a line for each thread that root's policy shows, of
 * fields between tabs (docs/THREADS.md); and `stacks`, with the kernel stack of each. They need no daemon. Each reader has
 * a cursor of its own, and a reader that stops holds nothing but its descriptor.
 *
 * Names of threads and cgroups are chosen by others, so every byte that could end a field, be taken for a quote, or act
 * on a terminal is written as a backslash and three octal digits, as in /proc/mounts.
 */
#include "bpf/thread_look.h"

#include "policy/call_names.h"

#define HEADER                                                                                               \
	"tid\ttgid\tcomm\tuid\tstate\tsyscall\tfd\tfutex\tfunction\tcpu\tstate_ns\trun_delay_ns\tio_delay_ns\tcgroup\n"

#define STACK_FRAMES 16U /* that the iterator `stacks` shows */
#define NAME_BYTES 96U   /* of a function and its module, which may be cut */

/* Names are written piece by piece. The pieces are short, because the functions around them share a stack of 512 bytes. */
#define CHUNK_BYTES 8U
#define PIECES_MAX 32U /* of a name of NAME_MAX bytes */
/* A line has to fit into the kernel's buffer of 32 KiB, whatever cgroups are called; each byte may become four. */
#define CGROUP_SHOWN_BYTES 1024U

static const char calls[][24] = { CALL_NAMES };

/* How far the scheduler's clock was behind CLOCK_MONOTONIC, and when that was seen. Readers share it without a lock. */
static __s64 clock_lag_ns;
static __u64 clock_lag_at_ns; /* 0: never */

#define PUT(seq, text) bpf_seq_write(seq, text, sizeof(text) - 1)

/*
 * Says now in the clock of task_struct.sched_info, which no helper reads: the reader itself came to its CPU some time ago,
 * and the shortest such time that was seen is the best. The two clocks drift apart by less than one part in 1024.
 */
static __noinline __u64 scheduler_now(void)
{
	struct task_struct *reader = (void *)bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns();
	__s64 seen_ns = (__s64)(now_ns - reader->sched_info.last_arrival);
	__s64 lag_ns = clock_lag_ns + (__s64)((now_ns - clock_lag_at_ns) >> 10);

	if (!clock_lag_at_ns || seen_ns < lag_ns) {
		clock_lag_ns = lag_ns = seen_ns;
		clock_lag_at_ns = now_ns;
	}
	return now_ns - (__u64)lag_ns;
}

/* ---- text of others ---- */

/* How a byte is written. Of a zero byte nothing is. A table, because the verifier would follow each branch for each byte. */
struct escape {
	char text[4];
	__u32 bytes;
};

#define IS_PLAIN(byte)                                                                                       \
	((byte) > ' ' && (byte) < 0x7f && (byte) != '\\' && (byte) != '"' && (byte) != '\'' &&               \
	 (byte) != ',' && (byte) != ';' && (byte) != '|' && (byte) != '#')
#define ESCAPE(byte)                                                                                         \
	{                                                                                                    \
		{ IS_PLAIN(byte) ? (char)(byte) : '\\', '0' + ((byte) >> 6), '0' + ((byte) >> 3 & 7),        \
		  '0' + ((byte)&7) },                                                                        \
			!(byte)          ? 0                                                                 \
			: IS_PLAIN(byte) ? 1                                                                 \
					 : 4                                                                 \
	}
#define ESCAPE_4(byte) ESCAPE(byte), ESCAPE((byte) + 1), ESCAPE((byte) + 2), ESCAPE((byte) + 3)
#define ESCAPE_16(byte) ESCAPE_4(byte), ESCAPE_4((byte) + 4), ESCAPE_4((byte) + 8), ESCAPE_4((byte) + 12)
#define ESCAPE_64(byte)                                                                                      \
	ESCAPE_16(byte), ESCAPE_16((byte) + 16), ESCAPE_16((byte) + 32), ESCAPE_16((byte) + 48)

static const struct escape escapes[256] = { ESCAPE_64(0), ESCAPE_64(64), ESCAPE_64(128), ESCAPE_64(192) };

/* A text in the kernel, written piece by piece. */
struct name {
	struct seq_file *seq;
	const char *text;
	__u32 written; /* bytes */
};

/* Writes the next piece, as a callback of bpf_loop(). Returns 1 at the end. */
static long put_piece(__u32 index, void *user)
{
	struct name *name = user;
	char piece[CHUNK_BYTES + 1] = {}, into[CHUNK_BYTES * 4 + 4] = {};
	__u32 at = 0;
	/* the mask is for the verifier: the text may be on the stack */
	long bytes = bpf_probe_read_kernel_str(piece, sizeof(piece),
					       name->text + (index & (PIECES_MAX - 1)) * CHUNK_BYTES);

	if (bytes <= 1)
		return 1;
	for (__u32 i = 0; i < CHUNK_BYTES; i++) {
		const struct escape *escape = &escapes[(__u8)piece[i]];

		at &= CHUNK_BYTES * 4 - 1; /* for the verifier: before the last byte it is smaller */
		__builtin_memcpy(into + at, escape->text, sizeof(escape->text));
		at += escape->bytes & 7;
	}
	if (at > CHUNK_BYTES * 4)
		return 1;
	bpf_seq_write(name->seq, into, at);
	name->written += at;
	return bytes < (long)sizeof(piece);
}

/* Writes a text of at most `pieces` pieces; an empty one as a zero byte, because no field is empty. */
static __noinline __u32 put_escaped(struct seq_file *seq, const char *text, __u32 pieces)
{
	struct name name = { .seq = seq, .text = text };

	bpf_loop(pieces, put_piece, &name, 0);
	if (!name.written)
		PUT(seq, "\\000");
	return name.written;
}

struct cgroup_names {
	struct seq_file *seq;
	struct cgroup **ancestors; /* the first one is the root, which has no name */
	__u32 levels;
	__u32 written; /* bytes */
};

static long put_level(__u32 index, void *user)
{
	struct cgroup_names *names = user;
	struct cgroup *ancestor;

	if (index >= names->levels ||
	    bpf_probe_read_kernel(&ancestor, sizeof(ancestor), names->ancestors + index + 1))
		return 1;
	if (names->written >= CGROUP_SHOWN_BYTES) {
		PUT(names->seq, "/...");
		return 1;
	}
	PUT(names->seq, "/");
	names->written += 1 + put_escaped(names->seq, BPF_CORE_READ(ancestor, kn, name),
					  CGROUP_NAME_BYTES / CHUNK_BYTES);
	return 0;
}

static __noinline int put_cgroup(struct seq_file *seq, struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	struct cgroup_names names = { .seq = seq,
				      .ancestors = (void *)cgroup +
						   bpf_core_field_offset(struct cgroup, ancestors),
				      .levels = (__u32)BPF_CORE_READ(cgroup, level) };

	if (!names.levels)
		PUT(seq, "/");
	else
		bpf_loop(CGROUP_LEVELS, put_level, &names, 0);
	return 0;
}

/* ---- state ---- */

/* 16 of them: the verifier accepts an index that is masked, but not one that is a remainder. */
static const char state_names[16][8] = { THREAD_STATE_NAMES };

/* For how long the thread has been so, in ns. */
static __noinline __u64 state_time(struct task_struct *task, __u32 state)
{
	__u64 now_ns = scheduler_now(), since_ns = task->sched_info.last_arrival, left_ns;

	if (state == THREAD_QUEUED && task->sched_info.last_queued) {
		since_ns = task->sched_info.last_queued;
	} else if (state != THREAD_RUNNING && task->prio >= MAX_RT_PRIO) {
		left_ns = since_ns + (task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime);
		if (left_ns <= now_ns) /* otherwise another class than the fair one runs it */
			since_ns = left_ns;
	}
	return since_ns < now_ns ? now_ns - since_ns : 0;
}

/* ---- system call ---- */

static __always_inline int put_call_name(struct seq_file *seq, __u64 call)
{
	if (call < sizeof(calls) / sizeof(calls[0]) && calls[call][0])
		return BPF_SEQ_PRINTF(seq, "\t%s", calls[call]);
	return BPF_SEQ_PRINTF(seq, "\tsyscall_%llu", call);
}

/* Of a thread that is off CPU and not a kernel thread: its system call, the descriptor, the futex's key. */
static __noinline int put_call(struct seq_file *seq, struct task_struct *task)
{
	struct system_call call = system_call_read(task);
	__u64 lock;

	if (call.number < 0)
		return PUT(seq, "\t-\t-\t-");
	put_call_name(seq, (__u64)call.number);
	if ((__u64)call.number < sizeof(takes_fd) && takes_fd[call.number])
		BPF_SEQ_PRINTF(seq, "\t%d", (__s32)call.first);
	else
		PUT(seq, "\t-");
	lock = lock_awaited(task, BPF_CORE_READ(task, group_leader, start_boottime));
	return lock ? BPF_SEQ_PRINTF(seq, "\t%016llx", lock) : PUT(seq, "\t-");
}

/* ---- kernel function ---- */

/* The kernel writes the name of a module's function as "name [module]", and the address of one that it does not know. */
static __noinline int put_name(struct seq_file *seq, __u64 function)
{
	char name[NAME_BYTES] = {};

	if (function)
		BPF_SNPRINTF(name, sizeof(name), "%ps", (void *)function);
	if (!name[0] || (name[0] == '0' && name[1] == 'x'))
		return PUT(seq, "-");
	return put_escaped(seq, name, NAME_BYTES / CHUNK_BYTES);
}

static __always_inline int put_function(struct seq_file *seq, struct task_struct *task)
{
	PUT(seq, "\t");
	return put_name(seq, kernel_text && policy.kernel_stacks ? find_function(task) : 0);
}

/* ---- */

/* Two functions, because the stack holds the arguments of one at a time. */
static __noinline int put_identity(struct seq_file *seq, struct task_struct *task, __u32 state)
{
	BPF_SEQ_PRINTF(seq, "%d\t%d\t", task->pid, task->tgid);
	put_escaped(seq, task->comm, ABI_COMM_BYTES / CHUNK_BYTES);
	BPF_SEQ_PRINTF(seq, "\t%u\t%s", BPF_CORE_READ(task, real_cred, uid.val), state_names[state & 15]);
	return 0;
}

static __noinline int put_times(struct seq_file *seq, struct task_struct *task, __u32 state)
{
	struct task_delay_info *delays = NULL;

	if (bpf_core_field_exists(task->delays))
		delays = BPF_CORE_READ(task, delays);
	if (bpf_core_field_exists(task->sched_info.last_arrival))
		BPF_SEQ_PRINTF(seq, "\t%u\t%llu\t%llu", task->thread_info.cpu, state_time(task, state),
			       task->sched_info.run_delay);
	else
		BPF_SEQ_PRINTF(seq, "\t%u\t-\t-", task->thread_info.cpu);
	return delays ? BPF_SEQ_PRINTF(seq, "\t%llu\t", BPF_CORE_READ(delays, blkio_delay))
		      : PUT(seq, "\t-\t");
}

SEC("iter/task")
int walk_threads(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	__u32 state;

	if (is_retired() || !task)
		return 0;
	if (!ctx->meta->seq_num)
		PUT(seq, HEADER);
	if (is_hidden(task))
		return 0;
	state = state_of(task);
	put_identity(seq, task, state);
	if (is_off_cpu(state) && !(task->flags & PF_KTHREAD))
		put_call(seq, task);
	else
		PUT(seq, "\t-\t-\t-");
	if (is_off_cpu(state))
		put_function(seq, task);
	else
		PUT(seq, "\t-");
	put_times(seq, task, state);
	put_cgroup(seq, task);
	PUT(seq, "\n");
	return 0;
}

/* ---- stacks ---- */

struct stack_frames {
	struct seq_file *seq;
	__u64 count;
	__u64 frames[STACK_FRAMES];
};

static long put_frame(__u32 index, void *user)
{
	struct stack_frames *stack = user;
	__u64 function;

	if (index >= stack->count || index >= STACK_FRAMES)
		return 1;
	function = stack->frames[index];
	if (index)
		PUT(stack->seq, ";");
	put_name(stack->seq, rebase(function) == KERNEL_FRAME_UNKNOWN ? 0 : function);
	return 0;
}

/* Innermost function first. */
static __noinline int put_stack(struct seq_file *seq, struct task_struct *task)
{
	struct stack_frames stack = { .seq = seq };
	long bytes = bpf_get_task_stack(task, stack.frames, sizeof(stack.frames), 0);

	if (bytes <= 0)
		return PUT(seq, "-");
	stack.count = (__u64)bytes / sizeof(stack.frames[0]);
	bpf_loop(STACK_FRAMES, put_frame, &stack, 0);
	return 0;
}

SEC("iter/task")
int walk_stacks(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;

	if (is_retired() || !task)
		return 0;
	if (!ctx->meta->seq_num)
		PUT(seq, "tid\tstack\n");
	if (is_hidden(task))
		return 0;
	BPF_SEQ_PRINTF(seq, "%d\t", task->pid);
	if (kernel_text && policy.kernel_stacks && is_off_cpu(state_of(task)))
		put_stack(seq, task);
	else
		PUT(seq, "-");
	PUT(seq, "\n");
	return 0;
}
