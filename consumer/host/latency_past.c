/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/latency_past.h"

#include "common/base/array.h"
#include "common/base/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void latency_past_free(struct latency_past *past)
{
	free(past->entries);
	*past = (struct latency_past){ 0 };
}

static int compare(uint64_t a, uint64_t b)
{
	return COMPARE(a, b);
}

static int compare_entries(const void *one, const void *other)
{
	const struct latency_entry *a = one, *b = other;
	int result = compare(a->epoch, b->epoch);

	if (!result)
		result = compare(a->metric, b->metric);
	if (!result)
		result = compare(a->owner, b->owner);
	return result ? result : compare(a->bucket, b->bucket);
}

static int compare_owners(const void *one, const void *other)
{
	const struct latency_entry *a = one, *b = other;
	int result = compare(a->owner, b->owner);

	return result ? result : compare(a->bucket, b->bucket);
}

int latency_past_add(struct latency_past *past, const struct latency_entry *entry)
{
	if (array_make_room(past->entries, past->count, past->room, 64U))
		return -ENOMEM;
	past->entries[past->count++] = *entry;
	past->fresh++;
	return 0;
}

static void forget_first(struct latency_past *past, uint32_t count)
{
	past->count -= count;
	memmove(past->entries, past->entries + count, past->count * sizeof(*past->entries));
}

/* Those of the fresh ones that differ in what a rule does not tell apart are one. */
static void merge_fresh(struct latency_past *past)
{
	struct latency_entry *fresh = past->entries + (past->count - past->fresh);
	uint32_t kept = 0;

	qsort(fresh, past->fresh, sizeof(*fresh), compare_entries);
	for (uint32_t i = 0; i < past->fresh; i++)
		if (kept && !compare_entries(&fresh[kept - 1], &fresh[i]))
			fresh[kept - 1].count += fresh[i].count;
		else
			fresh[kept++] = fresh[i];
	past->count -= past->fresh - kept;
	past->fresh = 0;
	/* of a group that nobody had asked for before, older epochs are read at once */
	if (fresh > past->entries && kept && fresh->epoch < fresh[-1].epoch)
		qsort(past->entries, past->count, sizeof(*past->entries), compare_entries);
}

void latency_past_settle(struct latency_past *past, uint64_t from_epoch)
{
	const struct latency_entry *entries = past->entries;
	uint32_t old;

	if (past->fresh)
		merge_fresh(past);
	old = array_partition_point(past->count, at, entries[at].epoch < from_epoch);
	if (past->count - old > LATENCY_PAST_MAX)
		old = past->count - LATENCY_PAST_MAX;
	if (old)
		forget_first(past, old);
}

void latency_runs_free(struct latency_runs *runs)
{
	free(runs->entries);
	free(runs->each);
	*runs = (struct latency_runs){ 0 };
}

static void add_to_run(struct latency_run *run, const struct latency_entry *entry, uint64_t limit_ns,
		       uint64_t last)
{
	run->entries_count++;
	run->count += entry->count;
	if (bucket_begins(entry->bucket) < limit_ns)
		return;
	run->above += entry->count;
	run->is_above_last |= entry->epoch == last;
}

int latency_past_runs(const struct latency_past *past, uint32_t metric, uint64_t limit_ns, uint64_t from,
		      uint64_t last, struct latency_runs *ret_runs)
{
	const struct latency_entry *entries = past->entries;
	uint32_t begin = array_partition_point(past->count, at, entries[at].epoch < from), count = 0;
	struct latency_runs runs = { .entries = calloc(past->count - begin + 1UL, sizeof(*runs.entries)),
				     .each = calloc(past->count - begin + 1UL, sizeof(*runs.each)) };

	if (!runs.entries || !runs.each) {
		latency_runs_free(&runs);
		return -ENOMEM;
	}
	for (uint32_t i = begin; i < past->count && entries[i].epoch <= last; i++)
		if (entries[i].metric == metric)
			runs.entries[count++] = entries[i];
	qsort(runs.entries, count, sizeof(*runs.entries), compare_owners);
	for (uint32_t i = 0; i < count; i++) {
		const struct latency_entry *entry = &runs.entries[i];

		if (!i || entry->owner != entry[-1].owner)
			runs.each[runs.count++] =
				(struct latency_run){ .owner = entry->owner, .entries = entry };
		add_to_run(&runs.each[runs.count - 1], entry, limit_ns, last);
	}
	*ret_runs = runs;
	return 0;
}
