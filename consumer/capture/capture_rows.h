/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_rows.h owns the processes, rows and times of a capture, within limits: those of others than targets are lower. For
 * capture_samples.c, wakers.c and capture_looks.c, on the draining thread.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_ROWS_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_ROWS_H

#include "consumer/capture/capture.h"

/* A sample, or what is like one, that is added to a capture. */
struct capture_adding {
	struct capture *capture;
	capture_describe describe;
	void *user;
	const struct sample *sample;
	uint16_t cpu; /* of the ring that is read, or CAPTURE_NO_CPU */
};

/*
 * Stores the position of the sample's process in the capture. Returns -ESRCH for an unknown process, and -ENOENT for an interval off
 * CPU of a process to which the rule does not apply. Such a process has limits of its own: a user who has many must not use up what a
 * capture of others may hold.
 */
int capture_find_process(struct capture_adding *adding, uint32_t *ret_process);

/* Adds to the row that is like this one, or a new one. Returns 0, -ENOSPC or -ENOMEM. */
int capture_add_row(struct capture *capture, const struct capture_row *row, uint32_t *ret_row);

/* Adds when the sample of the row was; `begin_ns` is that of an interval. Returns 0, also without room, or -ENOMEM. */
int capture_add_event(const struct capture_adding *adding, uint32_t row, uint64_t begin_ns, uint64_t at_ns);

/* The second of a time, relative to the trigger. */
int32_t capture_second(const struct capture *capture, uint64_t time_ns);

/* Whether others than targets have as many stacks as they may. */
bool capture_has_stacks_of_others(const struct capture *capture);

#endif
