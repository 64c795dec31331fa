/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_source.h owns what stands behind a descriptor in the epoll set: its data points to one of these,
 * which begins the structure that is meant.
 */
#ifndef BOURDON_CONSUMER_PROCESS_EVENT_SOURCE_H
#define BOURDON_CONSUMER_PROCESS_EVENT_SOURCE_H

enum event_source_kind {
	SOURCE_TIMER,
	SOURCE_PACE, /* of captures */
	SOURCE_SIGNALS,
	SOURCE_PINS,
	SOURCE_SPAWNER,
	SOURCE_PROCESSES,
	SOURCE_WATCH,  /* struct watch */
	SOURCE_GRANT,  /* struct grant_call */
	SOURCE_CONFIG, /* files changed */
	SOURCE_RELOAD, /* the store thread has read them */
	SOURCE_CONTROL,
	SOURCE_CLIENT, /* of the control socket */
};

struct event_source {
	enum event_source_kind kind;
};

#endif
