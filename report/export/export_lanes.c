/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/export/export_lanes.h"

#include "report/export/export.h"
#include "report/model/rows.h"

#include <string.h>

#define EVENTS_MOST (1U << 22)
#define SAMPLES_MOST (1LL << 26)             /* that the events stand for: readers repeat each */
#define SPREAD_MOST 16                       /* moments of a second at which samples without a time stand */
#define SECONDS_MOST (EXPORT_MS_MOST / 1000) /* from the trigger; more is damaged */

/* ---- the lanes ---- */

struct ordered_thread {
	const struct profile *profile;
	uint32_t thread;
};

static bool is_main(const struct profile *profile, const struct profile_thread *thread)
{
	return thread->tid == profile->processes[thread->process].tgid;
}

static int compare_threads(const void *a, const void *b)
{
	const struct ordered_thread *one = a, *other = b;
	const struct profile *profile = one->profile;
	const struct profile_thread *left = &profile->threads[one->thread],
				    *right = &profile->threads[other->thread];
	return compare_numbers(left->process, right->process) ?:
	       is_main(profile, right) - is_main(profile, left) ?:
	       compare_numbers(left->tid, right->tid) ?:
	       compare_numbers(one->thread, other->thread);
}

static int find_lanes(const struct profile *profile, struct lanes *lanes)
{
	_cleanup_free_ struct ordered_thread *ordered =
		calloc(profile->threads_count + 1UL, sizeof(*ordered));

	lanes->lanes = calloc(profile->threads_count + 1UL, sizeof(*lanes->lanes));
	lanes->of_thread = calloc(profile->threads_count + 1UL, sizeof(*lanes->of_thread));
	if (!ordered || !lanes->lanes || !lanes->of_thread)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->threads_count; i++)
		ordered[i] = (struct ordered_thread){ profile, i };
	if (profile->threads_count)
		qsort(ordered, profile->threads_count, sizeof(*ordered), compare_threads);
	for (uint32_t i = 0; i < profile->threads_count; i++) {
		const struct profile_thread *thread = &profile->threads[ordered[i].thread];
		const struct lane *before = lanes->count ? &lanes->lanes[lanes->count - 1] : NULL;

		if (!before || before->process != thread->process || before->tid != thread->tid)
			lanes->lanes[lanes->count++] = (struct lane){ .process = thread->process,
								      .name = thread->name,
								      .tid = thread->tid,
								      .role = profile->target,
								      .is_main = is_main(profile, thread) };
		lanes->of_thread[ordered[i].thread] = lanes->count - 1;
	}
	return 0;
}

/* ---- the events ---- */

/* The samples of a row whose times are not known. */
static int64_t untimed(const struct profile_sample *sample)
{
	return sample->samples > sample->times_count ? sample->samples - sample->times_count : 0;
}

static uint32_t events_of(const struct profile_sample *sample)
{
	int64_t more = untimed(sample);

	return sample->times_count + (more < SPREAD_MOST ? (uint32_t)more : SPREAD_MOST);
}

static int count_events(const struct profile *profile, struct lanes *lanes)
{
	int64_t samples = 0;
	uint32_t events = 0;

	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		struct lane *lane = &lanes->lanes[lanes->of_thread[sample->thread]];
		uint32_t more = events_of(sample);

		lane->count += more;
		lane->role = sample->role;
		events += more;
		samples = add_saturated(samples, sample->samples < 0 ? 0 : sample->samples);
		if (events > EVENTS_MOST || samples > SAMPLES_MOST)
			return -E2BIG;
	}
	for (uint32_t i = 0, first = 0; i < lanes->count; i++) {
		lanes->lanes[i].first = first;
		first += lanes->lanes[i].count;
		lanes->lanes[i].count = 0; /* add_events() counts them again */
	}
	lanes->events_count = events;
	return 0;
}

int64_t lanes_second_ms(const struct profile_sample *sample)
{
	int64_t second = sample->second;

	return 1000 * (second < -SECONDS_MOST  ? -SECONDS_MOST
		       : second > SECONDS_MOST ? SECONDS_MOST
					       : second);
}

/* Limits ms that a damaged row may have. */
static int64_t bounded(int64_t ms)
{
	return ms < -EXPORT_MS_MOST ? -EXPORT_MS_MOST : ms > EXPORT_MS_MOST ? EXPORT_MS_MOST : ms;
}

/* How long each interval of the row lasts on average; 0 on CPU. */
static int64_t average_ms(const struct profile *profile, const struct profile_sample *sample)
{
	int64_t ms = sample->kind == profile->off_cpu && sample->samples > 0
			     ? sample->weight_ns / sample->samples / 1000000
			     : 0;

	return ms < 0 ? 0 : ms > 1000 ? 1000 : ms;
}

/* Gives each event its part of the row's weight. */
static void share_weight(const struct profile_sample *sample, struct lane_event *events, uint32_t count)
{
	int64_t left = sample->weight_ns > 0 ? sample->weight_ns : 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t ns = 1000000 * (events[i].end_ms - events[i].begin_ms) * events[i].count;

		events[i].ns = i + 1 == count || ns > left ? left : ns;
		left -= events[i].ns;
	}
}

static void add_events(const struct profile *profile, struct lanes *lanes, uint32_t position)
{
	const struct profile_sample *sample = &profile->samples[position];
	struct lane *lane = &lanes->lanes[lanes->of_thread[sample->thread]];
	struct lane_event *event = &lanes->events[lane->first + lane->count];
	int64_t from_ms = lanes_second_ms(sample), more = untimed(sample),
		lasts_ms = average_ms(profile, sample);
	uint32_t spread = events_of(sample) - sample->times_count;

	lane->count += sample->times_count + spread;
	for (uint32_t i = 0; i < sample->times_count; i++) {
		const struct stored_time *time = &profile->times.times[sample->first_time + i];
		int64_t begin_ms = from_ms + bounded(time->begin_ms),
			end_ms = from_ms + bounded(time->end_ms);

		*event++ =
			(struct lane_event){ begin_ms,
					     end_ms < begin_ms ? begin_ms : end_ms,
					     position,
					     1,
					     time->cpu < 0 || time->cpu > INT32_MAX ? -1 : (int32_t)time->cpu,
					     0 };
	}
	for (uint32_t i = 0; i < spread; i++) {
		int64_t at_ms = from_ms + 1000 * (int64_t)i / spread;
		/* each has its share, and the first ones what is left */
		int64_t count = more / spread + (i < more % spread);

		*event++ = (struct lane_event){ at_ms, at_ms + lasts_ms, position, (uint32_t)count, -1, 0 };
	}
	share_weight(sample, event - sample->times_count - spread, sample->times_count + spread);
}

static int compare_events(const void *a, const void *b)
{
	const struct lane_event *left = a, *right = b;
	return compare_numbers(left->begin_ms, right->begin_ms) ?:
	       compare_numbers(left->end_ms, right->end_ms) ?:
	       compare_numbers(left->sample, right->sample);
}

int lanes_make(const struct profile *profile, struct lanes *ret_lanes)
{
	struct lanes lanes = { 0 };
	int result = find_lanes(profile, &lanes);

	if (!result)
		result = count_events(profile, &lanes);
	if (!result) {
		lanes.events = calloc(lanes.events_count + 1UL, sizeof(*lanes.events));
		result = lanes.events ? 0 : -ENOMEM;
	}
	if (result < 0) {
		lanes_free(&lanes);
		return result;
	}
	for (uint32_t i = 0; i < profile->samples_count; i++)
		add_events(profile, &lanes, i);
	for (uint32_t i = 0; i < lanes.count; i++)
		if (lanes.lanes[i].count)
			qsort(lanes.events + lanes.lanes[i].first, lanes.lanes[i].count,
			      sizeof(*lanes.events), compare_events);
	*ret_lanes = lanes;
	return 0;
}

void lanes_free(struct lanes *lanes)
{
	free(lanes->lanes);
	free(lanes->events);
	free(lanes->of_thread);
	*lanes = (struct lanes){ 0 };
}
