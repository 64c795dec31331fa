/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/wakers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stores the position of the waker's process, which need not have samples, and the waker's role. */
static int find_waker(const struct capture_adding *adding, struct wake *wake)
{
	static const uint8_t roles[] = { [USAGE_TARGET] = WAKE_BY_TARGET,
					 [USAGE_OTHER] = WAKE_BY_OTHER,
					 [USAGE_KERNEL] = WAKE_BY_KERNEL };
	const struct waker *waker = &adding->sample->waker;
	struct sample sample = { .header = adding->sample->header,
				 .seq = adding->sample->seq,
				 .kind = SAMPLE_ON_CPU,
				 .started_ns = waker->started_ns,
				 .cgroup_id = waker->cgroup_id,
				 .tgid = waker->tgid,
				 .tid = waker->tid,
				 .program = waker->program,
				 .of = waker->of };
	struct capture_adding of_waker = *adding;
	int result;

	memcpy(sample.comm, waker->comm, sizeof(sample.comm));
	of_waker.sample = &sample;
	result = capture_find_process(&of_waker, &wake->waker_process);
	if (result < 0) {
		wake->waker_process = WAKE_UNKNOWN;
		wake->role = waker->of == SAMPLE_OF_TARGET   ? WAKE_BY_TARGET
			     : waker->of == SAMPLE_OF_KERNEL ? WAKE_BY_KERNEL
							     : WAKE_BY_OTHER;
		return result;
	}
	wake->role = roles[adding->capture->processes[wake->waker_process].role];
	wake->waker_tid = waker->tid;
	wake->releases = waker->releases;
	/* a part of the key: without what is behind the NUL */
	snprintf(wake->waker, sizeof(wake->waker), "%s", waker->comm);
	return 0;
}

void wakers_keep_pending(struct capture *capture, uint32_t ring)
{
	capture->losses[LOSS_WAKERS] +=
		wakes_add_pending(&capture->wakes, ring, capture_is_full(capture, false)) < 0;
}

/* Returns false if the stack of the waker cannot be waited for. */
static bool await_waker_stack(const struct capture_adding *adding, const struct wake *wake)
{
	struct capture *capture = adding->capture;
	const struct sample *sample = adding->sample;

	if (!sample->has_waker_stack || adding->cpu == CAPTURE_NO_CPU || wake->role != WAKE_BY_TARGET ||
	    wake->waker_process == WAKE_UNKNOWN)
		return false;
	if (!capture->wakes.pending)
		capture->wakes.pending = calloc(capture->cpus, sizeof(*capture->wakes.pending));
	if (!capture->wakes.pending)
		return false;
	capture->wakes.pending[adding->cpu] =
		(struct wake_pending){ *wake, sample->left_ns, sample->woken_ns, true };
	return true;
}

void wakers_add(const struct capture_adding *adding, const struct capture_row *row)
{
	struct capture *capture = adding->capture;
	const struct sample *sample = adding->sample;
	uint64_t end_ns = capture->planned_end_ns, from_ns = sample->left_ns, to_ns = sample->woken_ns;
	struct wake wake = { .process = row->process,
			     .stack = row->stack,
			     .tid = row->tid,
			     .lock = sample->lock,
			     .stall = sample->stall & (STALL_MEMORY | STALL_IO),
			     .role = WAKE_BY_NONE,
			     .waker_process = WAKE_UNKNOWN,
			     .waker_stack = WAKE_UNKNOWN,
			     .intervals = 1 };

	if (to_ns < from_ns || to_ns - from_ns < WAKER_MIN_NS)
		return;
	if (from_ns < capture->offcpu_from_ns)
		from_ns = capture->offcpu_from_ns;
	if (to_ns > end_ns)
		to_ns = end_ns;
	if (to_ns <= from_ns)
		return;
	wake.waited_ns = to_ns - from_ns;
	snprintf(wake.thread, sizeof(wake.thread), "%s", row->thread);
	if (sample->waker.kind == WAKER_INTERRUPT)
		wake.role = WAKE_BY_INTERRUPT;
	else if (sample->waker.kind == WAKER_DENIED)
		wake.role = WAKE_BY_DENIED;
	else if (sample->waker.kind == WAKER_THREAD && find_waker(adding, &wake) < 0)
		capture->losses[LOSS_WAKERS]++;
	if (!await_waker_stack(adding, &wake))
		capture->losses[LOSS_WAKERS] +=
			wakes_add(&capture->wakes, &wake, capture_is_full(capture, false)) < 0;
}

void wakers_add_stack(const struct capture_adding *adding)
{
	struct capture *capture = adding->capture;
	const struct sample *sample = adding->sample;
	struct wake_pending *pending = capture->wakes.pending ? &capture->wakes.pending[adding->cpu] : NULL;
	struct wake *wake = pending ? &pending->wake : NULL;

	if (!pending || !pending->is_pending || pending->left_ns != sample->left_ns ||
	    pending->woken_ns != sample->woken_ns || wake->waker_tid != sample->tid ||
	    capture->processes[wake->waker_process].tgid != sample->tgid)
		return;
	if (stacks_intern(&capture->stacks, wake->waker_process, sample, &wake->waker_stack) < 0) {
		wake->waker_stack = WAKE_UNKNOWN;
		capture->losses[LOSS_WAKERS]++;
	}
	wakers_keep_pending(capture, adding->cpu);
}
