/* SPDX-License-Identifier: GPL-2.0-only */
#include "bench/made_busy.h"

#include "bench/made_samples.h"
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/shared_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STACKS 6000U     /* of a capture */
#define NEW_STACKS 1800U /* in each capture after the first */
#define DEPTH_MOST 100U
#define ROOTS 60U /* ways in which threads begin, */
#define ROOT_FRAMES 7U
#define PROCESSES 8U /* to which they belong */
#define JIT_PROCESSES 2U
#define THREADS_MOST 12U /* of a process */
#define KERNEL_FRAMES 500U
#define FRAMES 5000U    /* with those of the kernel, without those of JIT compilers */
#define JIT_FRAMES 150U /* that the JIT compilers make from capture to capture */
#define NEW_FRAMES 5.8  /* of a stack, in the mean */
#define SITES_OF_FUNCTION 3U
#define SECONDS 15U
#define PRESSURE_READINGS 6U
#define OTHERS 120U /* processes that are no targets */
#define STATISTICS 40U

struct made_stack {
	uint32_t first;
	uint16_t depth, user_depth;
	uint32_t process;
};

/* When a sample of a stack was. */
struct moment {
	uint32_t stack, second, ms;
	uint32_t ran; /* ms that an interval off CPU took */
};

/* splitmix64 */
static uint64_t next_random(struct made_host *host)
{
	uint64_t value = host->random += 0x9e3779b97f4a7c15U;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
	value = (value ^ value >> 27) * 0x94d049bb133111ebU;
	return value ^ value >> 31;
}

static uint32_t below(struct made_host *host, uint32_t limit)
{
	return (uint32_t)(next_random(host) % limit);
}

/* Greater than 0, and at most 1. */
static double share(struct made_host *host)
{
	return (double)((next_random(host) >> 11) + 1) / 0x1p53;
}

void made_host_free(struct made_host *host)
{
	free(host->stacks);
	free(host->frames);
	hash_index_free(&host->index);
}

/* ---- stacks ---- */

/* A few functions are in many stacks, and most in few. */
static uint32_t choose_frame(struct made_host *host, uint32_t from, uint32_t to)
{
	uint32_t count = to - from, rank = below(host, count);

	if (share(host) < 0.75) {
		double popular = pow(share(host), -1 / 0.45);

		rank = popular < count ? (uint32_t)popular - 1 : count - 1;
	}
	return from + (uint32_t)(rank * UINT64_C(2654435761) % count);
}

static uint32_t choose_user_frame(struct made_host *host, uint32_t process)
{
	uint32_t generation = host->stacks_count / NEW_STACKS;

	if (process < JIT_PROCESSES && share(host) < 0.3)
		return FRAMES +
		       (generation * JIT_FRAMES + below(host, JIT_FRAMES)) / JIT_PROCESSES * JIT_PROCESSES +
		       process;
	return choose_frame(host, KERNEL_FRAMES, FRAMES);
}

/* Copies the outer frames of another stack of that time, or begins a thread. */
static void begin_stack(struct made_host *host, struct made_stack *stack, uint32_t *frames)
{
	uint32_t recent = host->stacks_count < STACKS ? host->stacks_count : STACKS;

	if (!recent || share(host) < 0.1) {
		uint32_t root = below(host, ROOTS);

		stack->process = root % PROCESSES;
		stack->user_depth = stack->depth = ROOT_FRAMES;
		for (uint32_t i = 0; i < ROOT_FRAMES; i++)
			frames[i] = KERNEL_FRAMES + (root * 71 + i * 997) % (FRAMES - KERNEL_FRAMES);
	} else {
		const struct made_stack *other = &host->stacks[host->stacks_count - 1 - below(host, recent)];
		/* between 30 % and all */
		uint32_t depth = (uint32_t)(other->depth * (0.3 + 0.35 * (share(host) + share(host))));

		depth = depth < ROOT_FRAMES - 1 ? ROOT_FRAMES - 1 : depth;
		stack->process = other->process;
		stack->depth = (uint16_t)depth;
		stack->user_depth = depth < other->user_depth ? (uint16_t)depth : other->user_depth;
		memcpy(frames, host->frames + other->first, depth * sizeof(*frames));
	}
}

/* The inner frames of a stack off CPU, and of some on CPU, are the kernel's. */
static void extend_stack(struct made_host *host, struct made_stack *stack, uint32_t *frames, bool off_cpu)
{
	uint32_t more = 1 + (uint32_t)(-log(share(host)) * NEW_FRAMES), kernel = 0;

	if (stack->depth > stack->user_depth)
		kernel = more;
	else if (off_cpu || share(host) < 0.3)
		kernel = 1 + below(host, 4);
	for (uint32_t i = 0; i < more && stack->depth < DEPTH_MOST; i++) {
		bool is_user = i + kernel < more;

		frames[stack->depth++] = is_user ? choose_user_frame(host, stack->process)
						 : choose_frame(host, 0, KERNEL_FRAMES);
		stack->user_depth += is_user;
	}
}

struct wanted_stack {
	const struct made_host *host;
	const struct made_stack *stack;
	const uint32_t *frames;
};

static bool is_stack(const void *user, uint32_t position)
{
	const struct wanted_stack *wanted = user;
	const struct made_stack *there = &wanted->host->stacks[position], *stack = wanted->stack;

	return there->depth == stack->depth && there->user_depth == stack->user_depth &&
	       there->process == stack->process &&
	       !memcmp(wanted->host->frames + there->first, wanted->frames,
		       stack->depth * sizeof(*wanted->frames));
}

static int add_stack(struct made_host *host)
{
	uint32_t frames[DEPTH_MOST], hash;
	struct made_stack stack;
	struct wanted_stack wanted = { host, &stack, frames };

	do {
		begin_stack(host, &stack, frames);
		extend_stack(host, &stack, frames, host->stacks_count % 3 == 0);
		hash = hash_number_and_bytes(stack.process, frames, stack.depth * sizeof(*frames));
	} while (hash_index_find(&host->index, hash, is_stack, &wanted) != HASH_INDEX_NONE);
	stack.first = host->frames_count;
	if (array_make_room(host->stacks, host->stacks_count, host->stacks_room, 1U) ||
	    array_make_room(host->frames, host->frames_count, host->frames_room, DEPTH_MOST) ||
	    hash_index_add(&host->index, hash, host->stacks_count))
		return -ENOMEM;
	memcpy(host->frames + stack.first, frames, stack.depth * sizeof(*frames));
	host->frames_count += stack.depth;
	host->stacks[host->stacks_count++] = stack;
	return 0;
}

/* ---- samples ---- */

static int compare_moments(const void *a, const void *b)
{
	const struct moment *left = a, *right = b;
	uint32_t left_ms = left->second * 1000 + left->ms, right_ms = right->second * 1000 + right->ms;

	if (left_ms != right_ms)
		return left_ms < right_ms ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

/* Each stack has a row, and every second one a row in another second; every third row has two samples. */
static void make_moments(struct made_host *host, uint32_t first_stack, struct moment *moments)
{
	for (uint32_t i = 0; i < BUSY_SAMPLES; i++) {
		uint32_t row = i < BUSY_ROWS ? i : (i - BUSY_ROWS) * 3 + i % 3;
		struct moment *moment = &moments[i];

		moment->stack = first_stack + row % STACKS;
		if (i < STACKS)
			moment->second = below(host, SECONDS);
		else if (i < BUSY_ROWS)
			moment->second =
				(moments[row - STACKS].second + 1 + below(host, SECONDS - 1)) % SECONDS;
		else
			moment->second = moments[row].second;
		moment->ms = below(host, 1000);
		moment->ran = 1 + below(host, 200);
		if (moment->ran > moment->ms)
			moment->ran = moment->ms; /* it lies in one second */
	}
	qsort(moments, BUSY_SAMPLES, sizeof(*moments), compare_moments);
}

static void set_frames(const struct made_host *host, const struct made_stack *stack, struct sample *sample)
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t frame = host->frames[stack->first + stack->depth - 1 - i],
			 kernel = (uint32_t)(stack->depth - stack->user_depth);

		if (i < kernel)
			sample->kernel_frames[i] = (__s32)(frame * MADE_FRAME_BYTES);
		else
			sample->user_frames[i - kernel] = (__u64)frame * MADE_FRAME_BYTES;
	}
	sample->kernel_depth = (__s16)(stack->depth - stack->user_depth);
	sample->user_depth = (__s16)stack->user_depth;
}

static void make_sample(const struct made_host *host, const struct moment *moment, bool off_cpu,
			const struct capture_trigger *trigger, struct sample *sample)
{
	const struct made_stack *stack = &host->stacks[moment->stack];
	/* a stack has the same thread and the same kind of stall in each capture */
	uint32_t tgid = 4000 + stack->process * 100,
		 thread = moment->stack * 7919 % (4 + stack->process * 3 % (THREADS_MOST - 3));
	uint64_t ran_ns = moment->ran * 1000000UL + 500000;

	*sample = (struct sample){
		.header = { RECORD_SAMPLE, sizeof(*sample) },
		.time_ns = trigger->triggered_ns - trigger->wanted_history_ns +
			   moment->second * CLOCK_SECOND_NS + moment->ms * 1000000UL + 600000,
		.weight_ns = CLOCK_SECOND_NS / trigger->hz,
		.started_ns = tgid * CLOCK_SECOND_NS,
		.cgroup_id = 100 + stack->process % 3,
		.tgid = tgid,
		.tid = tgid + thread,
		.pattern_id = 1,
		.kind = off_cpu ? SAMPLE_OFF_CPU : SAMPLE_ON_CPU,
		.unwinder = UNWINDER_EH_FRAME,
		.user_ended = UNWIND_ENDED_ROOT,
	};
	snprintf(sample->comm, sizeof(sample->comm), "worker-%u", thread);
	set_frames(host, stack, sample);
	if (!off_cpu)
		return;
	sample->left_ns = sample->woken_ns = sample->time_ns - ran_ns;
	sample->weight_ns = 0;
	if (moment->stack % 2) {
		sample->woken_ns = sample->time_ns;
		sample->weight_ns = ran_ns;
		sample->stall = moment->stack % 4 == 1 ? STALL_IO : 0;
	} else {
		sample->queued_ns = ran_ns;
	}
}

int made_busy_rings(struct made_host *host, uint32_t number, struct sample *on_cpu, uint32_t *ret_on_cpu,
		    struct sample *off_cpu, uint32_t *ret_off_cpu)
{
	_cleanup_free_ struct moment *moments = calloc(BUSY_SAMPLES, sizeof(*moments));
	uint32_t first = number * NEW_STACKS, on_count = 0, off_count = 0;
	struct capture_trigger trigger = made_trigger();

	free(trigger.cgroup);
	if (!moments)
		return -ENOMEM;
	while (host->stacks_count < first + STACKS)
		if (add_stack(host) < 0)
			return -ENOMEM;
	make_moments(host, first, moments);
	for (uint32_t i = 0; i < BUSY_SAMPLES; i++) {
		bool is_off = moments[i].stack % 3 == 0;
		struct sample *sample = is_off ? &off_cpu[off_count] : &on_cpu[on_count];

		make_sample(host, &moments[i], is_off, &trigger, sample);
		sample->seq = is_off ? ++off_count : ++on_count;
	}
	*ret_on_cpu = on_count;
	*ret_off_cpu = off_count;
	return 0;
}

/* ---- context ---- */

static int add_pressure(struct capture *capture)
{
	struct pressure *pressure = &capture->pressure;

	for (uint32_t i = 0; i < PRESSURE_READINGS * PRESSURE_SCOPES * PRESSURE_RESOURCES; i++) {
		uint32_t resource = i % PRESSURE_RESOURCES, scope = i / PRESSURE_RESOURCES % PRESSURE_SCOPES,
			 round = i / PRESSURE_RESOURCES / PRESSURE_SCOPES;

		if (array_make_room(pressure->readings, pressure->count, pressure->room, 1U))
			return -ENOMEM;
		pressure->readings[pressure->count++] = (struct pressure_reading){
			.at_ns = capture->trigger.triggered_ns +
				 round * (capture->trigger.capture_ns / (PRESSURE_READINGS - 1)),
			.totals = { { 123456789 + round * 40000 * (1 + resource), 23456789 + round * 9000 },
				    { true, true } },
			.scope = (enum pressure_scope)scope,
			.resource = (enum psi_resource)resource,
		};
	}
	return 0;
}

static int add_usage(struct capture *capture)
{
	struct capture_usage *usage = &capture->usage;
	struct made_host host = { .random = 1 };

	usage->before.walked_ns = capture->trigger.triggered_ns - capture->trigger.wanted_history_ns;
	usage->to_ns = capture->trigger.triggered_ns + capture->trigger.capture_ns;
	usage->rows = calloc(PROCESSES + OTHERS + 1, sizeof(*usage->rows));
	if (!usage->rows)
		return -ENOMEM;
	for (; usage->count < PROCESSES + OTHERS + 1; usage->count++) {
		struct usage_row *row = &usage->rows[usage->count];
		struct usage_process *process = &row->process;
		uint32_t tgid = 4000 + usage->count * 100;

		*row = (struct usage_row){ .role = usage->count < PROCESSES            ? USAGE_TARGET
						   : usage->count < PROCESSES + OTHERS ? USAGE_OTHER
										       : USAGE_REST,
					   .process = { .tgid = tgid,
							.started_ns = tgid * CLOCK_SECOND_NS } };
		snprintf(process->comm, sizeof(process->comm),
			 usage->count < PROCESSES ? "worker" : "other-%u", usage->count);
		process->sums.task = (struct task_usage){ .cpu_ns = below(&host, 2000000000),
							  .run_delay_ns = below(&host, 200000000),
							  .major_faults = below(&host, 100),
							  .minor_faults = below(&host, 10000),
							  .read_bytes = below(&host, 100000) * 4096UL,
							  .write_bytes = below(&host, 100000) * 4096UL,
							  .voluntary_switches = below(&host, 5000),
							  .involuntary_switches = below(&host, 500) };
		process->sums.rss_bytes = below(&host, 100000) * 4096UL;
		row->cgroup = shared_text_new("/system.slice/web.service");
		if (!row->cgroup)
			return -ENOMEM;
	}
	return 0;
}

static int add_statistics(struct capture *capture)
{
	struct kernel_stats *stats = &capture->kernel_stats;

	stats->from_ns = capture->trigger.triggered_ns;
	stats->to_ns = stats->from_ns + capture->trigger.capture_ns;
	for (uint32_t i = 0; i < STATISTICS; i++) {
		struct kernel_stat *stat;

		if (array_make_room(stats->stats, stats->count, stats->room, 1U))
			return -ENOMEM;
		stat = &stats->stats[stats->count++];
		*stat = (struct kernel_stat){ .source = i % 2 ? "vmstat" : "cpu.stat",
					      .scope = i % 2 ? KERNEL_STAT_SYSTEM : (int)(i / 2 % 2),
					      .before = 1000000 + i,
					      .after = 1001000 + i };
		snprintf(stat->name, sizeof(stat->name), "pgsteal_made_%u", i);
	}
	return 0;
}

int made_busy_context(struct capture *capture)
{
	return add_pressure(capture) || add_usage(capture) || add_statistics(capture) ? -ENOMEM : 0;
}

/* ---- names ---- */

uint32_t made_busy_frame(uint64_t address)
{
	return (uint32_t)(address / MADE_FRAME_BYTES);
}

uint32_t made_busy_frames(uint32_t captures)
{
	return FRAMES + (captures + STACKS / NEW_STACKS + 1) * JIT_FRAMES;
}

static uint32_t module_of(uint32_t frame)
{
	if (frame < KERNEL_FRAMES)
		return 0;
	if (frame >= FRAMES)
		return BUSY_MODULES - JIT_PROCESSES + frame % JIT_PROCESSES;
	return 1 + frame / SITES_OF_FUNCTION * 7 % (BUSY_MODULES - JIT_PROCESSES - 1);
}

/* Two to five words and a number: 24 characters in the mean. */
static int name_function(uint32_t function, char **ret_name)
{
	static const char *const words[] = { "get",    "set",   "do",    "hash",   "table",  "lookup",
					     "parse",  "node",  "emit",  "alloc",  "free",   "sort",
					     "ssl",    "read",  "write", "page",   "fault",  "sched",
					     "entity", "queue", "timer", "vector", "string", "append" };
	struct made_host host = { .random = function };
	uint32_t count = 2 + below(&host, 4);
	char text[128] = "";

	for (uint32_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s_",
			 words[below(&host, ARRAY_SIZE(words))]);
	return asprintf(ret_name, "%s%u", text, function) < 0 ? -ENOMEM : 0;
}

int made_busy_name(uint32_t number, struct resolved_frame *ret_frame)
{
	struct made_host host = { .random = number / SITES_OF_FUNCTION };
	struct resolved_frame frame = { .module = module_of(number),
					.offset = (int64_t)number * MADE_FRAME_BYTES,
					.function_offset = number % SITES_OF_FUNCTION * MADE_FRAME_BYTES };
	int result;

	if (number >= FRAMES)
		result = asprintf(&frame.function, "LazyCompile:~handler%u /srv/app/routes.js:%u", number,
				  number % 1000) < 0
				 ? -ENOMEM
				 : 0;
	else
		result = name_function(number / SITES_OF_FUNCTION, &frame.function);
	/* debug information is there for some modules */
	if (!result && number >= KERNEL_FRAMES && number < FRAMES && frame.module % 5 < 2) {
		frame.line = 1 + number % 3000;
		result = asprintf(&frame.file, "/usr/src/worker/src/part%u.c", below(&host, 500)) < 0
				 ? -ENOMEM
				 : 0;
	}
	if (result < 0)
		free(frame.function);
	else
		*ret_frame = frame;
	return result;
}

int made_busy_module(uint32_t number, struct resolved_module *ret_module)
{
	struct resolved_module module = { .kind = MODULE_FILE };
	int bytes;

	if (!number) {
		module.kind = MODULE_KERNEL;
		bytes = asprintf(&module.path, "[kernel]");
	} else if (number >= BUSY_MODULES - JIT_PROCESSES) {
		module.kind = MODULE_JIT;
		module.process = number - (BUSY_MODULES - JIT_PROCESSES);
		snprintf(module.version, sizeof(module.version), "%u-1700000000",
			 4000 + module.process * 100);
		bytes = asprintf(&module.path, "[jit]");
	} else {
		snprintf(module.build_id, sizeof(module.build_id), "%040x", number * 2654435761U);
		bytes = asprintf(&module.path, "/usr/lib/x86_64-linux-gnu/libworker%02u.so.6", number);
	}
	if (bytes < 0)
		return -ENOMEM;
	*ret_module = module;
	return 0;
}
