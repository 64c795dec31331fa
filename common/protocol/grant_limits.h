/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_limits.h has the limits on requests to bourdon-grant. The two budgets are apart, because targets cause
 * requests for files, whoever may make cgroups causes those for pressure, and neither may use up the other's.
 *
 * What the consumer asks for is half of what bourdon-grant answers: so a second daemon, started at once after
 * the first, is not refused either. Over a long time the consumer sends 64 requests a second, fewer than the 75
 * connections a second to which systemd slows a socket (PollLimitBurst= of systemd.socket(5), version 255 and
 * later).
 */
#ifndef BOURDON_COMMON_PROTOCOL_GRANT_LIMITS_H
#define BOURDON_COMMON_PROTOCOL_GRANT_LIMITS_H

#include "common/base/rate.h"
#include "common/protocol/grant_request.h"

enum grant_budget { GRANT_BUDGET_PRESSURE, GRANT_BUDGET_FILES, GRANT_BUDGETS };

/* A request that is not valid counts as one for a file. */
static inline enum grant_budget grant_budget_of(enum grant_kind kind)
{
	return kind == GRANT_PRESSURE ? GRANT_BUDGET_PRESSURE : GRANT_BUDGET_FILES;
}

/* GRANT: what it answers. */
#define GRANT_ANSWERED ((struct rate){ .burst = 512, .per_second = 64 })

/* CONSUMER: what it asks for. A capture of a host full of containers may need 256 files, 80 cgroups as many watches. */
#define GRANT_ASKED ((struct rate){ .burst = 256, .per_second = 32 })

/*
 * GRANT: how long it holds a connection before it refuses a request over the limit. Whoever asks in a flood
 * thus starts no more processes a second than there may be connections (MaxConnections= of the socket).
 */
#define GRANT_LATER_NS CLOCK_SECOND_NS

#endif
