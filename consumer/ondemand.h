/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ondemand.h owns the captures on demand, from the request of a client to its answer: who may ask and how often, which
 * processes are meant, and what the kernel programs are told of them. The recorder records them like those of rules.
 */
#ifndef BOURDON_CONSUMER_ONDEMAND_H
#define BOURDON_CONSUMER_ONDEMAND_H

#include "consumer/ask_limit.h"
#include "consumer/control.h"
#include "consumer/host/wanted.h"
#include "consumer/measuring.h"
#include "consumer/process/user_names.h"
#include "consumer/recorder.h"

/* A capture that was asked for, and is under way or waits to be written. */
struct asked {
	uint64_t serial; /* 0: a free place */
	uint64_t client; /* of the control socket; it may have left */
	uint64_t began_ns, for_ns, until_ns;
	uint32_t probes_missing;            /* groups of latencies that were named, and are not measured */
	uint64_t said_ns;                   /* when its progress was last said */
	bool has_left;                      /* its client */
	char ended_by[CAPTURE_WHOSE_BYTES]; /* who ended it by ondemand_end(); "": nobody */
	bool is_over;                       /* it was recorded, and waits to be written */
	struct want of_comm;
	struct want of_processes[CAPTURE_PIDS_MAX];
	uint32_t processes_count;
	bool wants_comm;
	char *unit;   /* its cgroups are found again and again; NULL: none */
	char *cgroup; /* the same; NULL: none */
};

struct ondemand {
	const struct kernel_objects *kernel;
	struct tracking *tracking;
	struct recorder *recorder;
	struct cgroups *cgroups;
	struct measuring *latencies;
	struct own_counters *own_counters;
	struct control_socket *control; /* NULL until ondemand_start() */
	struct worker *worker;
	struct user_names names;
	struct ask_limit limit;
	uint64_t serials;
	struct asked asked[WORKER_PLACES_MAX];
	struct wants published; /* what the kernel's map has */
	struct log_limit wanted_limit;
};

/* What it uses, which outlives it. */
struct ondemand_settings {
	const struct kernel_objects *kernel;
	struct tracking *tracking;
	struct recorder *recorder;
	struct cgroups *cgroups;
	struct measuring *latencies;
	struct own_counters *own_counters;
};

/* Before confinement: reads the names of users. Accepts that there are none. */
void ondemand_open(struct ondemand *ondemand, const struct ondemand_settings *settings);
void ondemand_close(struct ondemand *ondemand);

/* Before the first request. Empties the kernel's map of what an earlier daemon has left. */
void ondemand_start(struct ondemand *ondemand, struct control_socket *control, struct worker *worker);

/* A client asks: begins a capture, or refuses it with the reason. A control_handlers.ask() after that. */
void ondemand_ask(struct ondemand *ondemand, uint64_t client, const struct peer *peer,
		  const struct status_line *line, uint64_t now_ns);

/* A client asks for the captures on demand that are under way: root for all, others for their own. */
void ondemand_who(struct ondemand *ondemand, uint64_t client, const struct peer *peer, uint64_t now_ns);

/* A client asks that one ends, which is kept: root any, others their own. */
void ondemand_end(struct ondemand *ondemand, uint64_t client, const struct peer *peer,
		  const struct status_line *line, uint64_t now_ns);

/* The client wants no more, or has gone: ends its capture at once, which is kept. */
void ondemand_leave(struct ondemand *ondemand, uint64_t client, uint64_t now_ns);

/* Call it after recorder_pace(): says how far each capture is, and follows its cgroups. */
void ondemand_pace(struct ondemand *ondemand, uint64_t now_ns);

/* Call it when epoll reports results of the worker thread (SOURCE_STORED): says them. */
void ondemand_results(struct ondemand *ondemand, uint64_t now_ns);

/* Call it when the daemon ends, before recorder_interrupt(): tells all clients. */
void ondemand_interrupt(struct ondemand *ondemand, uint64_t now_ns);

#endif
