/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/spawner_end.h"

#include "common/base/clock.h"
#include "common/system/log.h"

/* Exit after 30 s without a capture, at most 10 min after the spawner died. */
#define NO_SPAWNER_QUIET_NS (30 * CLOCK_SECOND_NS)
#define NO_SPAWNER_NS (600 * CLOCK_SECOND_NS)

void spawner_end_note(struct spawner_end *end, uint64_t now_ns)
{
	log_warning("the spawner died: captures have no function names until bourdond is restarted");
	end->gone_ns = end->captured_ns = now_ns;
}

bool spawner_end_is_due(struct spawner_end *end, bool capturing, uint64_t now_ns)
{
	if (capturing)
		end->captured_ns = now_ns;
	return end->gone_ns &&
	       (now_ns - end->captured_ns >= NO_SPAWNER_QUIET_NS || now_ns - end->gone_ns >= NO_SPAWNER_NS);
}
