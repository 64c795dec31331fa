/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spawner_end.h owns when the daemon ends after the death of its spawner. Only a daemon that starts may fork one, so it ends, and the
 * service manager starts it again. Without a spawner captures lack only names, so the daemon first waits for 30 s without a capture:
 * the pressure that killed the spawner may be the pressure that is to be captured. On the draining thread.
 */
#ifndef BOURDON_CONSUMER_SPAWNER_END_H
#define BOURDON_CONSUMER_SPAWNER_END_H

#include <stdbool.h>
#include <stdint.h>

/* Starts as zeros. */
struct spawner_end {
	uint64_t gone_ns;     /* when the spawner died; 0: it lives */
	uint64_t captured_ns; /* when a capture was last under way since then */
};

/* The spawner has died. Logs that. */
void spawner_end_note(struct spawner_end *end, uint64_t now_ns);

/* Call it once a second. `capturing`: a capture is under way, or waits to be written. */
bool spawner_end_is_due(struct spawner_end *end, bool capturing, uint64_t now_ns);

#endif
