/* SPDX-License-Identifier: GPL-2.0-only */
/* daemon_state.h has the state of the draining thread: for daemon.c, which owns it, and daemon_follow.c. */
#ifndef BOURDON_CONSUMER_DAEMON_STATE_H
#define BOURDON_CONSUMER_DAEMON_STATE_H

#include "consumer/activity_looker.h"
#include "consumer/baseline.h"
#include "consumer/capture/coverage.h"
#include "consumer/confine.h"
#include "consumer/control.h"
#include "consumer/latency_live.h"
#include "consumer/live.h"
#include "consumer/measuring.h"
#include "consumer/ondemand.h"
#include "consumer/process/event_loop.h"
#include "consumer/process/event_rest.h"
#include "consumer/process/notify.h"
#include "consumer/recorder.h"
#include "consumer/reload.h"
#include "consumer/spawner_end.h"
#include "consumer/tracking.h"

struct daemon {
	const struct clock *clock;
	const struct settings *where;
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	const struct confinement *confinement;
	struct notify *notify;
	int spawner_socket;
	struct worker *worker;
	struct cgroups *cgroups;
	struct coverage *coverage;
	struct closer *closer;
	const struct own_usage *own_usage;
	struct control_socket *control;
	struct reload reload;
	struct tracking tracking;
	struct watches watches;
	uint32_t watch_descriptors; /* how many watches may take */
	struct recorder recorder;
	struct measuring latencies;
	struct activity_looker activity;
	struct baselines baselines;
	struct ondemand ondemand;
	struct live live;
	struct latency_live latency_live;
	uint64_t started_ns;
	uint64_t second_due_ns;        /* of the next tick() */
	struct event_rest events_rest; /* of process events */
	struct event_loop loop;
	struct event_source spawner_source, processes_source, config_source, reload_source, stored_source;
	struct spawner_end spawner_end;
	bool ended;
	int status; /* the exit status */
};

#endif
