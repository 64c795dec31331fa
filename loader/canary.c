/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/canary.h"

#include "common/abi/policy.h"
#include "common/abi/samples.h"
#include "common/abi/targets.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/latency_groups.h"
#include "common/text/plural.h"
#include "loader/programs.h"

#include <bourdon.skel.h>
#include <bpf/bpf.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CANARY_COMM "bourdon-canary"
#define PATIENCE_NS (10 * CLOCK_SECOND_NS)
/* A process that runs when a sample is due is sampled: by chance alone one in e^20 gets so far without any. */
#define SAMPLES_ENOUGH 20
/*
 * The clock of a process's CPU time, as clock_getcpuclockid(3) makes it (CPUCLOCK_SCHED): that function asks the kernel for the
 * clock's resolution, which the system-call filter does not allow.
 */
#define CPU_CLOCK_OF(pid) ((clockid_t)(~(unsigned int)(pid) << 3 | 2U))
#define LINKS_MAX 4200 /* CPUS_MAX, and a few tracepoints */

struct canary {
	struct programs programs;
	struct bpf_link **links;
	size_t links_count;
	struct ring_buffer *events;
	pid_t process;
	bool matched;
	struct sample sample;
};

static void canary_close(struct canary *canary)
{
	if (canary->process > 0) {
		kill(canary->process, SIGKILL);
		waitpid(canary->process, NULL, 0);
	}
	ring_buffer__free(canary->events);
	for (size_t i = 0; i < canary->links_count; i++)
		bpf_link__destroy(canary->links[i]);
	free(canary->links);
	programs_close(&canary->programs);
}

static double milliseconds(uint64_t ns)
{
	return (double)ns / 1e6;
}

static bool load(struct canary *canary, unsigned int hz, struct findings *findings)
{
	struct programs_settings settings = {
		.hz = hz,
		.ring_bytes = 65536,
		.targets = 64,
		.quiet_after_ns = 10 * CLOCK_SECOND_NS,
		.probes = LATENCY_ALL,
		.policy = policy_default,
	};
	uint64_t began_ns = clock_monotonic_ns();
	int result;

	/* nobody's policy applies to a process of its own, and the samples of others would come before its first one */
	settings.policy.bystanders = false;
	settings.policy.kernel_threads = false;
	result = programs_load(&canary->programs, &settings);
	if (result < 0) {
		findings_add(findings, GRADE_FAILED, "canary: load",
			     "send the verifier's log above to the maintainers of bourdon", "%s",
			     strerror(-result));
		return false;
	}
	findings_ok(findings, "canary: load", "the verifier accepts all programs, in %.0f ms",
		    milliseconds(clock_monotonic_ns() - began_ns));
	return true;
}

/* Implements programs_link_add. */
static int keep_link(void *user, const char *name, struct bpf_link *link)
{
	struct canary *canary = user;

	(void)name;
	if (canary->links_count == LINKS_MAX) {
		bpf_link__destroy(link);
		return -E2BIG;
	}
	canary->links[canary->links_count++] = link;
	return 0;
}

static bool attach(struct canary *canary, unsigned int hz, struct findings *findings)
{
	int result = -ENOMEM;

	canary->links = calloc(LINKS_MAX, sizeof(struct bpf_link *));
	if (canary->links)
		result = programs_attach(&canary->programs, hz, keep_link, canary);
	if (result < 0)
		findings_add(findings, GRADE_FAILED, "canary: attach",
			     "the line above names what could not be attached", "%s", strerror(-result));
	else
		findings_ok(findings, "canary: attach", "%zu tracepoints and the clocks of %zu %s",
			    canary->links_count - canary->programs.cpus_count, canary->programs.cpus_count,
			    plural(canary->programs.cpus_count, "CPU", "CPUs"));
	return !result;
}

/* Sets up what a consumer provides: one comm pattern and a heartbeat. */
static int arm(const struct canary *canary)
{
	const struct pattern_key key = { .prefix_bits = sizeof(CANARY_COMM) * 8, .comm = CANARY_COMM };
	struct control control = { .abi = BOURDON_ABI, .heartbeat_ns = clock_monotonic_ns() };
	__u32 pattern_id = 1, zero = 0;
	int result;

	result = bpf_map_update_elem(bpf_map__fd(canary->programs.bpf->maps.patterns_a), &key, &pattern_id,
				     BPF_ANY);
	return result ? result
		      : bpf_map_update_elem(bpf_map__fd(canary->programs.bpf->maps.control), &zero, &control,
					    BPF_ANY);
}

static void __attribute__((noreturn)) sing(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || prctl(PR_SET_NAME, CANARY_COMM))
		_exit(1);
	for (;;)
		__asm__ volatile(""); /* a loop without any effect may be left out */
}

static int on_event(void *user, void *data, size_t bytes)
{
	const struct process_event *event = data;
	struct canary *canary = user;

	if (bytes == sizeof(*event) && event->header.type == RECORD_PROCESS &&
	    event->kind == PROCESS_MATCHED && event->tgid == (__u32)canary->process)
		canary->matched = true;
	return 0;
}

enum grade canary_judge(unsigned int hz, uint64_t ran_ns, uint64_t waited_ns)
{
	if (ran_ns >= SAMPLES_ENOUGH * CLOCK_SECOND_NS / hz)
		return GRADE_FAILED;
	return waited_ns >= PATIENCE_NS ? GRADE_UNKNOWN : GRADE_OK;
}

/* One of the things that have to happen to the process. */
struct expected {
	const char *name, *missing;
	/* waits for at most the time, and returns 1 if it has happened, 0 or -errno */
	int (*look)(struct canary *canary, uint64_t wait_ns);
};

/* Adds a finding unless it happens, and returns whether it did. */
static bool await(struct canary *canary, unsigned int hz, const struct expected *expected,
		  uint64_t *ret_waited_ns, struct findings *findings)
{
	uint64_t began_ns = clock_monotonic_ns(), ran_ns;
	enum grade grade = GRADE_OK;
	int seen = 0;

	while (!seen && grade == GRADE_OK) {
		ran_ns = clock_read_ns(
			CPU_CLOCK_OF(canary->process)); /* what it runs after the look does not count */
		seen = expected->look(canary, CLOCK_SECOND_NS / hz);
		*ret_waited_ns = clock_monotonic_ns() - began_ns;
		grade = canary_judge(hz, ran_ns, *ret_waited_ns);
	}
	if (seen < 0)
		findings_add(findings, GRADE_FAILED, expected->name, "", "%s", strerror(-seen));
	else if (!seen && grade == GRADE_UNKNOWN)
		findings_add(findings, grade, expected->name,
			     "repeat the check when this machine is less busy",
			     "%s, but it ran for only %.1f ms of %.0f ms: other programs have the CPUs",
			     expected->missing, milliseconds(ran_ns), milliseconds(*ret_waited_ns));
	else if (!seen)
		findings_add(findings, grade, expected->name,
			     "report this kernel to the maintainers of bourdon",
			     "%s, though it ran for %.0f ms", expected->missing, milliseconds(ran_ns));
	return seen > 0;
}

static int look_for_event(struct canary *canary, uint64_t wait_ns)
{
	int received = ring_buffer__poll(canary->events, (int)(wait_ns / 1000000));

	return received < 0 && received != -EINTR ? received : canary->matched;
}

/* Waits for the event that says the kernel matched the process by its comm. */
static bool await_event(struct canary *canary, unsigned int hz, struct findings *findings)
{
	static const struct expected event = { "canary: event", "no event for a matching process",
					       look_for_event };
	pid_t parent = getpid();
	uint64_t waited_ns;
	int result = arm(canary);

	if (!result) {
		canary->events = ring_buffer__new(bpf_map__fd(canary->programs.bpf->maps.events), on_event,
						  canary, NULL);
		result = canary->events ? 0 : -errno;
	}
	if (!result) {
		canary->process = fork();
		if (!canary->process)
			sing(parent);
		result = canary->process < 0 ? -errno : 0;
	}
	if (result < 0) {
		findings_add(findings, GRADE_FAILED, event.name, "", "%s", strerror(-result));
		return false;
	}
	if (!await(canary, hz, &event, &waited_ns, findings))
		return false;
	findings_ok(findings, event.name, "a process was matched by its comm after %.1f ms",
		    milliseconds(waited_ns));
	return true;
}

/* The process is the only target, so its first sample on a CPU is the first slot of that CPU's ring. */
static bool find_sample(struct canary *canary)
{
	struct sample *sample = &canary->sample;

	for (__u32 cpu = 0; cpu < canary->programs.rings; cpu++) {
		__u32 first = cpu * canary->programs.slots_per_cpu;

		if (!bpf_map_lookup_elem(bpf_map__fd(canary->programs.bpf->maps.oncpu), &first, sample) &&
		    sample->seq && sample->tgid == (__u32)canary->process)
			return true;
	}
	return false;
}

/* A sample wakes nobody, by design: looks after each tick of the clock. */
static int look_for_sample(struct canary *canary, uint64_t wait_ns)
{
	const struct timespec tick = clock_timespec(wait_ns);

	if (find_sample(canary))
		return 1;
	nanosleep(&tick, NULL);
	return find_sample(canary);
}

static void await_sample(struct canary *canary, unsigned int hz, struct findings *findings)
{
	static const struct expected sample = { "canary: sample", "a running process was not sampled",
						look_for_sample };
	uint64_t waited_ns;

	if (await(canary, hz, &sample, &waited_ns, findings))
		findings_ok(findings, sample.name, "on CPU %u after %.1f ms, %d user frames",
			    canary->sample.cpu, milliseconds(waited_ns), canary->sample.user_depth);
}

void canary_run(unsigned int hz, struct findings *findings)
{
	_cleanup_(canary_close) struct canary canary = { 0 };

	if (load(&canary, hz, findings) && attach(&canary, hz, findings) &&
	    await_event(&canary, hz, findings))
		await_sample(&canary, hz, findings);
}
