/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bpf_cost measures the cost of bourdon's pinned programs for some seconds: the run time that the kernel
 * counts, beside the samples written meanwhile, so that the cost of a sample and that of all other runs are
 * told apart.
 */
#include "bench/program_stats.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/counters.h"
#include "common/protocol/manifest.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "consumer/capture/ring.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#define PROGRAM_PREFIX "prog_"
#define SAMPLER PROGRAM_PREFIX "oncpu_tick"
#define SWITCHER PROGRAM_PREFIX "offcpu_switch"
#define WAKER PROGRAM_PREFIX "offcpu_waking"
#define WOKEN PROGRAM_PREFIX "offcpu_wakeup"

struct pins {
	const char *directory;
	struct manifest manifest;
	const struct sample *slots;
	size_t slots_bytes;
	int counters_fd;
};

struct reading {
	struct program_stats sampler, switcher, waker, woken, all;
	uint64_t samples, offcpu_stacks, offcpu_slots;
};

static int open_pin(const char *directory, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		log_error("cannot open the pin %s: %s", path, strerror(errno));
	return fd < 0 ? -errno : fd;
}

static int read_manifest(const char *run_dir, struct manifest *ret_manifest)
{
	struct config_errors errors = { 0 };
	char path[PATH_MAX];
	int result;

	snprintf(path, sizeof(path), "%s/" MANIFEST_FILE, run_dir);
	result = manifest_read(path, ret_manifest, &errors);
	config_errors_log(&errors);
	config_errors_free(&errors);
	return result;
}

static int pins_open(struct pins *ret_pins, const char *pin_dir, const char *run_dir)
{
	struct pins pins = { .directory = pin_dir };
	int result = read_manifest(run_dir, &pins.manifest);
	_cleanup_close_ int slots_fd = result < 0 ? result : open_pin(pin_dir, pin_maps[PIN_ONCPU].name);
	void *at;

	if (slots_fd < 0)
		return slots_fd;
	pins.slots_bytes = (size_t)pins.manifest.cpus * pins.manifest.slots_per_cpu * sizeof(struct sample);
	at = mmap(NULL, pins.slots_bytes, PROT_READ, MAP_SHARED, slots_fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	pins.slots = at;
	pins.counters_fd = open_pin(pin_dir, pin_maps[PIN_COUNTERS].name);
	if (pins.counters_fd < 0) {
		munmap(at, pins.slots_bytes);
		return pins.counters_fd;
	}
	*ret_pins = pins;
	return 0;
}

static void pins_close(struct pins *pins)
{
	munmap((void *)pins->slots, pins->slots_bytes);
	cleanup_close(&pins->counters_fd);
}

static int add_program(const struct pins *pins, const char *name, struct reading *reading)
{
	_cleanup_close_ int program = open_pin(pins->directory, name);
	int result = program < 0 ? program : program_stats_add(program, &reading->all);

	if (!result && !strcmp(name, SAMPLER))
		result = program_stats_add(program, &reading->sampler);
	if (!result && !strcmp(name, SWITCHER))
		result = program_stats_add(program, &reading->switcher);
	if (!result && !strcmp(name, WAKER))
		result = program_stats_add(program, &reading->waker);
	if (!result && !strcmp(name, WOKEN))
		result = program_stats_add(program, &reading->woken);
	return result;
}

static int read_state(const struct pins *pins, struct reading *ret_reading)
{
	_cleanup_dir_ DIR *directory = opendir(pins->directory);
	uint64_t counters[COUNTERS] = { 0 };
	struct reading reading = { .samples = 0 };
	const struct dirent *entry;
	int result = directory ? 0 : -errno;

	while (!result && (entry = readdir(directory)))
		if (!strncmp(entry->d_name, PROGRAM_PREFIX, strlen(PROGRAM_PREFIX)))
			result = add_program(pins, entry->d_name, &reading);
	if (!result)
		result = counters_read(pins->counters_fd, counters);
	if (result < 0)
		return result;
	/* of targets and of all others: the same program writes both */
	reading.samples = counters[COUNTER_SAMPLES_ONCPU] + counters[COUNTER_SAMPLES_OTHERS];
	reading.offcpu_stacks = counters[COUNTER_OFFCPU_STACKS];
	reading.offcpu_slots = counters[COUNTER_SAMPLES_OFFCPU];
	*ret_reading = reading;
	return 0;
}

struct depths {
	uint64_t since_ns;
	uint64_t samples, user_frames;
};

static void add_depth(void *user, const struct sample *sample)
{
	struct depths *depths = user;

	if (sample->time_ns < depths->since_ns || sample->user_depth < 0)
		return;
	depths->samples++;
	depths->user_frames += (uint64_t)sample->user_depth;
}

/* Counts the samples since then that the rings still have. */
static double mean_user_frames(const struct pins *pins, uint64_t since_ns)
{
	struct depths depths = { .since_ns = since_ns };

	for (uint32_t cpu = 0; cpu < pins->manifest.cpus; cpu++) {
		uint32_t slots = pins->manifest.slots_per_cpu;
		struct ring_reader reader;
		uint64_t oldest_ns;

		ring_begin(&reader, pins->slots + (size_t)cpu * slots, slots, &oldest_ns);
		ring_read(&reader, add_depth, &depths);
	}
	return depths.samples ? (double)depths.user_frames / (double)depths.samples : 0;
}

static int measure(const struct pins *pins, unsigned long long seconds)
{
	const struct timespec pause = { .tv_sec = (time_t)seconds };
	uint64_t began_ns = clock_monotonic_ns(), ended_ns;
	struct reading before = { .samples = 0 }, after = before;
	int result = read_state(pins, &before);

	if (result < 0)
		return result;
	nanosleep(&pause, NULL);
	result = read_state(pins, &after);
	ended_ns = clock_monotonic_ns();
	if (result < 0)
		return result;
	printf("runs=%" PRIu64 " run_ns=%" PRIu64 " samples=%" PRIu64 " all_ns=%" PRIu64 " switches=%" PRIu64
	       " switches_ns=%" PRIu64 " wakings=%" PRIu64 " wakings_ns=%" PRIu64 " wakeups=%" PRIu64
	       " wakeups_ns=%" PRIu64 " offcpu_stacks=%" PRIu64 " offcpu_slots=%" PRIu64
	       " user_frames=%.1f wall_ns=%" PRIu64 "\n",
	       after.sampler.runs - before.sampler.runs, after.sampler.run_ns - before.sampler.run_ns,
	       after.samples - before.samples, after.all.run_ns - before.all.run_ns,
	       after.switcher.runs - before.switcher.runs, after.switcher.run_ns - before.switcher.run_ns,
	       after.waker.runs - before.waker.runs, after.waker.run_ns - before.waker.run_ns,
	       after.woken.runs - before.woken.runs, after.woken.run_ns - before.woken.run_ns,
	       after.offcpu_stacks - before.offcpu_stacks, after.offcpu_slots - before.offcpu_slots,
	       mean_user_frames(pins, began_ns), ended_ns - began_ns);
	return 0;
}

static int run(const char *pin_dir, const char *run_dir, unsigned long long seconds)
{
	_cleanup_close_ int stats = program_stats_enable();
	struct pins pins;
	int result = stats < 0 ? stats : pins_open(&pins, pin_dir, run_dir);

	if (result < 0)
		return result;
	result = measure(&pins, seconds);
	pins_close(&pins);
	return result;
}

int main(int argc, char **argv)
{
	const char *pin_dir = PIN_DIRECTORY_DEFAULT, *run_dir = RUN_DIRECTORY_DEFAULT, *text = "5";
	const struct option_spec options[] = {
		{ "pin-dir", "DIR", "the pins (" PIN_DIRECTORY_DEFAULT ")", &pin_dir },
		{ "run-dir", "DIR", "their manifest (" RUN_DIRECTORY_DEFAULT ")", &run_dir },
		{ "seconds", "N", "how long to measure (5)", &text },
	};
	const struct command_spec command = { "bpf_cost",
					      "[OPTION...]",
					      "Measures what bourdon's in-kernel programs cost.",
					      "bpf_cost --seconds 5",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long seconds;
	int words, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(text, 1, 3600, &seconds)) {
		log_error("expected 1 to 3600 seconds: see --help");
		return EXIT_USAGE;
	}
	error = run(pin_dir, run_dir, seconds);
	if (error)
		log_error("cannot measure the programs' cost: %s", strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
