/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/offcpu_ring.h"
#include "bpf/thread.h"

struct patterns_map patterns_a SEC(".maps");
struct patterns_map patterns_b SEC(".maps");
struct control_map control SEC(".maps");
struct unwind_procs_map unwind_procs SEC(".maps");
struct unwind_maps_map unwind_maps SEC(".maps");
struct unwind_pages_map unwind_pages SEC(".maps");
struct unwind_rows_map unwind_rows SEC(".maps");
struct unwind_rules_map unwind_rules SEC(".maps");
struct unwind_hotspot_map unwind_hotspot SEC(".maps");
struct cgroups_known_map cgroups_known SEC(".maps");
struct ended_map ended SEC(".maps");
struct wanted_map wanted SEC(".maps");
struct undumpable_map undumpable SEC(".maps");
struct endings_map endings SEC(".maps");
struct thread_bytes_map thread_bytes SEC(".maps");
struct reclaims_map reclaims SEC(".maps");
struct records_map cgroup_paths SEC(".maps");
struct cgroups_told_map cgroups_told SEC(".maps");
struct cgroup_budgets_map cgroup_budgets SEC(".maps");
struct cgroup_scratch_map cgroup_scratch SEC(".maps");
struct targets_map targets SEC(".maps");
struct records_map events SEC(".maps");
struct records_map errors SEC(".maps");
struct counters_map counters SEC(".maps");
struct totals_map totals SEC(".maps");
struct code_spans_map code_spans SEC(".maps");
struct bystanders_map bystanders SEC(".maps");
struct wait_cpus_map wait_cpus SEC(".maps");
struct clocks_map clocks SEC(".maps");
struct offcpu_threads_map offcpu_threads SEC(".maps");
struct samples_map offcpu SEC(".maps");
struct offcpu_cpus_map offcpu_cpus SEC(".maps");

/* Set by the loader: programs go quiet when the consumer's heartbeat is older than this. */
const volatile __u64 quiet_after_ns = 30000000000ULL;

/* Set by the loader: number of CPUs that have rings, and of slots in each ring. */
const volatile __u32 ring_cpus = 1;
const volatile __u32 slots_per_cpu = 1;

/* Set by the loader from root's policy.conf. In a map of its own, so that it can be pinned. */
const volatile struct policy policy SEC(".rodata.policy") = {
	.max_rate = POLICY_RATE_DEFAULT,
	.unwinding = POLICY_UNWIND_DWARF,
	.kernel_stacks = 1,
	.bystanders = 1,
	.kernel_threads = 1,
	.latency_labels = 1,
};

__u32 targeted[TARGETED_SLOTS] = { 0 };

/* Written by the loader, once. In a map of its own, which is pinned for root alone. */
volatile __u32 retired SEC(".data.retired") = 0;

char LICENSE[] SEC("license") = "GPL";
