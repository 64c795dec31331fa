/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reference loads the sampler that bourdon's is compared with, on the same clock, reads its records for some
 * seconds as a user of it would, and prints the cost that the kernel counted.
 */
#include "bench/reference.h"

#include "bench/program_stats.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/kernel/cpus.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <reference.skel.h>
#include <string.h>
#include <sys/syscall.h>

struct settings {
	unsigned long long tgid, hz, seconds;
};

/* The counts at one moment. */
struct reading {
	struct program_stats stats;
	uint64_t samples, dropped;
};

struct tally {
	uint64_t records, user_frames;
};

/* As loader/load.c opens bourdon's clock. */
static int attach_to_cpu(struct reference_bpf *bpf, unsigned int cpu, unsigned long long hz)
{
	struct perf_event_attr attributes = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(attributes),
					      .config = PERF_COUNT_SW_CPU_CLOCK,
					      .sample_period = 1000000000U / hz,
					      .exclude_idle = 1 };
	int event = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return -errno;
	/* it is detached when this process ends */
	return bpf_program__attach_perf_event(bpf->progs.reference_tick, event) ? 0 : -errno;
}

static int attach_to_all(struct reference_bpf *bpf, const struct settings *settings)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	__u32 tgid = (__u32)settings->tgid, wanted = 1;
	size_t count;
	int result = cpus_online(&cpus, &count);

	if (!result)
		result = bpf_map_update_elem(bpf_map__fd(bpf->maps.reference_tgids), &tgid, &wanted, BPF_ANY);
	for (size_t i = 0; i < count && !result; i++)
		result = attach_to_cpu(bpf, cpus[i], settings->hz);
	return result;
}

static int on_record(void *user, void *data, size_t bytes)
{
	const struct reference_record *record = data;
	struct tally *tally = user;

	if (bytes != sizeof(*record))
		return -EBADMSG;
	tally->records++;
	if (record->user_bytes > 0)
		tally->user_frames += (size_t)record->user_bytes / sizeof(record->user_frames[0]);
	return 0;
}

static int read_state(const struct reference_bpf *bpf, struct reading *ret_reading)
{
	*ret_reading = (struct reading){ .samples = bpf->bss->samples, .dropped = bpf->bss->dropped };
	return program_stats_add(bpf_program__fd(bpf->progs.reference_tick), &ret_reading->stats);
}

static int drain_for(struct ring_buffer *ring, unsigned long long seconds)
{
	uint64_t until_ns = clock_monotonic_ns() + seconds * CLOCK_SECOND_NS;
	int result = 0;

	while (result >= 0 && clock_monotonic_ns() < until_ns)
		result = ring_buffer__poll(ring, 100);
	return result < 0 ? result : 0;
}

static void print_difference(const struct reading *before, const struct reading *after,
			     const struct tally *tally)
{
	printf("runs=%" PRIu64 " run_ns=%" PRIu64 " samples=%" PRIu64 " dropped=%" PRIu64
	       " user_frames=%.1f\n",
	       after->stats.runs - before->stats.runs, after->stats.run_ns - before->stats.run_ns,
	       after->samples - before->samples, after->dropped - before->dropped,
	       tally->records ? (double)tally->user_frames / (double)tally->records : 0.0);
}

static int measure(struct reference_bpf *bpf, struct ring_buffer *ring, const struct settings *settings,
		   struct tally *tally)
{
	struct reading before = { .samples = 0 }, after = before;
	int result = attach_to_all(bpf, settings);

	if (!result)
		result = read_state(bpf, &before);
	if (!result)
		result = drain_for(ring, settings->seconds);
	if (!result)
		result = read_state(bpf, &after);
	if (!result)
		print_difference(&before, &after, tally);
	return result;
}

static int run(const struct settings *settings)
{
	_cleanup_close_ int stats = program_stats_enable();
	struct reference_bpf *bpf = reference_bpf__open_and_load();
	struct ring_buffer *ring = NULL;
	struct tally tally = { 0 };
	int result = stats < 0 ? stats : bpf ? 0 : -errno;

	if (!result) {
		ring = ring_buffer__new(bpf_map__fd(bpf->maps.reference_ring), on_record, &tally, NULL);
		result = ring ? measure(bpf, ring, settings, &tally) : -errno;
	}
	ring_buffer__free(ring);
	reference_bpf__destroy(bpf);
	return result;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *tgid = "", *hz = "47", *seconds = "5";
	const struct option_spec options[] = {
		{ "tgid", "PID", "the process to sample", &tgid },
		{ "hz", "N", "samples a second and CPU (47)", &hz },
		{ "seconds", "N", "how long to sample (5)", &seconds },
	};
	const struct command_spec command = {
		"reference",
		"--tgid PID [OPTION...]",
		"Samples one process with the reference program and prints its cost.",
		"reference --tgid 1234 --seconds 5",
		options,
		ARRAY_SIZE(options)
	};
	int words, parsed = options_parse(&command, count, arguments, &words);

	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(tgid, 1, INT32_MAX, &ret_settings->tgid) ||
	    options_number(hz, 1, 1000, &ret_settings->hz) ||
	    options_number(seconds, 1, 3600, &ret_settings->seconds)) {
		log_error("expected a process, 1 to 1000 Hz and 1 to 3600 seconds: see --help");
		return EXIT_USAGE;
	}
	return OPTIONS_RUN;
}

int main(int argc, char **argv)
{
	struct settings settings;
	int parsed, error;

	log_init("reference");
	parsed = read_settings(argc, argv, &settings);
	if (parsed != OPTIONS_RUN)
		return parsed;
	error = run(&settings);
	if (error)
		log_error("cannot measure the reference program: %s", strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
