/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupts.bpf.c sums the time that each CPU spends in soft interrupts, by vector, and in the handlers of hard
 * interrupts, by number. The kernel accounts interrupts as a whole, and without CONFIG_IRQ_TIME_ACCOUNTING in ticks.
 *
 * A hard interrupt within a soft one counts as itself alone. What has no tracepoint here counts as time of whatever it
 * interrupted: reschedule and call-function interrupts, and the way in and out of a handler. So does the time in which
 * a hypervisor or an NMI took the CPU from a handler.
 */
#include "bpf/interrupts.h"
#include "bpf/histogram.h"
#include "bpf/target.h"

/* Names of handlers are read again once in so many interrupts of a CPU: a number may be given to another device. */
#define NAME_EVERY 1024U

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, INTERRUPTS_MAX);
	__type(key, struct interrupt_key);
	__type(value, struct interrupt_sums);
} interrupts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, INTERRUPTS_MAX);
	__type(key, __u32);
	__type(value, struct irq_name);
} irq_names SEC(".maps");

/* 0: not in one, or its begin was not seen. Hard interrupts do not nest: the kernel keeps them off in handlers. */
struct interrupt_cpu {
	__u64 hard_began_ns, soft_began_ns;
	__u64 hard_ns;        /* sum of all handlers of hard interrupts */
	__u64 hard_ns_before; /* hard_ns when the soft interrupt began */
	__u64 soft_ns;        /* sum of all soft interrupts, without the hard ones within */
	__u32 soft_vector;    /* of the soft interrupt */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupt_cpu);
} interrupt_cpus SEC(".maps");

static __always_inline struct interrupt_cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupt_cpus, &zero);
}

__noinline __u64 interrupts_ns(void)
{
	struct interrupt_cpu *cpu = this_cpu();

	return cpu ? cpu->hard_ns + cpu->soft_ns : 0;
}

__noinline __u32 interrupts_now(void)
{
	struct interrupt_cpu *cpu = this_cpu();

	if (!cpu || !(cpu->hard_began_ns || cpu->soft_began_ns))
		return IN_NO_INTERRUPT;
	return !cpu->hard_began_ns && cpu->soft_vector == SOFTIRQ_NET_RX ? IN_NET_RX : IN_INTERRUPT;
}

/* Returns 0 where nothing is to be measured. */
static __always_inline __u64 begin_ns(void)
{
	struct control *shared = control_get();
	__u64 now_ns = bpf_ktime_get_ns();

	return is_retired() || !shared || is_quiet(shared, now_ns) ? 0 : now_ns;
}

/* Returns the interrupt's number so far on this CPU, or 0 where it found no room. */
static __always_inline __u64 add(__u32 kind, __u32 number, __u64 ns)
{
	struct interrupt_key key = { .kind = kind, .number = number };
	struct interrupt_sums first = { .count = 1, .ns = ns };
	struct interrupt_sums *sums = bpf_map_lookup_elem(&interrupts, &key);

	if (sums) {
		sums->ns += ns;
		return ++sums->count;
	}
	if (!bpf_map_update_elem(&interrupts, &key, &first, BPF_ANY))
		return 1;
	count(COUNTER_INTERRUPTS_LOST);
	return 0;
}

static __always_inline void put_name(__u32 number, struct irqaction *action)
{
	struct irq_name name = {};

	if (bpf_probe_read_kernel_str(name.name, sizeof(name.name), action->name) > 1)
		bpf_map_update_elem(&irq_names, &number, &name, BPF_ANY);
}

static __always_inline void enter_hard(void)
{
	struct interrupt_cpu *cpu = this_cpu();

	if (cpu)
		cpu->hard_began_ns = begin_ns();
}

/* As add(). */
static __always_inline __u64 leave_hard(__u32 kind, __u32 number)
{
	struct interrupt_cpu *cpu = this_cpu();
	__u64 ns;

	if (!cpu || !cpu->hard_began_ns)
		return 0;
	ns = bpf_ktime_get_ns() - cpu->hard_began_ns;
	cpu->hard_began_ns = 0;
	cpu->hard_ns += ns;
	return add(kind, number, ns);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_enter)
{
	enter_hard();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_leave, int irq, struct irqaction *action)
{
	if (leave_hard(INTERRUPT_HARD, (__u32)irq) % NAME_EVERY == 1)
		put_name((__u32)irq, action);
	return 0;
}

/* The timer of an x86 CPU has no number. The loader leaves these two out where the kernel has no such tracepoints. */
SEC("tp_btf/local_timer_entry")
int BPF_PROG(timer_enter)
{
	enter_hard();
	return 0;
}

SEC("tp_btf/local_timer_exit")
int BPF_PROG(timer_leave)
{
	leave_hard(INTERRUPT_TIMER, 0);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_enter, unsigned int vector)
{
	struct interrupt_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	cpu->hard_ns_before = cpu->hard_ns;
	cpu->soft_vector = vector;
	cpu->soft_began_ns = begin_ns();
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_leave, unsigned int vector)
{
	struct interrupt_cpu *cpu = this_cpu();
	__u64 ns, hard_ns;

	if (!cpu || !cpu->soft_began_ns)
		return 0;
	ns = bpf_ktime_get_ns() - cpu->soft_began_ns;
	hard_ns = cpu->hard_ns - cpu->hard_ns_before;
	ns = ns > hard_ns ? ns - hard_ns : 0;
	cpu->soft_began_ns = 0;
	cpu->soft_ns += ns;
	add(INTERRUPT_SOFT, vector, ns);
	if (latency_group_wanted(LATENCY_SOFTIRQ))
		histogram_put(METRIC_SOFTIRQ, vector, 0, 0, ns);
	return 0;
}
