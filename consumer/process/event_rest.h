/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_rest.h has a source of events rest that wakes the daemon too often: events that come one after the other are then consumed
 * together. On the draining thread.
 */
#ifndef BOURDON_CONSUMER_PROCESS_EVENT_REST_H
#define BOURDON_CONSUMER_PROCESS_EVENT_REST_H

#include "consumer/process/event_loop.h"

/* Starts as zeros. */
struct event_rest {
	uint64_t woken_ns; /* when the source woke the daemon, and how many times since then */
	uint32_t wake_ups;
	uint64_t due_ns; /* when it may do so again; 0: it may */
};

/* The source of `fd` has woken the daemon: takes it off the loop if it did so too often. */
void event_rest_note(struct event_rest *rest, const struct event_loop *loop, int fd, uint64_t now_ns);

/* Adds it to the loop again when due_ns has come. */
void event_rest_end(struct event_rest *rest, const struct event_loop *loop, int fd,
		    struct event_source *source, uint64_t now_ns);

#endif
