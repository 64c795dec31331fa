/* SPDX-License-Identifier: GPL-2.0-only */
/* disk.h owns what a capture knows of its busiest disk, and whether that disk, and nobody's requests, makes threads wait. */
#ifndef BOURDON_VERDICT_DISK_H
#define BOURDON_VERDICT_DISK_H

#include <stdbool.h>
#include <stdint.h>

struct verdict_disk {
	const char *name; /* NULL: no disk is known */
	uint64_t span_ns;
	uint64_t requests, bytes;
	uint64_t busy_ns; /* with at least one request in flight */
	uint64_t wait_ns; /* the sum of all requests' times */
};

/* With requests in flight for half of the time. */
bool verdict_disk_is_busy(const struct verdict_disk *disk);

/* That it takes longer for a request than a rotating disk needs to seek. */
bool verdict_disk_is_late(const struct verdict_disk *disk);

/*
 * Whether it is slow by itself. It is late although it moves little, and most of its requests' time is what the victim waited of
 * its span, so that no queue of others is before the victim's; or it is busy, and ends no request. bourdond charges waits by it, and
 * the judge judges by it.
 */
bool verdict_disk_is_slow(const struct verdict_disk *disk, uint64_t waited_ns, uint64_t span_ns);

#endif
