/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/machine_time.h"

#include "common/abi/abi.h"
#include "common/base/numbers.h"

#include <stddef.h>

const char *const machine_part_names[MACHINE_PARTS] = {
	[MACHINE_TARGETS] = "targets",
	[MACHINE_OTHERS] = "others",
	[MACHINE_SHORT_LIVED] = "short-lived",
	[MACHINE_KERNEL] = "kernel threads",
	[MACHINE_DENIED] = "denied",
	[MACHINE_IRQ] = "irq",
	[MACHINE_SOFTIRQ] = "softirq",
	[MACHINE_STEAL] = "steal",
	[MACHINE_GUEST] = "guest",
	[MACHINE_IDLE] = "idle",
	[MACHINE_UNACCOUNTED] = "unaccounted",
};

static const enum machine_part of_tasks[] = { MACHINE_TARGETS, MACHINE_OTHERS, MACHINE_SHORT_LIVED,
					      MACHINE_KERNEL, MACHINE_DENIED };
#define TASK_PARTS (sizeof(of_tasks) / sizeof(*of_tasks))

/* Takes `ns`, or all if there is less, from the parts that are tasks', in proportion. */
static void take_from_tasks(struct machine_time *machine, uint64_t ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < TASK_PARTS; i++)
		sum += machine->parts_ns[of_tasks[i]];
	ns = ns < sum ? ns : sum;
	for (size_t i = 0; i < TASK_PARTS && sum; i++) {
		uint64_t *part = &machine->parts_ns[of_tasks[i]];
		/* the last part takes what rounding has left */
		uint64_t taken = *part == sum ? ns : (uint64_t)((double)*part / (double)sum * (double)ns);

		taken = taken < *part ? taken : *part;
		sum -= *part;
		*part -= taken;
		ns -= taken;
	}
}

static uint64_t accounted_ns(const struct machine_time *machine)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < MACHINE_UNACCOUNTED; i++)
		sum += machine->parts_ns[i];
	return sum;
}

void machine_time_close(struct machine_time *machine, const struct cpu_times *before,
			const struct cpu_times *after, uint32_t flags)
{
	uint64_t *parts = machine->parts_ns, within = 0, excess;

	if (!before->cpus || !after->cpus || machine->to_ns <= machine->from_ns)
		return;
	/* a CPU that was on- or offlined meanwhile counts half */
	machine->total_ns = (machine->to_ns - machine->from_ns) * (before->cpus + after->cpus) / 2;
	parts[MACHINE_IRQ] = growth(after->irq_ns, before->irq_ns);
	parts[MACHINE_SOFTIRQ] = growth(after->softirq_ns, before->softirq_ns);
	parts[MACHINE_STEAL] = growth(after->steal_ns, before->steal_ns);
	parts[MACHINE_GUEST] = growth(after->guest_ns, before->guest_ns);
	parts[MACHINE_IDLE] = growth(after->idle_ns, before->idle_ns);
	take_from_tasks(machine, parts[MACHINE_GUEST]);
	if (!(flags & TASK_IRQ_APART))
		within += parts[MACHINE_IRQ] + parts[MACHINE_SOFTIRQ];
	if (!(flags & TASK_STEAL_APART))
		within += parts[MACHINE_STEAL];
	/* the rest interrupted idle CPUs, and is in no task's time */
	excess = growth(accounted_ns(machine), machine->total_ns);
	take_from_tasks(machine, within < excess ? within : excess);
	parts[MACHINE_UNACCOUNTED] = growth(machine->total_ns, accounted_ns(machine));
}
