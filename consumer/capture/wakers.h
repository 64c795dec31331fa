/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wakers.h owns who ended an interval off CPU of a target: it finds the waker's process and stack, which wakes.h keeps. For
 * capture_samples.c, on the draining thread.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_WAKERS_H
#define BOURDON_CONSUMER_CAPTURE_WAKERS_H

#include "consumer/capture/capture_rows.h"

/* Adds the blocked part of the interval that lies within the capture to the row of its waker. `row` is the interval's. */
void wakers_add(const struct capture_adding *adding, const struct capture_row *row);

/* The slot behind an interval: the stack of its waker, if the capture took that interval. */
void wakers_add_stack(const struct capture_adding *adding);

/* What waits for a stack that has not come. */
void wakers_keep_pending(struct capture *capture, uint32_t ring);

#endif
