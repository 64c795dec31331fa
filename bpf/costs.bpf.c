/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * costs.bpf.c tells what the kernel counts of these programs: their runs, the time that these took, and the runs that it left
 * out. Who holds a program's own descriptor can ask for that, and could attach the program again, so the consumer has none.
 */
#include "bpf/maps.h"

#define CPUS_MOST 8192U /* that a kernel can have (CONFIG_NR_CPUS) */

/* The programs of this load, by their ids. The loader fills it, once. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OWN_PROGRAMS_MAX);
	__type(key, __u32);
	__type(value, struct program_name);
} own_programs SEC(".maps");

/* Argument of the bpf_loop() callback. */
struct cost_sums {
	__u64 stats; /* the begin of the allocation, which is of no CPU */
	__u64 area;  /* the same of element 0 of `counters` */
	struct program_cost *cost;
};

/*
 * The kernel has no helper that finds the part of an allocation that is a CPU's own, and a kernel without CONFIG_KALLSYMS_ALL no
 * address of a per-CPU variable. But that part of another allocation, an element of `counters`, is as far from its begin.
 */
static long add_cpu(__u32 cpu, struct cost_sums *sums)
{
	const __u32 first = 0;
	void *element = bpf_map_lookup_percpu_elem(&counters, &first, cpu);
	const struct bpf_prog_stats *stats;
	__u64 at, count = 0;

	if (!element)
		return 1;
	bpf_probe_read_kernel(&at, sizeof(at), &element);
	stats = (void *)(sums->stats + at - sums->area);
	if (!bpf_probe_read_kernel(&count, sizeof(count), &stats->cnt))
		sums->cost->runs += count;
	if (!bpf_probe_read_kernel(&count, sizeof(count), &stats->nsecs))
		sums->cost->run_ns += count;
	if (!bpf_probe_read_kernel(&count, sizeof(count), &stats->misses))
		sums->cost->missed += count;
	return 0;
}

static __u64 area_of_counters(void)
{
	const void *map = &counters;
	const struct bpf_array *array = NULL;
	__u64 area = 0;

	bpf_probe_read_kernel(&array, sizeof(array), &map);
	bpf_probe_read_kernel(&area, sizeof(area), &array->pptrs);
	return area;
}

SEC("iter/bpf_prog")
int walk_programs(struct bpf_iter__bpf_prog *ctx)
{
	struct program_cost cost = { .header = { RECORD_PROGRAM, sizeof(cost) } };
	struct cost_sums sums = { .cost = &cost };
	struct bpf_prog *program = ctx->prog;
	const struct program_name *name;
	__u32 id;

	if (is_retired() || !program)
		return 0;
	id = program->aux->id;
	name = bpf_map_lookup_elem(&own_programs, &id);
	if (!name)
		return 0;
	cost.name = *name;
	/* a number to the verifier, which lets nothing be added to a pointer of the kernel's */
	bpf_probe_read_kernel(&sums.stats, sizeof(sums.stats), &program->stats);
	sums.area = area_of_counters();
	bpf_loop(CPUS_MOST, add_cpu, &sums, 0);
	bpf_seq_write(ctx->meta->seq, &cost, sizeof(cost));
	return 0;
}
