/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_dump plays the consumer of histograms: as root it has groups of latencies measured while a command runs, and prints what
 * the kernel's table has of that time.
 */
#include "common/abi/abi.h"
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/latency_groups.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEARTBEAT_US 100000U

static const char *const metric_names[METRICS] = { METRIC_NAMES };

struct row {
	struct histogram_key key;
	int64_t count, sum;
};

struct dump {
	int control, histograms, tallies;
	uint64_t from_epoch;
	struct row *rows; /* those from before the command count negative */
	uint32_t count, room;
	struct histogram_tally sums[METRICS];
};

static int open_pin(const char *directory, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		log_error("cannot open pin %s: %s", path, strerror(errno));
	return fd;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CLOCK_SECOND_NS + (uint64_t)now.tv_nsec;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *one = a, *other = b;
	int result = (one->key.metric > other->key.metric) - (one->key.metric < other->key.metric);

	if (!result)
		result = (one->key.detail > other->key.detail) - (one->key.detail < other->key.detail);
	if (!result)
		result = (one->key.object > other->key.object) - (one->key.object < other->key.object);
	if (!result)
		result = (one->key.owner > other->key.owner) - (one->key.owner < other->key.owner);
	return result ? result
		      : (one->key.bucket > other->key.bucket) - (one->key.bucket < other->key.bucket);
}

/* Adds the table to the rows, `sign` times. */
static int add_rows(struct dump *dump, int sign)
{
	struct histogram_set set;

	for (uint32_t i = 0; i < HISTOGRAM_SETS; i++) {
		if (bpf_map_lookup_elem(dump->histograms, &i, &set))
			return -errno;
		for (uint32_t j = 0; j < HISTOGRAM_WAYS; j++) {
			const struct histogram_slot *slot = &set.slots[j];

			if (slot->id == HISTOGRAM_BUSY || slot->id >> 32 < dump->from_epoch)
				continue;
			if (array_make_room(dump->rows, dump->count, dump->room, 256U))
				return -ENOMEM;
			dump->rows[dump->count++] = (struct row){ .key = slot->key,
								  .count = sign * (int64_t)slot->count,
								  .sum = sign * (int64_t)slot->sum };
		}
	}
	return 0;
}

static int add_tallies(struct dump *dump, int sign)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct histogram_tally *tallies = calloc((size_t)cpus, sizeof(*tallies));

	for (uint32_t i = 0; i < METRICS * TALLY_EPOCHS && tallies; i++) {
		struct histogram_tally *sum = &dump->sums[i / TALLY_EPOCHS];

		if (bpf_map_lookup_elem(dump->tallies, &i, tallies))
			return -errno;
		for (int cpu = 0; cpu < cpus; cpu++) {
			if (tallies[cpu].epoch < dump->from_epoch)
				continue;
			sum->events += (__u64)sign * tallies[cpu].events;
			sum->overflow += (__u64)sign * tallies[cpu].overflow;
			sum->unpaired += (__u64)sign * tallies[cpu].unpaired;
			sum->absurd += (__u64)sign * tallies[cpu].absurd;
		}
	}
	return tallies ? 0 : -ENOMEM;
}

/* Slots of one key are of several epochs, or were made by two CPUs at once. */
static void print(struct dump *dump)
{
	qsort(dump->rows, dump->count, sizeof(*dump->rows), compare_rows);
	for (uint32_t i = 0; i < dump->count;) {
		const struct histogram_key *key = &dump->rows[i].key;
		int64_t count = 0, sum = 0;
		uint32_t first = i;

		for (; i < dump->count && !compare_rows(&dump->rows[first], &dump->rows[i]); i++) {
			count += dump->rows[i].count;
			sum += dump->rows[i].sum;
		}
		if (count && key->metric < METRICS)
			printf("%s %u %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64
			       "\n",
			       metric_names[key->metric], key->detail, (uint64_t)key->object,
			       (uint64_t)key->owner, key->bucket, (uint64_t)bucket_begins(key->bucket),
			       (uint64_t)bucket_begins(key->bucket + 1U), count, sum);
	}
	for (uint32_t i = 0; i < METRICS; i++)
		printf("tally %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", metric_names[i],
		       (uint64_t)dump->sums[i].events, (uint64_t)dump->sums[i].overflow,
		       (uint64_t)dump->sums[i].unpaired, (uint64_t)dump->sums[i].absurd);
}

/* Runs the command, with a heartbeat, and its output on stderr. Returns its exit status, or -errno. */
static int measure(struct control *control, uint32_t groups, char **command)
{
	pid_t child;
	int status;

	control->heartbeat_ns = now_ns();
	control->latency = groups;
	child = fork();
	if (!child) {
		/* else it would outlive a test that failed */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(command[0], command);
		log_error("cannot execute %s: %s", command[0], strerror(errno));
		_exit(EXIT_FAILED);
	}
	while (child > 0 && !waitpid(child, &status, WNOHANG)) {
		control->heartbeat_ns = now_ns();
		usleep(HEARTBEAT_US);
	}
	control->latency = 0;
	if (child < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static int run(struct dump *dump, uint32_t groups, char **command)
{
	struct control *control =
		mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, dump->control, 0);
	int result, status;

	if (control == MAP_FAILED)
		return -errno;
	if ((control->latency_loaded & groups) != groups)
		return -ENOENT;
	dump->from_epoch = now_ns() / HISTOGRAM_EPOCH_NS;
	result = add_rows(dump, -1);
	if (!result)
		result = add_tallies(dump, -1);
	status = result ? result : measure(control, groups, command);
	if (status >= 0)
		result = add_rows(dump, 1);
	if (!result && status >= 0)
		result = add_tallies(dump, 1);
	if (!result)
		print(dump);
	return result ? result : status;
}

int main(int argc, char **argv)
{
	const struct command_spec command = {
		"latency_dump",
		"PIN_DIR GROUPS -- COMMAND [ARGUMENT...]",
		"Has latencies measured while the command runs, and prints their histograms. No bourdond may run.",
		"latency_dump /sys/fs/bpf/bourdon block,lock -- sync\n"
		"A line has metric, detail, object, owner, bucket, its bounds, count and sum; or \"tally\", metric, events,\n"
		"overflow, unpaired and absurd. The command's output is on stderr, its exit status is that of this.",
		NULL,
		0
	};
	struct dump dump = { 0 };
	int words, parsed, result;
	const char *wrong;
	uint32_t groups;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	wrong = words < 3 ? "" : latency_groups_parse(argv[2], &groups);
	if (wrong) {
		log_error("takes a directory of pins, groups, and a command: see --help");
		return EXIT_USAGE;
	}
	dump.control = open_pin(argv[1], "control");
	dump.histograms = open_pin(argv[1], "histograms");
	dump.tallies = open_pin(argv[1], "histogram_tallies");
	if (dump.control < 0 || dump.histograms < 0 || dump.tallies < 0)
		return EXIT_FAILED;
	argv[words + 1] = NULL;
	result = run(&dump, groups, argv + 3);
	free(dump.rows);
	if (result >= 0)
		return result;
	log_error("cannot measure %s: %s", argv[2], strerror(-result));
	return EXIT_FAILED;
}
