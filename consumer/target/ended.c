/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/ended.h"

#include "common/array.h"
#include "common/cleanup.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/* 1.6 MiB. A capture of a minute beside a storm of 270 different programs a second has them all. */
#define PROGRAMS_MAX 16384U

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
}

static struct ended_program *overflow_of(struct ended *ended, uint32_t walk)
{
	for (uint32_t i = ended->count; i-- > 0 && ended->programs[i].walk == walk;)
		if (ended->programs[i].key.flags & ENDED_OVERFLOW)
			return &ended->programs[i];
	return NULL;
}

void ended_add(struct ended *ended, const struct ended_key *key, const struct ended_sums *sums, uint32_t walk)
{
	struct ended_program program = { *key, *sums, walk }, *overflow;

	/* beyond, each walk has one more place, for all that find none */
	if (ended->count >= PROGRAMS_MAX || (key->flags & ENDED_OVERFLOW)) {
		overflow = overflow_of(ended, walk);
		if (overflow) {
			ended_sums_add(&overflow->sums, sums);
			return;
		}
		program.key = (struct ended_key){ .flags = ENDED_OVERFLOW };
	}
	if (array_make_room(ended->programs, ended->count, ended->room, 1U)) {
		ended->unread++;
		return;
	}
	ended->programs[ended->count] = program;
	ended->programs[ended->count].key.comm[ABI_COMM_BYTES - 1] = '\0';
	ended->programs[ended->count++].key.parent[ABI_COMM_BYTES - 1] = '\0';
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

		if (result < 0 && result != -ENOENT) {
			ended->unread++; /* -ENOSPC: a bucket has more than there is room for */
			return;
		}
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
