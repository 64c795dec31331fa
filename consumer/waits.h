/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.h owns what the targets of a watch waited, by the kernel programs' accounts (accounts.h): what strangers in the same cgroup
 * wait, which PSI has too, is no measure of a watch. Called on the draining thread when a watch fires and when its capture ends.
 */
#ifndef BOURDON_CONSUMER_WAITS_H
#define BOURDON_CONSUMER_WAITS_H

#include "consumer/recording.h"
#include "consumer/watch/watch.h"

/* What all targets waited within a window: read once for all watches with that window that fire at about the same time. */
struct waits_reading {
	struct accounts accounts;
	uint64_t window_ns, at_ns;
};
#define WAITS_READINGS 4U

/* Starts as zeros. */
struct waits {
	struct waits_reading readings[WAITS_READINGS];
};

void waits_free(struct waits *waits);

/*
 * What the watch's targets waited in its window that ends now, in us; WATCH_NOT_KNOWN also where WAITS_READINGS other watches fired
 * a moment ago.
 */
uint64_t waits_at_trigger(struct waits *waits, const struct recording_sources *sources,
			  const struct watch *watch, uint64_t now_ns);

/* Tells the watch what part its targets had in its capture, which ends now and has its accounts. */
void waits_tell(const struct recording *recording, struct watch *watch, uint64_t now_ns);

#endif
