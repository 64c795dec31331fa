/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/latency.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/shared_text.h"
#include "common/kernel/cgroup_parts.h"
#include "common/protocol/latency_metrics.h"

#include <limits.h>
#include <string.h>

/* The kernel uses a slot again after HISTOGRAM_EPOCHS_KEPT: what has ended is read before. */
#define EPOCHS_AT_ONCE (HISTOGRAM_EPOCHS_KEPT - 1)
#define NO_SPAN LATENCY_SPANS

static uint64_t epoch_of(uint64_t ns)
{
	return ns / HISTOGRAM_EPOCH_NS;
}

/* The first epoch whose middle is not before `ns`. */
static uint64_t first_epoch(uint64_t ns)
{
	return epoch_of(ns + HISTOGRAM_EPOCH_NS / 2 - 1);
}

/* Of the capture, whole or in part. */
static uint64_t first_during(const struct latency *latency)
{
	return latency->begun_ns ? epoch_of(latency->begun_ns) : first_epoch(latency->from_ns);
}

static uint32_t span_of(const struct latency *latency, uint64_t epoch, bool is_last)
{
	if (is_last || epoch >= first_during(latency))
		return LATENCY_DURING;
	return epoch >= first_epoch(latency->before_ns) ? LATENCY_BEFORE : NO_SPAN;
}

/* Stores false where there is no room; the value is lost then. 0 or -ENOMEM. */
static int add_value(struct latency *latency, const struct histogram_key *key, uint32_t span, uint64_t count,
		     uint64_t sum, bool *ret_added)
{
	struct latency_value wanted = { .key = *key, .span = span };
	uint32_t found = hash_index_find_key(&latency->values_index, HASH_KEYS_BEFORE(latency->values, count),
					     &wanted);

	*ret_added = found != HASH_INDEX_NONE || latency->values_count < LATENCY_VALUES_MAX;
	if (!*ret_added)
		return 0;
	if (hash_index_intern(&latency->values_index, HASH_KEYS_BEFORE(latency->values, count),
			      latency->values, latency->values_count, latency->values_room, &wanted,
			      &found) < 0)
		return -ENOMEM;
	latency->values[found].count += count;
	latency->values[found].sum += sum;
	return 0;
}

/* What was counted, and is in no value: the tally has been read before the table, so there may be more in that. */
static void add_events(struct latency *latency, const struct histogram_reading *reading, uint64_t until_epoch,
		       bool ends, const uint64_t found[METRICS][TALLY_EPOCHS])
{
	for (uint32_t metric = 0; metric < METRICS; metric++)
		for (uint32_t i = 0; i < TALLY_EPOCHS; i++) {
			const struct histogram_events *tally = &reading->tallies[metric][i];
			uint32_t span =
				span_of(latency, tally->epoch, ends && tally->epoch + 1 == until_epoch);
			struct latency_events *sum;
			uint64_t there = found[metric][i];

			if (tally->epoch < latency->next_epoch || tally->epoch >= until_epoch ||
			    span == NO_SPAN || !(latency->groups >> latency_metric_group(metric) & 1))
				continue;
			sum = &latency->events[span][metric];
			sum->events += tally->events > there ? tally->events : there;
			sum->lost += tally->events > there ? tally->events - there : 0;
			sum->unpaired += tally->unpaired;
			sum->absurd += tally->absurd;
		}
}

int latency_take(struct latency *latency, const struct histogram_reading *reading, uint64_t until_epoch,
		 bool ends)
{
	uint64_t found[METRICS][TALLY_EPOCHS] = { 0 };

	for (uint32_t i = 0; i < reading->count; i++) {
		const struct histogram_count *count = &reading->counts[i];
		uint32_t span = span_of(latency, count->epoch, ends && count->epoch + 1 == until_epoch);
		bool added;

		if (count->epoch < latency->next_epoch || count->epoch >= until_epoch || span == NO_SPAN)
			continue;
		if (add_value(latency, &count->key, span, count->count, count->sum, &added))
			return -ENOMEM;
		if (added)
			found[count->key.metric][count->epoch % TALLY_EPOCHS] += count->count;
	}
	add_events(latency, reading, until_epoch, ends, found);
	if (until_epoch > latency->next_epoch)
		latency->next_epoch = until_epoch;
	return 0;
}

/* Moves it from the capture to before: the capture has less than nothing then, which the next reading of the epoch makes up for. */
static void move_events(struct latency *latency, const struct histogram_events *tally, uint32_t metric,
			uint64_t found)
{
	struct latency_events *before = &latency->events[LATENCY_BEFORE][metric],
			      *during = &latency->events[LATENCY_DURING][metric];
	const struct latency_events so_far = { tally->events > found ? tally->events : found,
					       tally->events > found ? tally->events - found : 0,
					       tally->unpaired, tally->absurd };

	before->events += so_far.events;
	before->lost += so_far.lost;
	before->unpaired += so_far.unpaired;
	before->absurd += so_far.absurd;
	during->events -= so_far.events;
	during->lost -= so_far.lost;
	during->unpaired -= so_far.unpaired;
	during->absurd -= so_far.absurd;
}

int latency_take_first(struct latency *latency, const struct histogram_reading *reading)
{
	uint64_t epoch = epoch_of(latency->begun_ns), found[METRICS] = { 0 };

	for (uint32_t i = 0; i < reading->count; i++) {
		const struct histogram_count *count = &reading->counts[i];
		bool added = count->epoch == epoch;

		if (added &&
		    add_value(latency, &count->key, LATENCY_BEFORE, count->count, count->sum, &added))
			return -ENOMEM;
		if (added &&
		    add_value(latency, &count->key, LATENCY_DURING, -count->count, -count->sum, &added))
			return -ENOMEM;
		if (added)
			found[count->key.metric] += count->count;
	}
	for (uint32_t metric = 0; metric < METRICS; metric++) {
		const struct histogram_events *tally = &reading->tallies[metric][epoch % TALLY_EPOCHS];

		if (tally->epoch == epoch && latency->groups >> latency_metric_group(metric) & 1)
			move_events(latency, tally, metric, found[metric]);
	}
	return 0;
}

static int read_until(struct latency *latency, const struct kernel_objects *kernel, uint64_t until_epoch,
		      bool ends)
{
	struct histogram_reading reading = { 0 };
	int result = histograms_read(&reading, kernel, latency->next_epoch, latency->groups);

	if (!result)
		result = latency_take(latency, &reading, until_epoch, ends);
	histograms_free(&reading);
	return result;
}

static void note_groups(struct latency *latency, const struct histograms_on *on)
{
	latency->groups = on->groups;
	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		latency->since_ns[i] = on->since_ns[i];
}

int latency_begin(struct latency *latency, const struct kernel_objects *kernel,
		  const struct histograms_on *on, uint64_t from_ns, uint64_t end_ns, uint64_t now_ns)
{
	struct histogram_reading reading = { 0 };
	int result;

	note_groups(latency, on);
	latency->from_ns = from_ns;
	latency->until_ns = end_ns;
	latency->before_ns = clock_before(from_ns, end_ns > from_ns ? end_ns - from_ns : 0);
	latency->next_epoch = first_epoch(latency->before_ns);
	if (epoch_of(from_ns) == epoch_of(now_ns)) {
		latency->begun_ns = now_ns;
		/* a span before that is shorter than half an epoch may have its first one only after this one */
		if (latency->next_epoch > epoch_of(now_ns))
			latency->next_epoch = epoch_of(now_ns);
	}
	if (!latency->groups || (epoch_of(now_ns) <= latency->next_epoch && !latency->begun_ns))
		return 0;
	result = histograms_read(&reading, kernel, latency->next_epoch, latency->groups);
	if (!result)
		result = latency_take(latency, &reading, epoch_of(now_ns), false);
	if (!result && latency->begun_ns)
		result = latency_take_first(latency, &reading);
	histograms_free(&reading);
	return result;
}

int latency_follow(struct latency *latency, const struct kernel_objects *kernel, uint64_t now_ns)
{
	uint64_t epoch = epoch_of(now_ns);

	if (!latency->groups || epoch < latency->next_epoch + EPOCHS_AT_ONCE)
		return 0;
	return read_until(latency, kernel, epoch, false);
}

/* ---- names ---- */

static const struct latency_owner *find_owner(const struct latency *latency, uint64_t cgroup_id)
{
	for (uint32_t i = 0; i < latency->owners_count; i++)
		if (latency->owners[i].cgroup_id == cgroup_id)
			return &latency->owners[i];
	return NULL;
}

const char *latency_owner_name(const struct latency *latency, uint64_t cgroup_id)
{
	const struct latency_owner *owner = find_owner(latency, cgroup_id);

	return owner ? owner->name : NULL;
}

static int add_owner(struct latency *latency, uint64_t cgroup_id, const char *cgroup)
{
	struct latency_owner owner = { .cgroup_id = cgroup_id };
	char unit[NAME_MAX + 1];

	if (array_make_room(latency->owners, latency->owners_count, latency->owners_room, 1U))
		return -ENOMEM;
	if (cgroup)
		owner.name = shared_text_new(cgroup_unit(cgroup, unit) ? unit : cgroup);
	latency->owners[latency->owners_count++] = owner;
	return 0;
}

/* No value is added any more. */
static int add_owners(struct latency *latency, const char *(*path)(void *user, uint64_t cgroup_id),
		      void *user)
{
	int result = 0;

	for (uint32_t i = 0; i < latency->values_count && !result; i++)
		if (latency->values[i].key.owner && !find_owner(latency, latency->values[i].key.owner))
			result = add_owner(latency, latency->values[i].key.owner,
					   path(user, latency->values[i].key.owner));
	hash_index_free(&latency->values_index);
	array_fit(latency->values, latency->values_count, latency->values_room);
	return result;
}

static const struct latency_caller *find_caller(const struct latency *latency, uint64_t frame)
{
	for (uint32_t i = 0; i < latency->callers_count; i++)
		if (latency->callers[i].frame == frame)
			return &latency->callers[i];
	return NULL;
}

const char *latency_caller_name(const struct latency *latency, uint64_t frame)
{
	const struct latency_caller *caller = find_caller(latency, frame);

	return caller ? caller->function : NULL;
}

int latency_name_callers(struct latency *latency,
			 bool (*function)(void *user, int32_t frame, char into[LATENCY_FUNCTION_BYTES]),
			 void *user)
{
	for (uint32_t i = 0; i < latency->values_count; i++) {
		const struct histogram_key *key = &latency->values[i].key;
		struct latency_caller caller = { .frame = key->object };
		char name[LATENCY_FUNCTION_BYTES];

		if (key->metric != METRIC_LOCK || key->detail == LOCK_FUTEX || !key->object ||
		    find_caller(latency, key->object))
			continue;
		if (array_make_room(latency->callers, latency->callers_count, latency->callers_room, 1U))
			return -ENOMEM;
		if (function(user, (int32_t)key->object, name))
			caller.function = strdup(name);
		latency->callers[latency->callers_count++] = caller;
	}
	return 0;
}

int latency_end(struct latency *latency, const struct kernel_objects *kernel, uint64_t now_ns,
		const char *(*path)(void *user, uint64_t cgroup_id), void *user)
{
	int result = latency->groups ? read_until(latency, kernel, epoch_of(now_ns) + 1, true) : 0;

	latency->until_ns = now_ns;
	return result ? result : add_owners(latency, path, user);
}

int latency_read_ended(struct latency *latency, const struct kernel_objects *kernel,
		       const struct histograms_on *on, uint64_t from_epoch, uint64_t until_epoch,
		       const char *(*path)(void *user, uint64_t cgroup_id), void *user)
{
	int result;

	note_groups(latency, on);
	latency->before_ns = (from_epoch - 1) * HISTOGRAM_EPOCH_NS;
	latency->from_ns = from_epoch * HISTOGRAM_EPOCH_NS;
	latency->until_ns = until_epoch * HISTOGRAM_EPOCH_NS;
	latency->next_epoch = from_epoch - 1;
	result = read_until(latency, kernel, until_epoch, false);
	return result ? result : add_owners(latency, path, user);
}

void latency_measured(const struct latency *latency, uint32_t group, uint32_t span, uint64_t *ret_from_ns,
		      uint64_t *ret_to_ns)
{
	uint64_t before = first_epoch(latency->before_ns) * HISTOGRAM_EPOCH_NS;
	uint64_t during = latency->begun_ns ? latency->begun_ns : first_during(latency) * HISTOGRAM_EPOCH_NS;
	uint64_t last = epoch_of(latency->until_ns) * HISTOGRAM_EPOCH_NS;
	uint64_t from_ns, to_ns;

	if (during > last && !latency->begun_ns)
		during = last;
	from_ns = span == LATENCY_DURING ? during : before;
	to_ns = span == LATENCY_DURING ? latency->until_ns : during;
	if (from_ns < latency->since_ns[group])
		from_ns = latency->since_ns[group];
	*ret_from_ns = from_ns < to_ns ? from_ns : to_ns;
	*ret_to_ns = to_ns;
}

void latency_free(struct latency *latency)
{
	for (uint32_t i = 0; i < latency->owners_count; i++)
		shared_text_free(latency->owners[i].name);
	for (uint32_t i = 0; i < latency->callers_count; i++)
		free(latency->callers[i].function);
	free(latency->owners);
	free(latency->callers);
	free(latency->values);
	hash_index_free(&latency->values_index);
	*latency = (struct latency){ 0 };
}
