/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/latency_live.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/latency_groups.h"
#include "common/protocol/latency_line.h"
#include "common/system/log.h"
#include "common/text/escape_name.h"
#include "consumer/worker/worker.h"

#include <string.h>

/* With the one before them, the kernel has these for certain. */
#define INTERVAL_EPOCHS_MAX (HISTOGRAM_EPOCHS_KEPT - 2U)

void latency_live_open(struct latency_live *live, struct measuring *latencies, struct cgroups *cgroups,
		       const struct clock *clock, const struct user_names *names)
{
	*live = (struct latency_live){ .latencies = latencies, .cgroups = cgroups, .clock = clock };
	live_clients_open(&live->clients, "latencies", "intervals", names, latencies->own_counters);
}

void latency_live_start(struct latency_live *live, struct control_socket *control, struct worker *worker)
{
	live->clients.control = control;
	live->worker = worker;
}

/* ---- clients ---- */

/* The groups of all clients. */
static uint32_t watched(const struct latency_live *live)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < ARRAY_SIZE(live->clients.clients); i++)
		groups |= live->clients.clients[i].groups;
	return groups;
}

static uint64_t epoch_of(uint64_t ns)
{
	return ns / HISTOGRAM_EPOCH_NS;
}

/* Whether one of the groups was measured in the epoch before the present one. */
static bool was_on(const struct histograms_on *on, uint32_t groups, uint64_t now_ns)
{
	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		if (on->groups & groups & 1U << i && epoch_of(on->since_ns[i]) < epoch_of(now_ns))
			return true;
	return false;
}

/* Returns NULL, or why nothing can be measured for this request. */
static const char *read_groups(const struct latency_live *live, const struct status_line *line,
			       uint32_t *ret_groups)
{
	if (latency_groups_parse(status_line_get(line, "groups"), ret_groups))
		return "the request names no groups of latencies";
	if (!(*ret_groups & live->latencies->kernel->control->latency_loaded))
		return "the kernel programs do not measure these latencies; give their groups to bourdon-load --probes, if this kernel has them";
	return NULL;
}

void latency_live_ask(struct latency_live *live, uint64_t client, const struct peer *peer,
		      const struct status_line *line, uint64_t now_ns)
{
	uint32_t groups, before = watched(live);
	const char *why = peer_may_ask(peer) ? read_groups(live, line, &groups) : NULL;
	struct live_client *place;

	if (why) {
		control_refuse(live->clients.control, client, 0, why, now_ns);
		return;
	}
	place = live_clients_admit(&live->clients, client, peer, now_ns);
	if (!place)
		return;
	place->groups = groups;
	if (!before)
		live->next_epoch = epoch_of(now_ns) - was_on(&live->latencies->on, groups, now_ns);
	measuring_watch(live->latencies, watched(live));
}

void latency_live_leave(struct latency_live *live, uint64_t client, uint64_t now_ns)
{
	live_clients_leave(&live->clients, client, now_ns);
	measuring_watch(live->latencies, watched(live));
}

void latency_live_interrupt(struct latency_live *live, uint64_t now_ns)
{
	live_clients_interrupt(&live->clients, now_ns);
}

/* ---- intervals ---- */

static const char *path_of_cgroup(void *user, uint64_t cgroup_id)
{
	return cgroups_path(user, cgroup_id);
}

/* Hands over what the watched groups have of the epochs up to this one. */
static void end_interval(struct latency_live *live, uint64_t epoch, uint64_t now_ns)
{
	struct histograms_on on = live->latencies->on;
	struct latency *latency = calloc(1, sizeof(*latency));
	uint64_t from = live->next_epoch;
	int result = -ENOMEM;

	if (from + INTERVAL_EPOCHS_MAX < epoch)
		from = epoch - INTERVAL_EPOCHS_MAX;
	/* others may be on for rules and captures */
	on.groups &= watched(live);
	if (latency)
		result = latency_read_ended(latency, live->latencies->kernel, &on, from, epoch,
					    path_of_cgroup, live->cgroups);
	if (result < 0) {
		log_warning(
			"cannot read the histograms of latencies: %s; 'bourdon latency --live' misses an interval",
			strerror(-result));
		if (latency)
			latency_free(latency);
		free(latency);
		return;
	}
	worker_name_latency(live->worker, latency, clock_wall_now_ns(live->clock) - (int64_t)now_ns);
}

void latency_live_say(struct latency_live *live, uint64_t now_ns)
{
	_cleanup_free_ char *text = worker_live_text(live->worker, LIVE_LATENCIES);

	if (text)
		live_clients_say(&live->clients, text, now_ns);
	/* a client that did not read may have gone */
	measuring_watch(live->latencies, watched(live));
}

void latency_live_tick(struct latency_live *live, uint64_t now_ns)
{
	uint64_t epoch = epoch_of(now_ns);

	latency_live_say(live, now_ns);
	if (!live_clients_are(&live->clients) || epoch <= live->next_epoch ||
	    worker_is_live(live->worker, LIVE_LATENCIES))
		return;
	end_interval(live, epoch, now_ns);
	live->next_epoch = epoch;
}
