/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * export_lanes.h owns the samples of a capture by thread and time, for formats with a time axis. A lane is a thread,
 * whatever names it had.
 */
#ifndef BOURDON_REPORT_EXPORT_EXPORT_LANES_H
#define BOURDON_REPORT_EXPORT_EXPORT_LANES_H

#include "report/model/profile.h"

/* A sample on CPU, or an interval off CPU. */
struct lane_event {
	int64_t begin_ms, end_ms; /* from the trigger; of a sample: equal */
	uint32_t sample;
	uint32_t count; /* more than 1: so many, whose time within their second is not known */
	int32_t cpu;    /* negative: not known */
	int64_t ns; /* off CPU: its part of the row's weight; the row's last event has what is beyond their lengths */
};

struct lane {
	uint32_t process;
	uint32_t name; /* text: the first one of its names */
	uint32_t role; /* text */
	int64_t tid;
	bool is_main;          /* the first thread of its process */
	uint32_t first, count; /* of the events, by their begin */
};

struct lanes {
	struct lane *lanes; /* those of one process follow each other, its first thread before the others */
	struct lane_event *events;
	uint32_t *of_thread; /* the lane of each thread of the profile */
	uint32_t count, events_count;
};

/*
 * Samples whose time is not known stand at even distances in their second, some of them at the same moment; such intervals
 * last as long as all of their row do on average. Returns 0;
 * -ENOMEM; or -E2BIG for more samples than a capture has.
 */
int lanes_make(const struct profile *profile, struct lanes *ret_lanes);

void lanes_free(struct lanes *lanes);

/* The begin of the second in which the samples of a row lie, in ms from the trigger; of a damaged row the largest that fits. */
int64_t lanes_second_ms(const struct profile_sample *sample);

#endif
