/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch_events.h owns when a watch fires: at an event of its kernel trigger, or at a read that finds too much stall. It runs on the
 * draining thread.
 */
#ifndef BOURDON_CONSUMER_WATCH_WATCH_EVENTS_H
#define BOURDON_CONSUMER_WATCH_WATCH_EVENTS_H

#include "consumer/watch/watches.h"

/* Called for each watch that fired; `observed_us` is the stall in the window that ends now. */
typedef void (*watch_fired)(void *user, struct watch *watch, uint64_t observed_us);

/*
 * Call it once a second, after watches_tick(): reads totals, and calls back for each sampled watch above its threshold, and for those whose kernel
 * trigger should have fired and did not.
 */
void watch_events_tick(struct watches *watches, uint64_t now_ns, watch_fired fired, void *user);

/* Call it when epoll reports an event of this watch's kernel trigger. */
void watch_events_handle(struct watches *watches, struct watch *watch, uint32_t events, uint64_t now_ns,
			 watch_fired fired, void *user);

#endif
