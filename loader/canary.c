/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/canary.h"

#include "common/abi.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/plural.h"
#include "loader/programs.h"

#include <bourdon.skel.h>
#include <bpf/bpf.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CANARY_COMM "bourdon-canary"
#define PATIENCE_NS (3 * CLOCK_SECOND_NS)
#define LINKS_MAX 4200 /* CPUS_MAX, and a few tracepoints */

struct canary {
	struct programs programs;
	struct bpf_link **links;
	size_t links_count;
	struct ring_buffer *events;
	pid_t process;
	bool matched;
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

static double milliseconds_since(uint64_t began_ns)
{
	return (double)(clock_monotonic_ns() - began_ns) / 1e6;
}

static bool load(struct canary *canary, unsigned int hz, struct findings *findings)
{
	const struct programs_settings settings = {
		.hz = hz,
		.ring_bytes = 65536,
		.targets = 64,
		.quiet_after_ns = 10 * CLOCK_SECOND_NS,
		/* the canary samples only its own process, so no policy applies */
		.policy = policy_default,
	};
	uint64_t began_ns = clock_monotonic_ns();
	int result = programs_load(&canary->programs, &settings);

	if (result < 0) {
		findings_add(findings, VERDICT_FAILED, "canary: load",
			     "send the verifier's log above to the maintainers of bourdon", "%s",
			     strerror(-result));
		return false;
	}
	findings_ok(findings, "canary: load", "the verifier accepts all programs, in %.0f ms",
		    milliseconds_since(began_ns));
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
		findings_add(findings, VERDICT_FAILED, "canary: attach",
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

/* Waits for the event that says the kernel matched the process by its comm. */
static bool await_event(struct canary *canary, struct findings *findings)
{
	uint64_t began_ns = clock_monotonic_ns();
	pid_t parent = getpid();
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
	while (!result && !canary->matched && clock_monotonic_ns() - began_ns < PATIENCE_NS) {
		int received = ring_buffer__poll(canary->events, 100);

		if (received < 0 && received != -EINTR)
			result = received;
	}
	if (canary->matched) {
		findings_ok(findings, "canary: event", "a process was matched by its comm after %.1f ms",
			    milliseconds_since(began_ns));
		return true;
	}
	findings_add(findings, VERDICT_FAILED, "canary: event",
		     "report this kernel to the maintainers of bourdon",
		     "no event for a matching process: %s", result ? strerror(-result) : "none came");
	return false;
}

/* The process is the only target, so its first sample on a CPU is the first slot of that CPU's ring. */
static bool find_sample(const struct canary *canary, struct sample *sample)
{
	for (__u32 cpu = 0; cpu < canary->programs.rings; cpu++) {
		__u32 first = cpu * canary->programs.slots_per_cpu;

		if (!bpf_map_lookup_elem(bpf_map__fd(canary->programs.bpf->maps.oncpu), &first, sample) &&
		    sample->seq && sample->tgid == (__u32)canary->process)
			return true;
	}
	return false;
}

static void await_sample(const struct canary *canary, unsigned int hz, struct findings *findings)
{
	/* a sample wakes nobody, by design: poll after each tick of the clock */
	const struct timespec tick = clock_timespec(CLOCK_SECOND_NS / hz);
	uint64_t began_ns = clock_monotonic_ns();
	struct sample sample;

	while (!find_sample(canary, &sample)) {
		if (clock_monotonic_ns() - began_ns >= PATIENCE_NS) {
			findings_add(findings, VERDICT_FAILED, "canary: sample",
				     "report this kernel to the maintainers of bourdon",
				     "a running process was not sampled within %.0f ms",
				     milliseconds_since(began_ns));
			return;
		}
		nanosleep(&tick, NULL);
	}
	findings_ok(findings, "canary: sample", "on CPU %u after %.1f ms, %d user frames", sample.cpu,
		    milliseconds_since(began_ns), sample.user_depth);
}

void canary_run(unsigned int hz, struct findings *findings)
{
	_cleanup_(canary_close) struct canary canary = { 0 };

	if (load(&canary, hz, findings) && attach(&canary, hz, findings) && await_event(&canary, findings))
		await_sample(&canary, hz, findings);
}
