/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_source.h owns what epoll reports: the data pointer of each descriptor in the epoll set points to a
 * struct event_source, which is the first member of the structure that owns the descriptor.
 */
#ifndef BOURDON_CONSUMER_PROCESS_EVENT_SOURCE_H
#define BOURDON_CONSUMER_PROCESS_EVENT_SOURCE_H

enum event_source_kind {
	SOURCE_SIGNALS,
	SOURCE_PINS,
	SOURCE_SPAWNER,
	SOURCE_PROCESSES,
	SOURCE_WATCH,  /* struct watch */
	SOURCE_GRANT,  /* struct grant_call */
	SOURCE_CONFIG, /* configuration files changed */
	SOURCE_RELOAD, /* the worker thread has read the configuration */
	SOURCE_CONTROL,
	SOURCE_CLIENT, /* a client of the control socket */
	SOURCE_STORED, /* captures on demand were written */
};

struct event_source {
	enum event_source_kind kind;
};

#endif
