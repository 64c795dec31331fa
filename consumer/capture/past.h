/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * past.h owns the intervals off CPU of the last seconds, while captures are under way and for a history's length after them.
 * During a capture the rings hold half a second of intervals: a capture that begins then has its history from here.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_PAST_H
#define BOURDON_CONSUMER_CAPTURE_PAST_H

#include "consumer/capture/capture.h"

#include <stddef.h>

struct past {
	struct ring_reader *readers; /* of the off-CPU rings; NULL: nothing is kept */
	uint32_t cpus;
	uint64_t from_ns; /* every interval of the rings that ended since then is kept */
	/* of each interval its length, its CPU, and the part of its slot that is used; the second half is for reading `bytes` */
	unsigned char *open;
	uint32_t open_bytes;
	uint64_t open_newest_ns; /* when the last interval in `open` ended */
	unsigned char *bytes;    /* older ones, compressed in blocks (LZ4) */
	size_t begin, end, room; /* of `bytes`: where the oldest block begins, and the newest ends */
};

/* Keeps what the rings hold, and from then on what past_read() finds in them. 0 or -ENOMEM; then nothing is kept. */
int past_begin(struct past *past, const struct rings *rings);
void past_free(struct past *past);
static inline bool past_is_kept(const struct past *past)
{
	return past->readers != NULL;
}

/* Keeps the rings' new intervals, and forgets those that ended before `since_ns`, or for which there is no memory. */
void past_read(struct past *past, uint64_t since_ns);

/* Right after past_read() and capture_begin(): the capture reads the rings from where `past` has read them. */
void past_join(const struct past *past, struct capture *capture);

/* Adds to a capture that has joined what is kept. Once, and before its first capture_drain(). */
void past_add(const struct past *past, struct capture *capture, capture_describe describe, void *user);

#endif
