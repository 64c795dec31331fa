/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/ended.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/* 0.8 MiB. A user who attacks makes names without end: beyond, half of the rows go, those with the least CPU time. */
#define PROGRAMS_MAX 8192U

#define READ_AT_ONCE 256U
#define READS_MAX (4 * ENDED_MAX / READ_AT_ONCE)

void ended_free(struct ended *ended)
{
	free(ended->programs);
	*ended = (struct ended){ 0 };
}

void ended_sums_add(struct ended_sums *to, const struct ended_sums *more)
{
	to->processes += more->processes;
	to->cpu_ns += more->cpu_ns;
	to->run_delay_ns += more->run_delay_ns;
	to->major_faults += more->major_faults;
	to->read_bytes += more->read_bytes;
	to->write_bytes += more->write_bytes;
	to->reclaim_ns += more->reclaim_ns;
	to->reclaims += more->reclaims;
}

/* The CPU time that a program needs to be among the first half; UINT64_MAX without memory: none is. */
static uint64_t least_that_stays(const struct ended *ended)
{
	_cleanup_free_ uint64_t *times = calloc(ended->count, sizeof(*times));

	if (!times)
		return UINT64_MAX;
	for (uint32_t i = 0; i < ended->count; i++)
		times[i] = ended->programs[i].sums.cpu_ns;
	qsort(times, ended->count, sizeof(*times), compare_falling);
	return times[ended->count / 2];
}

/* Half of the programs or more become one row of their walk each. */
static void sum_small_ones(struct ended *ended)
{
	uint64_t least_ns = least_that_stays(ended);
	uint32_t kept = 0, i = 0;

	while (i < ended->count) {
		struct ended_program rest = { .key.flags = ENDED_OVERFLOW, .walk = ended->programs[i].walk };

		for (; i < ended->count && ended->programs[i].walk == rest.walk; i++)
			if (ended->programs[i].sums.cpu_ns > least_ns &&
			    !(ended->programs[i].key.flags & ENDED_OVERFLOW))
				ended->programs[kept++] = ended->programs[i];
			else
				ended_sums_add(&rest.sums, &ended->programs[i].sums);
		if (rest.sums.processes) /* the place of one that did not stay */
			ended->programs[kept++] = rest;
	}
	ended->count = kept;
}

void ended_add(struct ended *ended, const struct ended_key *key, const struct ended_sums *sums, uint32_t walk)
{
	struct ended_program *program;

	if (ended->count >= PROGRAMS_MAX)
		sum_small_ones(ended);
	if (array_make_room(ended->programs, ended->count, ended->room, 1U))
		return;
	program = &ended->programs[ended->count++];
	*program = (struct ended_program){ *key, *sums, walk };
	program->key.comm[ABI_COMM_BYTES - 1] = '\0';
	program->key.parent[ABI_COMM_BYTES - 1] = '\0';
}

void ended_collect(struct ended *ended, int map_fd, uint32_t walk)
{
	struct ended_key keys[READ_AT_ONCE];
	struct ended_sums sums[READ_AT_ONCE];
	__u32 batch;
	void *from = NULL;

	for (unsigned int i = 0; i < READS_MAX; i++) {
		__u32 count = READ_AT_ONCE;
		int result = bpf_map_lookup_and_delete_batch(map_fd, from, &batch, keys, sums, &count, NULL);

		if (result < 0 && result != -ENOENT)
			return; /* -ENOSPC: a bucket has more than there is room for */
		for (__u32 j = 0; j < count; j++)
			ended_add(ended, &keys[j], &sums[j], walk);
		if (result == -ENOENT)
			return;
		from = &batch;
	}
}

void ended_forget(struct ended *ended, uint32_t since)
{
	uint32_t gone = 0;

	while (gone < ended->count && ended->programs[gone].walk <= since)
		gone++;
	if (!gone)
		return;
	ended->count -= gone;
	memmove(ended->programs, ended->programs + gone, ended->count * sizeof(*ended->programs));
	if (!ended->count)
		ended_free(ended);
}
