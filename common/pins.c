/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/pins.h"

#include "common/abi.h"

const struct pin_map_spec pin_maps[PIN_MAPS] = {
	[PIN_POLICY] = { "policy", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct policy), 0440 },
	[PIN_PATTERNS_A] = { "patterns_a", BPF_MAP_TYPE_LPM_TRIE, sizeof(struct pattern_key), sizeof(__u32),
			     0660 },
	[PIN_PATTERNS_B] = { "patterns_b", BPF_MAP_TYPE_LPM_TRIE, sizeof(struct pattern_key), sizeof(__u32),
			     0660 },
	[PIN_TARGETS] = { "targets", BPF_MAP_TYPE_HASH, sizeof(__u32), sizeof(struct target), 0440 },
	[PIN_BYSTANDERS] = { "bystanders", BPF_MAP_TYPE_LRU_HASH, sizeof(__u32), sizeof(struct bystander),
			     0440 },
	[PIN_ONCPU] = { "oncpu", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct sample), 0660 },
	[PIN_OFFCPU] = { "offcpu", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct sample), 0660 },
	[PIN_OFFCPU_OPEN] = { "offcpu_open", BPF_MAP_TYPE_HASH, sizeof(__u32), sizeof(struct open_interval),
			      0440 },
	[PIN_TOTALS] = { "totals", BPF_MAP_TYPE_HASH, sizeof(__u32), sizeof(struct totals), 0440 },
	[PIN_ENDED] = { "ended", BPF_MAP_TYPE_HASH, sizeof(struct ended_key), sizeof(struct ended_sums),
			0660 },
	[PIN_INTERRUPTS] = { "interrupts", BPF_MAP_TYPE_PERCPU_HASH, sizeof(struct interrupt_key),
			     sizeof(struct interrupt_sums), 0440 },
	[PIN_IRQ_NAMES] = { "irq_names", BPF_MAP_TYPE_HASH, sizeof(__u32), sizeof(struct irq_name), 0440 },
	[PIN_CLOCKS] = { "clocks", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct stall_clock), 0440 },
	[PIN_ACTIVITY] = { "activity", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct activity_slot),
			   0660 },
	[PIN_UNWIND_PROCS] = { "unwind_procs", BPF_MAP_TYPE_HASH, sizeof(__u32),
			       sizeof(struct unwind_process), 0660 },
	[PIN_UNWIND_MAPS] = { "unwind_maps", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct unwind_mapping),
			      0660 },
	[PIN_UNWIND_PAGES] = { "unwind_pages", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct unwind_page),
			       0660 },
	[PIN_UNWIND_ROWS] = { "unwind_rows", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct unwind_chunk),
			      0660 },
	[PIN_UNWIND_RULES] = { "unwind_rules", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct unwind_rule),
			       0660 },
	[PIN_UNWIND_HOTSPOT] = { "unwind_hotspot", BPF_MAP_TYPE_ARRAY, sizeof(__u32),
				 sizeof(struct unwind_hotspot), 0660 },
	[PIN_WANTED] = { "wanted", BPF_MAP_TYPE_HASH, sizeof(struct wanted_key), sizeof(struct wanted_until),
			 0660 },
	[PIN_CONTROL] = { "control", BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct control), 0660 },
	[PIN_CGROUPS_KNOWN] = { "cgroups_known", BPF_MAP_TYPE_HASH, sizeof(__u64), sizeof(__u32), 0660 },
	[PIN_CGROUP_PATHS] = { "cgroup_paths", BPF_MAP_TYPE_RINGBUF, 0, 0, 0660 },
	[PIN_EVENTS] = { "events", BPF_MAP_TYPE_RINGBUF, 0, 0, 0660 },
	[PIN_ERRORS] = { "errors", BPF_MAP_TYPE_RINGBUF, 0, 0, 0660 },
	[PIN_COUNTERS] = { "counters", BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(__u32), sizeof(__u64), 0440 },
};

const char *const pin_iterators[PIN_ITERATORS] = {
	[PIN_TASKS] = "tasks", [PIN_MAPPINGS] = "mappings", [PIN_STATES] = "states",
	[PIN_LOOKS] = "looks", [PIN_THREADS] = "threads",   [PIN_STACKS] = "stacks",
};
