/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_samples.h adds samples to a capture: from the rings, from what was read of them before, and intervals off CPU that have not
 * ended. On the draining thread.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_SAMPLES_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_SAMPLES_H

#include "consumer/capture/capture.h"

/* Adds a sample that was read from the off-CPU ring of the CPU before, if it belongs to the capture. */
void capture_add_kept(struct capture *capture, const struct sample *sample, uint32_t cpu,
		      capture_describe describe, void *user);

/* Adds the new samples of the rings that belong to the capture. */
void capture_drain(struct capture *capture, capture_describe describe, void *user);

/* Adds the part of an interval off CPU that has not ended (offcpu_open) and that lies within the capture. */
void capture_add_open(struct capture *capture, const struct sample *sample, uint64_t now_ns,
		      capture_describe describe, void *user);

#endif
