/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drain measures how fast the consumer drains full rings: it reads samples, finds their processes, interns
 * their stacks and adds them up, as bourdond does when a watch has fired. There are more rings than the
 * caches hold, as on a large machine, so that each sample comes from memory.
 */
#include "bench/made_samples.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "consumer/capture/capture_samples.h"

#include <inttypes.h>
#include <string.h>

#define RING_BYTES (1UL << 20)
#define SLOTS ((uint32_t)(RING_BYTES / sizeof(struct sample)))

struct settings {
	unsigned long long stacks, depth, cpus, rounds;
};

/*
 * One capture of all samples in the rings. Measured in CPU time of this thread, which other processes do not
 * change.
 */
static int drain_once(const struct rings *rings)
{
	struct capture_trigger trigger = made_trigger();
	struct capture *capture = capture_begin(&trigger, rings);
	uint64_t began_ns, ended_ns, samples = 0;

	if (!capture) {
		free(trigger.cgroup);
		return -ENOMEM;
	}
	began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	capture_drain(capture, made_describe, NULL);
	ended_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < capture->rows_count; i++)
		samples += capture->rows[i].samples;
	printf("samples=%" PRIu64 " ns=%" PRIu64 " stacks=%u rows=%u\n", samples, ended_ns - began_ns,
	       capture->stacks.count, capture->rows_count);
	capture_free(capture);
	return 0;
}

static int run(const struct settings *settings)
{
	struct made_shape shape = { (uint32_t)settings->stacks, (uint32_t)settings->depth };
	uint32_t cpus = (uint32_t)settings->cpus;
	_cleanup_free_ struct sample *slots = calloc((size_t)cpus * SLOTS, sizeof(*slots));
	struct rings rings = { slots, SLOTS, cpus, 0, NULL };
	int result = slots ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < cpus && !result; i++)
		made_ring(&shape, i * SLOTS, slots + (size_t)i * SLOTS, SLOTS);
	for (unsigned long long i = 0; i < settings->rounds && !result; i++)
		result = drain_once(&rings);
	return result;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *stacks = "500", *depth = "30", *cpus = "64", *rounds = "20";
	const struct option_spec options[] = {
		{ "stacks", "N", "distinct stacks (500)", &stacks },
		{ "depth", "N", "frames of each (30)", &depth },
		{ "cpus", "N", "rings of 1 MiB (64)", &cpus },
		{ "rounds", "N", "times to drain them (20)", &rounds },
	};
	const struct command_spec command = {
		"drain",           "[OPTION...]", "Drains full sample rings and prints how long that took.",
		"drain --depth 5", options,       ARRAY_SIZE(options)
	};
	int words, parsed = options_parse(&command, count, arguments, &words);

	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(stacks, 1, 10000, &ret_settings->stacks) ||
	    options_number(depth, 2, SAMPLE_USER_FRAMES, &ret_settings->depth) ||
	    options_number(cpus, 1, 1024, &ret_settings->cpus) ||
	    options_number(rounds, 1, 10000, &ret_settings->rounds)) {
		log_error("expected at most 10000 stacks of 2 to %u frames, 1024 CPUs and 10000 rounds",
			  SAMPLE_USER_FRAMES);
		return EXIT_USAGE;
	}
	return OPTIONS_RUN;
}

int main(int argc, char **argv)
{
	struct settings settings;
	int parsed, error;

	log_init("drain");
	parsed = read_settings(argc, argv, &settings);
	if (parsed != OPTIONS_RUN)
		return parsed;
	error = run(&settings);
	if (error)
		log_error("cannot drain the rings: %s", strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
