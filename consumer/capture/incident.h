/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * incident.h owns the decision which captures belong together: one incident fires several rules, and one rule more than
 * once. The draining thread numbers the incidents of its run by CLOCK_MONOTONIC, and the store gives each number a row:
 * so neither a slow disk nor a clock that is set changes what belongs together.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_INCIDENT_H
#define BOURDON_CONSUMER_CAPTURE_INCIDENT_H

#include <stdint.h>

/*
 * On a host under pressure without end, captures of several rules follow each other without end. An incident of so many
 * captures takes no more: the next one begins another.
 */
#define INCIDENT_CAPTURES_MAX 32

/* Initially zeros: there was none yet. Times are CLOCK_MONOTONIC. */
struct incident {
	uint32_t number; /* within the run, from 1 on */
	uint32_t captures;
	uint64_t
		covered_until_ns; /* the end of its captures: of the last one, if that is still under way, as planned */
	uint64_t quiet_until_ns; /* the end of their cooldowns */
};

/* A capture that begins. */
struct incident_span {
	uint64_t from_ns; /* the oldest history that it has */
	uint64_t triggered_ns;
	uint64_t capture_ns, cooldown_ns; /* of its rule */
};

/*
 * The incident to which the capture belongs. It is the present one if the capture's span overlaps that of one of its
 * captures, or if the capture begins within the cooldown of one; else the next.
 */
struct incident incident_join(const struct incident *present, const struct incident_span *span);

#endif
