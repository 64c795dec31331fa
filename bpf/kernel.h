/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h declares the few kernel types that the programs read, with only the fields they read. CO-RE
 * relocates each access to the running kernel's layout, so the order and size here do not matter.
 */
#ifndef BOURDON_BPF_KERNEL_H
#define BOURDON_BPF_KERNEL_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "common/kernel/kernel_functions.h"

#define PF_EXITING 0x00000004U
#define PF_KTHREAD 0x00200000U
/* include/linux/sched.h: task_struct.__state and .exit_state */
#define TASK_INTERRUPTIBLE 0x0001U
#define TASK_UNINTERRUPTIBLE 0x0002U
#define TASK_STOPPED_OF_KERNEL 0x0004U
#define TASK_TRACED_OF_KERNEL 0x0008U
#define EXIT_DEAD 0x0010U
#define EXIT_ZOMBIE 0x0020U
#define TASK_PARKED 0x0040U
#define TASK_NOLOAD 0x0400U
#define TASK_RTLOCK_WAIT 0x1000U
#define TASK_FROZEN 0x8000U
#define MAX_RT_PRIO 100
#define VM_EXEC 0x00000004UL
#define MMF_DUMPABLE_MASK 3UL /* linux/mm_types.h; before Linux 6.18 linux/sched/coredump.h */
#define SUID_DUMP_USER 1UL
#define EEXIST 17
#define EFAULT 14
#define ENOMEM 12
#define EBUSY 16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kuid {
	__u32 val;
};

struct kernfs_iattrs {
	struct kuid ia_uid;
};

struct kernfs_node {
	__u64 id;
	const char *name;
	unsigned short mode;
	struct kernfs_iattrs *iattr;
};

struct cgroup {
	struct kernfs_node *kn;
	void *root;
	int level;
	struct cgroup *ancestors[1]; /* since Linux 6.1, from the root to the cgroup itself */
};

enum cgroup_subsys_id {
	memory_cgrp_id,
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct task_group {
	struct cgroup_subsys_state css;
	struct cfs_rq **cfs_rq; /* by CPU */
	struct task_group *parent;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* by cgroup_subsys_id */
	struct cgroup *dfl_cgrp;
};

struct counter_of_pages {
	long counter;
};

struct page_counter {
	struct counter_of_pages usage;
	unsigned long high;
	unsigned long max;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct page_counter memory;
};

/* Of requests to devices. */
struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bio {
	struct blkcg_gq *bi_blkg; /* with CONFIG_BLK_CGROUP */
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;  /* the operation in the lowest 8 bits */
	unsigned int __data_len; /* bytes that are left */
	struct bio *bio;         /* the first; NULL: a flush, or nothing is left */
	__u64 start_time_ns;
};

/* Of connections. */
struct proto {
	struct percpu_counter *sockets_allocated; /* of the protocol, on the whole machine */
};

struct sock_common {
	unsigned short skc_num; /* the local port */
	struct proto *skc_prot;
};

struct socket_lock {
	int owned; /* by a thread */
};

struct sock {
	struct sock_common __sk_common;
	struct socket_lock sk_lock;
	unsigned short sk_protocol;
};

struct inet_bind_bucket {
	signed char fastreuse; /* -1: a connect() chose the port */
};

struct inet_connection_sock {
	struct inet_bind_bucket *icsk_bind_hash;
};

struct tcp_sock {
	__u32 snd_nxt;
};

struct sk_buff {
	struct sock *sk;
	unsigned int len;
	unsigned short transport_header; /* from `head` */
	unsigned char *head;
	unsigned char *data;
};

struct kernel_siginfo;

/* total_vm: since Linux 6.9 */
struct trace_event_raw_mark_victim {
	unsigned long total_vm;
};

struct cred {
	struct kuid uid;
	struct kuid suid;
	struct kuid euid;
	struct kuid fsuid;
};

struct counter_of_kernel {
	int counter;
};

struct task_io_accounting {
	__u64 read_bytes;
	__u64 write_bytes;
};

struct list_head {
	struct list_head *next;
};

struct signal_struct {
	struct list_head thread_head;
	struct counter_of_kernel live;
	/* sums over the threads that have exited */
	unsigned long long sum_sched_runtime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct task_io_accounting ioac;
};

/* Times are of the scheduler's clock, which is not CLOCK_MONOTONIC. */
struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival; /* when it last came to a CPU */
	unsigned long long last_queued;  /* since when it waits for a CPU; 0: it does not */
};

struct task_group;

struct cfs_rq {
	struct rq *rq;
	struct task_group *tg;
	unsigned int throttled : 1; /* an int before Linux 6.18: read it as a bit field, which finds either */
	int throttle_count;         /* how many of it and of those above have used up their quota */
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* of its cgroup, on its CPU, whatever its class */
	__u64 exec_start;      /* when sum_exec_runtime was brought up to date */
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime; /* when it last came to a CPU; of the fair class alone */
	unsigned char sched_delayed; /* since Linux 6.12: it sleeps, and is still in its queue */
};

struct task_delay_info {
	__u64 blkio_delay;
};

/* Types that a kernel has with an option: CONFIG_IRQ_TIME_ACCOUNTING, CONFIG_PARAVIRT_TIME_ACCOUNTING. */
struct rq {
	__u64 clock; /* valid for who holds the queue's lock; sched_info is in its terms */
	__u64 prev_irq_time;
	__u64 prev_steal_time_rq;
};

struct irqaction {
	const char *name;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct path {
	void *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct mm_context_of_kernel {
	void *vdso;
};

struct percpu_counter {
	__s64 count;
};

/* Before Linux 6.2 (f1a7941243c1) the resident page counts were plain counters. */
struct long_of_kernel {
	__s64 counter;
};

struct mm_rss_stat___before_6_2 {
	struct long_of_kernel count[4];
};

struct mm_struct___before_6_2 {
	struct mm_rss_stat___before_6_2 rss_stat;
};

/* Linux 6.18 made the flags a bitmap (bb6525f2f8c4). */
struct mm_flags_of_kernel {
	unsigned long __mm_flags[1];
};

struct mm_struct___since_6_18 {
	struct mm_flags_of_kernel flags;
};

/* Linux 6.4 has the number of changes, 6.14 a seqcount_t of them (eb449bd96954); both with CONFIG_PER_VMA_LOCK. */
struct seqcount {
	unsigned int sequence;
};

struct mm_struct___since_6_14 {
	struct seqcount mm_lock_seq;
};

/* Private to kernel/events/uprobes.c: where single-stepped instructions are, and at its begin the return trampoline. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct mm_struct {
	unsigned long flags;
	int mm_lock_seq;
	struct uprobes_state uprobes_state;
	struct percpu_counter rss_stat[4];
	int map_count;
	unsigned long start_code; /* of the executable's first segment with code, and the end of its last */
	unsigned long end_code;
	unsigned long start_stack; /* the stack pointer with which the program began */
	struct file *exe_file;
	struct mm_context_of_kernel context;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct mm_struct *vm_mm;
	struct file *vm_file;
};

/* x86 and arm64 keep thread_info in task_struct: CONFIG_THREAD_INFO_IN_TASK. */
struct thread_info {
	__u32 cpu;
};

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
};
#endif

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int exit_state;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	int prio;
	int pid;
	int tgid;
	__u64 start_time; /* CLOCK_MONOTONIC */
	__u64 start_boottime;
	__u64 parent_exec_id;
	__u64 self_exec_id;
	unsigned int in_iowait : 1;
	unsigned int in_memstall : 1;
	unsigned int in_execve : 1;
	char comm[16];
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct list_head thread_node;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_delay_info *delays;
	struct task_io_accounting ioac;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct mm_struct *mm;
	struct uprobe_task *utask;
	const struct cred *real_cred;
	struct css_set *cgroups;
	struct signal_struct *signal;
#if defined(__TARGET_ARCH_x86)
	struct thread_struct thread;
#endif
};

/* pt_regs with the kernel's field names; the C library's headers use other names. */
struct pt_regs___kernel {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};

struct seq_file {
	unsigned long size; /* of the buffer */
	unsigned long count;
};

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 seq_num; /* of the object; 0: the first one */
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct kallsym_iter {
	unsigned long value;
	char type;
	char name[512];
	char module_name[56];
};

struct bpf_iter__ksym {
	struct bpf_iter_meta *meta;
	struct kallsym_iter *ksym;
};

/* The kernel's u64_stats_t: a count of 64 bits on 64-bit machines. */
struct bpf_counted {
	__u64 value;
};

struct bpf_prog_stats {
	struct bpf_counted cnt;
	struct bpf_counted nsecs;
	struct bpf_counted misses;
};

struct bpf_prog_aux {
	__u32 id;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
	struct bpf_prog_stats *stats; /* each CPU's own */
};

struct bpf_iter__bpf_prog {
	struct bpf_iter_meta *meta;
	struct bpf_prog *prog;
};

struct bpf_array {
	void *pptrs[0]; /* each CPU's own, of each element */
};

#pragma clang attribute pop

/*
 * Since Linux 6.7 (4ac454682158): walks the mappings of one task. It never waits for the mmap lock: new() fails
 * with -EBUSY.
 */
struct bpf_iter_task_vma {
	__u64 opaque;
} __attribute__((aligned(8)));

static int (*bpf_iter_task_vma_new)(struct bpf_iter_task_vma *iterator, struct task_struct *task,
				    __u64 address) = (void *)KERNEL_FUNCTION_TASK_VMA_NEW;
static struct vm_area_struct *(*bpf_iter_task_vma_next)(struct bpf_iter_task_vma *iterator) = (void *)
	KERNEL_FUNCTION_TASK_VMA_NEXT;
static void (*bpf_iter_task_vma_destroy)(struct bpf_iter_task_vma *iterator) = (void *)
	KERNEL_FUNCTION_TASK_VMA_DESTROY;

#endif
