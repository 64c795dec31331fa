/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/pins.h"

const struct pin_map_spec pin_maps[PIN_MAPS] = {
	[PIN_POLICY] = { "policy", BPF_MAP_TYPE_ARRAY, 0440 },
	[PIN_PATTERNS_A] = { "patterns_a", BPF_MAP_TYPE_LPM_TRIE, 0660 },
	[PIN_PATTERNS_B] = { "patterns_b", BPF_MAP_TYPE_LPM_TRIE, 0660 },
	[PIN_TARGETS] = { "targets", BPF_MAP_TYPE_HASH, 0440 },
	[PIN_BYSTANDERS] = { "bystanders", BPF_MAP_TYPE_LRU_HASH, 0440 },
	[PIN_ONCPU] = { "oncpu", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_OFFCPU] = { "offcpu", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_OFFCPU_OPEN] = { "offcpu_open", BPF_MAP_TYPE_HASH, 0440 },
	[PIN_TOTALS] = { "totals", BPF_MAP_TYPE_HASH, 0440 },
	[PIN_VICTIMS] = { "victims", BPF_MAP_TYPE_LRU_HASH, 0440 },
	[PIN_BLAME] = { "blame", BPF_MAP_TYPE_LRU_HASH, 0440 },
	[PIN_ENDED] = { "ended", BPF_MAP_TYPE_HASH, 0660 },
	[PIN_INTERRUPTS] = { "interrupts", BPF_MAP_TYPE_PERCPU_HASH, 0440 },
	[PIN_IRQ_NAMES] = { "irq_names", BPF_MAP_TYPE_HASH, 0440 },
	[PIN_CLOCKS] = { "clocks", BPF_MAP_TYPE_ARRAY, 0440 },
	[PIN_ACTIVITY] = { "activity", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_UNWIND_PROCS] = { "unwind_procs", BPF_MAP_TYPE_HASH, 0660 },
	[PIN_UNWIND_MAPS] = { "unwind_maps", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_UNWIND_PAGES] = { "unwind_pages", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_UNWIND_ROWS] = { "unwind_rows", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_UNWIND_RULES] = { "unwind_rules", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_UNWIND_HOTSPOT] = { "unwind_hotspot", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_WANTED] = { "wanted", BPF_MAP_TYPE_HASH, 0660 },
	[PIN_CONTROL] = { "control", BPF_MAP_TYPE_ARRAY, 0660 },
	[PIN_CGROUPS_KNOWN] = { "cgroups_known", BPF_MAP_TYPE_HASH, 0660 },
	[PIN_CGROUP_PATHS] = { "cgroup_paths", BPF_MAP_TYPE_RINGBUF, 0660 },
	[PIN_EVENTS] = { "events", BPF_MAP_TYPE_RINGBUF, 0660 },
	[PIN_ERRORS] = { "errors", BPF_MAP_TYPE_RINGBUF, 0660 },
	[PIN_COUNTERS] = { "counters", BPF_MAP_TYPE_PERCPU_ARRAY, 0440 },
	[PIN_HISTOGRAMS] = { "histograms", BPF_MAP_TYPE_ARRAY, 0440 },
	[PIN_HISTOGRAM_TALLIES] = { "histogram_tallies", BPF_MAP_TYPE_PERCPU_ARRAY, 0440 },
};

const char *const pin_iterators[PIN_ITERATORS] = {
	[PIN_TASKS] = "tasks",       [PIN_MAPPINGS] = "mappings", [PIN_STATES] = "states",
	[PIN_LOOKS] = "looks",       [PIN_AWAY] = "away",         [PIN_PROGRAMS] = "programs",
	[PIN_REQUESTS] = "requests", [PIN_THREADS] = "threads",   [PIN_STACKS] = "stacks",
};
