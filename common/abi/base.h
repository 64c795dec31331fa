/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi/base.h has what all parts of common/abi/abi.h build on. They use fixed-width types only; padding is explicit and
 * zeroed; every record begins with its type and size. Any change raises BOURDON_ABI and adds a line to this history:
 *
 *   1  targets, on-CPU sample rings, process events, error records, task and mapping iterators
 *   2  counter of CPUs that lost their perf clock
 *   3  off-CPU intervals, ended and still open; exact totals of each process; budgets for both in control
 *   4  stall clocks, and the fields of control that start them; counter of off-CPU stacks
 *   5  tables for unwinding by .eh_frame; code spans of each process; the reason why unwinding a user stack
 *      ended; in control, the count of addresses in no known mapping
 *   6  root's policy; user stacks that end because of it; counters of what it denied
 *   7  mappings: a record of each process, which part of them to list, and how far the list has come; paths of
 *      cgroups: a ring, records in the task iterator, the set of known ids, counters; policy on processes whose
 *      memory the kernel protects
 *   8  processes that ended: sums of those that no walk met, and a record of each other one; kernel threads in
 *      the task iterator; bytes of I/O without those of waited-for children; the start of the last walk; which
 *      of the programs that a process has executed a sample is of; samples on CPU of bystanders and of kernel
 *      threads, and policy on both
 *   9  who woke a thread, and where, and a key of the futex that it waited for; time in interrupts, and the names of their
 *      handlers; time in reclaim of every process; kills; what captures on demand want
 *  10  looks at the states of threads, and at the activity of all
 *  11  where a Java virtual machine of the HotSpot kind says how its compiled code is unwound
 *  12  accounts of where the time of targets' threads went, and who they waited for
 *  13  in these, memory limits with their cgroup, processes that are wanted by their id apart from others, and the command
 *      `bourdon`
 *  14  slots that the consumer has not read yet are kept; intervals off CPU beyond the budget count in a later one; the first
 *      wait of a thread has a slot
 *  15  what the kernel counts of these programs
 *  16  histograms of latencies; where targets grow their memory
 *  17  latencies of requests to servers
 */
#ifndef BOURDON_ABI_BASE_H
#define BOURDON_ABI_BASE_H

#include <linux/types.h>

#ifndef BOURDON_ABI /* tests/e2e/upgrade.bats builds with another number */
#define BOURDON_ABI 17U
#endif

#define ABI_COMM_BYTES 16U /* TASK_COMM_LEN: 15 bytes and a NUL */

/* Record types. A reader counts and skips types that it does not know. */
#define RECORD_SAMPLE 1U
#define RECORD_PROCESS 2U
#define RECORD_ERROR 3U
#define RECORD_TASK 4U
#define RECORD_MAPPING 5U
#define RECORD_THREAD 6U
#define RECORD_MAPPED 7U
#define RECORD_CGROUP 8U
#define RECORD_ENDED 9U
#define RECORD_KILL 10U
#define RECORD_LOOK 11U
#define RECORD_ACTIVITY 12U
#define RECORD_AWAY 13U
#define RECORD_PROGRAM 14U

struct record_header {
	__u16 type;  /* RECORD_* */
	__u16 bytes; /* whole record, header included */
};

#define ABI_CHECK(type, member, at)                                                                          \
	_Static_assert(__builtin_offsetof(struct type, member) == (at), #type "." #member " moved")
#define ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "struct " #type " changed size")

ABI_SIZE(record_header, 4);

#endif
