/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/incident.h"

#include <stdbool.h>

static uint64_t later(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns > other_ns ? one_ns : other_ns;
}

struct incident incident_join(const struct incident *present, const struct incident_span *span)
{
	bool belongs =
		present->captures && present->captures < INCIDENT_CAPTURES_MAX &&
		(span->from_ns <= present->covered_until_ns || span->triggered_ns < present->quiet_until_ns);
	struct incident joined = belongs ? *present : (struct incident){ .number = present->number + 1 };
	uint64_t covered_until_ns = span->triggered_ns + span->capture_ns;

	joined.captures++;
	joined.covered_until_ns = later(joined.covered_until_ns, covered_until_ns);
	joined.quiet_until_ns = later(joined.quiet_until_ns, covered_until_ns + span->cooldown_ns);
	return joined;
}
