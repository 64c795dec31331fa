/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_loop.h owns the epoll set of the draining thread, its sleep, and the events that come from outside: signals, and the end
 * of the pins that the daemon was started with.
 *
 * Room: the daemon's own process: event loop, open pins, counters, shares. Called by the draining thread,
 * counters also by the worker; nothing here blocks.
 */
#ifndef BOURDON_CONSUMER_PROCESS_EVENT_LOOP_H
#define BOURDON_CONSUMER_PROCESS_EVENT_LOOP_H

#include "consumer/process/event_source.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct event_loop {
	int epoll, signals, inotify;
	struct event_source signals_source, pins_source;
};

/*
 * Blocks SIGTERM, SIGINT and SIGHUP for this thread and all that it starts, and adds
 * SOURCE_SIGNALS and SOURCE_PINS. Logs what failed; 0 or -errno, and event_loop_close() in
 * either case.
 */
int event_loop_open(struct event_loop *loop, const char *pin_directory);
void event_loop_close(struct event_loop *loop);

/* `source` comes with the events of this descriptor. Logs what failed; 0 or -errno. */
int event_loop_add(const struct event_loop *loop, int fd, uint32_t events, struct event_source *source);
void event_loop_remove(const struct event_loop *loop, int fd);

/* Sleeps until there are events, for `patience_ns` at the longest. Returns how many there are, or -errno. */
int event_loop_wait(const struct event_loop *loop, uint64_t patience_ns, struct epoll_event *ret_events,
		    int room);

/* Of SOURCE_SIGNALS: the signal, or 0 for none. */
int event_loop_signal(const struct event_loop *loop);

/* Of SOURCE_PINS: whether pins were replaced or removed. */
bool event_loop_pins_changed(const struct event_loop *loop);

#endif
