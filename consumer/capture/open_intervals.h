/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * open_intervals.h owns reading the intervals off CPU that have not ended when a capture does (the map
 * offcpu_open): of threads that wait, perhaps for what the capture is about.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_OPEN_INTERVALS_H
#define BOURDON_CONSUMER_CAPTURE_OPEN_INTERVALS_H

#include "consumer/capture/capture_scope.h"
#include "consumer/process/kernel_objects.h"

/* Adds those that belong to the capture, as if they ended at `now_ns`. */
void open_intervals_add(const struct kernel_objects *kernel, struct capture *capture,
			struct capture_scope *scope, uint64_t now_ns);

#endif
