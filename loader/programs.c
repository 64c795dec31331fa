/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/programs.h"

#include "common/abi/latency.h"
#include "common/abi/programs.h"
#include "common/abi/samples.h"
#include "common/abi/targets.h"
#include "common/base/cleanup.h"
#include "common/kernel/cpus.h"
#include "common/kernel/kernel_functions.h"
#include "common/system/log.h"

#include <bourdon.skel.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>

#define SECOND_NS 1000000000U
#define THREADS_A_TARGET 4U

static int __attribute__((format(printf, 2, 0)))
print_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	/* the verifier's log has many lines: pass it on unchanged */
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

/* Stamps the ABI into `control`, so that a consumer built for another ABI refuses these maps. */
static int stamp_abi(const struct programs *programs)
{
	struct control control = { .abi = BOURDON_ABI,
				   .latency_loaded = programs->bpf->rodata->latency_probes };
	__u32 zero = 0;

	return bpf_map_update_elem(bpf_map__fd(programs->bpf->maps.control), &zero, &control, BPF_ANY);
}

/* Tells walk_programs() which programs these are. */
static int name_programs(const struct programs *programs)
{
	struct bpf_program *program;
	int result = 0;

	bpf_object__for_each_program (program, programs->bpf->obj) {
		struct bpf_prog_info info = { 0 };
		struct program_name name = { 0 };
		__u32 bytes = sizeof(info);

		if (!bpf_program__autoload(program))
			continue;
		snprintf(name.text, sizeof(name.text), "%s", bpf_program__name(program));
		result = bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes);
		if (!result)
			result = bpf_map_update_elem(bpf_map__fd(programs->bpf->maps.own_programs), &info.id,
						     &name, BPF_NOEXIST);
		if (result < 0)
			break;
	}
	return result;
}

/*
 * Three quarters of the unwind tables' memory are rows. A page takes a third of a percent of the text it
 * covers, plus 16 rows. The rest holds the mappings and rules of a host with many different programs.
 */
static int size_maps(const struct programs *programs, uint32_t targets, uint64_t unwind_bytes)
{
	const struct bourdon_bpf *bpf = programs->bpf;
	const uint32_t slots = programs->slots_per_cpu * programs->rings;
	const struct {
		struct bpf_map *map;
		uint64_t entries; /* 0: as it was compiled */
	} sizes[] = {
		{ bpf->maps.oncpu, slots },
		{ bpf->maps.offcpu, slots },
		{ bpf->maps.clocks, programs->rings },
		{ bpf->maps.wait_cpus, programs->rings },
		{ bpf->maps.targets, targets },
		{ bpf->maps.totals, targets },
		{ bpf->maps.offcpu_threads, (uint64_t)THREADS_A_TARGET * targets },
		{ bpf->maps.unwind_procs, targets },
		{ bpf->maps.code_spans, targets },
		{ bpf->maps.unwind_rows, unwind_bytes / 4 * 3 / bpf_map__value_size(bpf->maps.unwind_rows) },
		{ bpf->maps.unwind_pages, unwind_bytes / 16 / bpf_map__value_size(bpf->maps.unwind_pages) },
		{ bpf->maps.unwind_maps, unwind_bytes / 8 / bpf_map__value_size(bpf->maps.unwind_maps) },
		{ bpf->maps.unwind_rules, unwind_bytes / 16 / bpf_map__value_size(bpf->maps.unwind_rules) },
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes) && !result; i++)
		if (sizes[i].entries)
			result = bpf_map__set_max_entries(sizes[i].map, (__u32)sizes[i].entries);
	return result;
}

static const struct {
	__s32 number;
	const char *name;
} kernel_functions[] = {
	{ KERNEL_FUNCTION_TASK_VMA_NEW, "bpf_iter_task_vma_new" },
	{ KERNEL_FUNCTION_TASK_VMA_NEXT, "bpf_iter_task_vma_next" },
	{ KERNEL_FUNCTION_TASK_VMA_DESTROY, "bpf_iter_task_vma_destroy" },
};

/* Replaces the numbers of common/kernel/kernel_functions.h in the program. 0, -ENOENT if the kernel lacks one, or -errno. */
static int link_kernel_functions(struct bpf_program *program, const struct btf *kernel)
{
	const size_t count = bpf_program__insn_cnt(program);
	_cleanup_free_ struct bpf_insn *instructions = malloc(count * sizeof(*instructions));

	if (!instructions)
		return -ENOMEM;
	memcpy(instructions, bpf_program__insns(program), count * sizeof(*instructions));
	for (size_t i = 0; i < ARRAY_SIZE(kernel_functions); i++) {
		__s32 id = btf__find_by_name_kind(kernel, kernel_functions[i].name, BTF_KIND_FUNC);

		if (id <= 0)
			return id ? id : -ENOENT;
		for (size_t j = 0; j < count; j++) {
			struct bpf_insn *call = &instructions[j];

			if (call->code != (BPF_JMP | BPF_CALL) || call->src_reg ||
			    call->imm != kernel_functions[i].number)
				continue;
			call->src_reg = BPF_PSEUDO_KFUNC_CALL;
			call->imm = id;
		}
	}
	return bpf_program__set_insns(program, instructions, count);
}

/* Linux 6.7 can walk the mappings of one process (bpf/mappings.bpf.c); before, another program has to do. */
static int choose_mappings(struct programs *programs, const struct btf *kernel)
{
	int result = link_kernel_functions(programs->bpf->progs.walk_mappings, kernel);

	programs->walks_mappings = !result;
	bpf_program__set_autoload(programs->walks_mappings ? programs->bpf->progs.walk_mappings_each
							   : programs->bpf->progs.walk_mappings,
				  false);
	return result == -ENOENT ? 0 : result;
}

static bool has_tracepoint(const struct btf *kernel, const char *name)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf__find_by_name_kind(kernel, type, BTF_KIND_TYPEDEF) > 0;
}

/* Only x86 has the tracepoints of a CPU's own timer. */
static void choose_timer(const struct programs *programs, const struct btf *kernel)
{
	bool has_timer = has_tracepoint(kernel, "local_timer_entry");

	bpf_program__set_autoload(programs->bpf->progs.timer_enter, has_timer);
	bpf_program__set_autoload(programs->bpf->progs.timer_leave, has_timer);
}

/* Programs that measure latencies and do nothing else, by what they are attached to. */
static const struct {
	uint32_t group;
	const char *tracepoint;
} latency_programs[] = {
	{ LATENCY_BLOCK, "block_rq_insert" },        { LATENCY_BLOCK, "block_rq_issue" },
	{ LATENCY_BLOCK, "block_rq_requeue" },       { LATENCY_BLOCK, "block_rq_merge" },
	{ LATENCY_BLOCK, "block_rq_complete" },      { LATENCY_LOCK, "contention_begin" },
	{ LATENCY_LOCK, "contention_end" },          { LATENCY_MEMORY, "rss_stat" },
	{ LATENCY_REQUEST, "inet_sock_set_state" },  { LATENCY_REQUEST, "tcp_probe" },
	{ LATENCY_REQUEST, "tcp_rcv_space_adjust" }, { LATENCY_REQUEST, "net_dev_queue" },
};

/*
 * How far a process has to grow for a stack: 1 MiB, on large machines more. Since Linux 6.2 each CPU keeps back so many pages of a
 * process (lib/percpu_counter.c), and who moves between CPUs would seem to grow by them.
 */
static uint64_t growth_step_pages(uint32_t cpus)
{
	const uint64_t least = 256, most = 8192;
	uint64_t kept_back = (cpus < 16 ? 32UL : 2UL * cpus) * cpus;

	return kept_back < least ? least : kept_back > most ? most : kept_back;
}

/* What nobody may ask for is not loaded; a group without its tracepoints is not offered. */
static void choose_latencies(const struct programs *programs, const struct btf *kernel, uint32_t probes)
{
	struct bpf_program *program;

	for (size_t i = 0; i < ARRAY_SIZE(latency_programs); i++)
		if (!has_tracepoint(kernel, latency_programs[i].tracepoint))
			probes &= ~(1U << latency_programs[i].group);
	bpf_object__for_each_program (program, programs->bpf->obj)
		for (size_t i = 0; i < ARRAY_SIZE(latency_programs); i++)
			if (!strncmp(bpf_program__section_name(program), "tp_btf/", 7) &&
			    !strcmp(bpf_program__section_name(program) + 7, latency_programs[i].tracepoint))
				bpf_program__set_autoload(program, probes >> latency_programs[i].group & 1);
	bpf_program__set_autoload(programs->bpf->progs.walk_requests, probes >> LATENCY_REQUEST & 1);
	programs->bpf->rodata->latency_probes = probes;
	if (!probes)
		bpf_map__set_max_entries(programs->bpf->maps.histograms, 1);
	if (!(probes >> LATENCY_REQUEST & 1))
		bpf_map__set_max_entries(programs->bpf->maps.answers, 1);
}

/* Leaves out the programs that this kernel has no use for. */
static int choose_programs(struct programs *programs, uint32_t probes)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int result = kernel ? choose_mappings(programs, kernel) : -errno;

	if (kernel) {
		choose_timer(programs, kernel);
		choose_latencies(programs, kernel, probes);
	}
	btf__free(kernel);
	return result;
}

struct bpf_program *programs_mappings(const struct programs *programs)
{
	const struct bourdon_bpf *bpf = programs->bpf;

	return programs->walks_mappings ? bpf->progs.walk_mappings : bpf->progs.walk_mappings_each;
}

static int open_sized(struct programs *programs, const struct programs_settings *settings)
{
	int result;

	programs->rings = programs->cpus[programs->cpus_count - 1] + 1;
	programs->slots_per_cpu = (uint32_t)(settings->ring_bytes / sizeof(struct sample));
	programs->bpf = bourdon_bpf__open();
	if (!programs->bpf)
		return -errno;
	programs->bpf->rodata->slots_per_cpu = programs->slots_per_cpu;
	programs->bpf->rodata->ring_cpus = programs->rings;
	programs->bpf->rodata->oncpu_period_ns = SECOND_NS / settings->hz;
	programs->bpf->rodata->growth_step_pages = growth_step_pages(programs->rings);
	programs->bpf->rodata->quiet_after_ns = settings->quiet_after_ns;
	programs->bpf->rodata_policy->policy = settings->policy;
	/* so few bytes come at once (getrandom(2)) */
	if (getrandom((void *)programs->bpf->rodata->lock_secret, sizeof(programs->bpf->rodata->lock_secret),
		      0) < 0 ||
	    getrandom((void *)programs->bpf->rodata->table_secret,
		      sizeof(programs->bpf->rodata->table_secret), 0) < 0)
		return -errno;
	result = size_maps(programs, settings->targets, settings->unwind_bytes);
	return result ? result : choose_programs(programs, settings->probes);
}

int programs_open(struct programs *programs, const struct programs_settings *settings)
{
	int result;

	libbpf_set_print(print_libbpf);
	*programs = (struct programs){ 0 };
	result = cpus_online(&programs->cpus, &programs->cpus_count);
	if (result < 0)
		return log_failed(result, "cannot read the list of online CPUs: %s", strerror(-result));
	result = open_sized(programs, settings);
	if (result < 0)
		log_error("cannot prepare the programs: %s", strerror(-result));
	return result;
}

int programs_load(struct programs *programs, const struct programs_settings *settings)
{
	int result = programs_open(programs, settings);

	if (result < 0)
		return result;
	result = bourdon_bpf__load(programs->bpf);
	if (!result)
		result = stamp_abi(programs);
	if (!result)
		result = name_programs(programs);
	if (result < 0)
		log_error("cannot load the programs: %s; the lines above say where the verifier stopped",
			  strerror(-result));
	return result;
}

void programs_close(struct programs *programs)
{
	free(programs->cpus);
	bourdon_bpf__destroy(programs->bpf);
}

static int attach_tracepoints(const struct programs *programs, programs_link_add *add, void *user)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, programs->bpf->obj) {
		struct bpf_link *link;
		int result;

		if (bpf_program__type(program) != BPF_PROG_TYPE_TRACING ||
		    bpf_program__expected_attach_type(program) == BPF_TRACE_ITER ||
		    !bpf_program__autoload(program))
			continue;
		link = bpf_program__attach(program);
		if (!link) {
			result = -errno;
			return log_failed(result, "cannot attach %s: %s", bpf_program__name(program),
					  strerror(-result));
		}
		result = add(user, bpf_program__name(program), link);
		if (result < 0)
			return result;
	}
	return 0;
}

static int attach_clock(const struct programs *programs, unsigned int hz, unsigned int cpu,
			struct bpf_link **ret_link)
{
	/* cpu-clock counts the time of the CPU, not of a task; an idle CPU has nothing to sample */
	struct perf_event_attr attributes = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(attributes),
					      .config = PERF_COUNT_SW_CPU_CLOCK,
					      .sample_period = SECOND_NS / hz,
					      .exclude_idle = 1 };
	long event = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int result;

	if (event < 0) {
		result = -errno;
		return log_failed(result, "cannot open the perf clock of CPU %u: %s", cpu, strerror(-result));
	}
	*ret_link = bpf_program__attach_perf_event(programs->bpf->progs.oncpu_tick, (int)event);
	if (*ret_link)
		return 0;
	result = -errno;
	close((int)event);
	return log_failed(result, "cannot attach to the perf clock of CPU %u: %s", cpu, strerror(-result));
}

int programs_attach(const struct programs *programs, unsigned int hz, programs_link_add *add, void *user)
{
	int result = attach_tracepoints(programs, add, user);

	for (size_t i = 0; i < programs->cpus_count && !result; i++) {
		struct bpf_link *link;
		char name[32];

		snprintf(name, sizeof(name), "oncpu_%u", programs->cpus[i]);
		result = attach_clock(programs, hz, programs->cpus[i], &link);
		if (!result)
			result = add(user, name, link);
	}
	return result;
}
