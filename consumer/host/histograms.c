/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/histograms.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/protocol/latency_metrics.h"
#include "consumer/host/iterator_stream.h"
#include "consumer/process/map_elements.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#define SETS_AT_ONCE 64U

uint32_t histograms_switch(struct histograms_on *on, const struct kernel_objects *kernel, uint32_t groups,
			   uint64_t now_ns)
{
	uint32_t offered = kernel->control->latency_loaded, wanted = groups & offered;

	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		if (wanted & ~on->groups & 1U << i)
			on->since_ns[i] = now_ns;
	if (wanted & ~on->groups & 1U << LATENCY_MEMORY)
		__atomic_store_n(&kernel->control->growth_since_ns, now_ns, __ATOMIC_RELAXED);
	on->groups = wanted;
	__atomic_store_n(&kernel->control->latency, wanted, __ATOMIC_RELEASE);
	return groups & ~offered;
}

int histograms_add_set(struct histogram_reading *reading, const struct histogram_set *set,
		       uint64_t from_epoch)
{
	for (uint32_t i = 0; i < HISTOGRAM_WAYS; i++) {
		const struct histogram_slot *slot = &set->slots[i];
		uint64_t epoch = slot->id >> 32;

		if (!epoch || slot->id == HISTOGRAM_BUSY || epoch < from_epoch || !slot->count ||
		    slot->key.metric >= METRICS || slot->key.bucket >= LATENCY_BUCKETS)
			continue;
		if (array_make_room(reading->counts, reading->count, reading->room, 1U))
			return -ENOMEM;
		reading->counts[reading->count++] =
			(struct histogram_count){ slot->key, epoch, slot->count, slot->sum };
	}
	return 0;
}

/* The sets of a group follow each other. */
static int read_group(struct histogram_reading *reading, int map_fd, uint32_t group, uint64_t from_epoch,
		      struct histogram_set *sets)
{
	uint32_t keys[SETS_AT_ONCE], at = group * HISTOGRAM_SETS_A_GROUP, end = at + HISTOGRAM_SETS_A_GROUP;
	int result = 0;

	while (at < end && !result) {
		uint32_t before = at - 1, count = SETS_AT_ONCE;

		/* the kernel goes on behind the key that it gave last */
		result = bpf_map_lookup_batch(map_fd, at ? &before : NULL, &before, keys, sets, &count, NULL);
		if (result < 0 && result != -ENOENT)
			return result;
		for (uint32_t i = 0; i < count; i++)
			if (histograms_add_set(reading, &sets[i], from_epoch))
				return -ENOMEM;
		at += count;
	}
	return 0;
}

void histograms_add_tally(struct histogram_reading *reading, uint32_t position,
			  const struct histogram_tally *of_cpus, unsigned int cpus)
{
	struct histogram_events *sum = &reading->tallies[position / TALLY_EPOCHS][position % TALLY_EPOCHS];

	for (unsigned int i = 0; i < cpus; i++) {
		const struct histogram_tally *tally = &of_cpus[i];

		if (tally->epoch < sum->epoch)
			continue;
		/* a CPU that was idle has an older epoch there */
		if (tally->epoch > sum->epoch)
			*sum = (struct histogram_events){ .epoch = tally->epoch };
		sum->events += tally->events;
		sum->overflow += tally->overflow;
		sum->unpaired += tally->unpaired;
		sum->absurd += tally->absurd;
	}
}

struct tallies_reading {
	struct histogram_reading *reading;
	unsigned int cpus;
};

static int read_tally(void *user, const void *key, const void *value)
{
	const struct tallies_reading *tallies = user;
	uint32_t position;

	memcpy(&position, key, sizeof(position));
	if (position < METRICS * TALLY_EPOCHS)
		histograms_add_tally(tallies->reading, position, value, tallies->cpus);
	return 0;
}

static int read_tallies(struct histogram_reading *reading, int map_fd)
{
	int cpus = libbpf_num_possible_cpus();
	struct tallies_reading tallies = { reading, (unsigned int)cpus };

	if (cpus <= 0)
		return cpus ? cpus : -EINVAL;
	return map_elements_read(map_fd, sizeof(uint32_t),
				 (size_t)tallies.cpus * sizeof(struct histogram_tally), read_tally, &tallies);
}

/* Of these, the groups in which something happened since then. */
static uint32_t with_events(const struct histogram_reading *reading, uint64_t from_epoch, uint32_t groups)
{
	uint32_t found = 0;

	for (uint32_t metric = 0; metric < METRICS; metric++)
		for (uint32_t i = 0; i < TALLY_EPOCHS; i++)
			if (reading->tallies[metric][i].epoch >= from_epoch &&
			    reading->tallies[metric][i].events)
				found |= 1U << latency_metric_group(metric);
	return found & groups;
}

static long refuse_records(void *user, const char *records, size_t bytes)
{
	(void)user;
	(void)records;
	(void)bytes;
	return -EBADMSG;
}

/* Has the programs count the exchanges of connections that are idle. */
static int end_requests(const struct kernel_objects *kernel)
{
	_cleanup_close_ int fd = kernel_objects_open_iterator(kernel, PIN_REQUESTS);

	return fd < 0 ? fd : iterator_stream_read(fd, refuse_records, NULL);
}

/* Tallies come first: an event that is counted between the two readings is none that was lost. */
int histograms_read(struct histogram_reading *reading, const struct kernel_objects *kernel,
		    uint64_t from_epoch, uint32_t groups)
{
	_cleanup_free_ struct histogram_set *sets = malloc(SETS_AT_ONCE * sizeof(*sets));
	int result = sets ? 0 : -ENOMEM;

	if (!result && groups >> LATENCY_REQUEST & 1)
		result = end_requests(kernel);
	if (!result)
		result = read_tallies(reading, kernel->map_fds[PIN_HISTOGRAM_TALLIES]);
	if (!result)
		groups = with_events(reading, from_epoch, groups);
	for (uint32_t i = 0; i < LATENCY_GROUPS && !result; i++)
		if (groups >> i & 1)
			result = read_group(reading, kernel->map_fds[PIN_HISTOGRAMS], i, from_epoch, sets);
	return result;
}

void histograms_free(struct histogram_reading *reading)
{
	free(reading->counts);
	*reading = (struct histogram_reading){ 0 };
}
