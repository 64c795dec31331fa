/* SPDX-License-Identifier: GPL-2.0-only */
/* kill_trigger.h owns which rules fire when a process is killed for lack of memory. It runs on the draining thread. */
#ifndef BOURDON_CONSUMER_KILL_TRIGGER_H
#define BOURDON_CONSUMER_KILL_TRIGGER_H

#include "consumer/recorder.h"

/*
 * Fires each rule with on_kill that applies to the victim, which policy does not deny: by the name and the cgroup that it had,
 * because it may be no target any more. `configuration` is in force. A kill of before the daemon's start fires none.
 * A rule in its cooldown, and one for which recorder_begin() has no room, counts the trigger as suppressed.
 */
void kill_trigger_fire(struct recorder *recorder, const struct configuration *configuration,
		       const struct kill_record *kill, uint64_t now_ns);

#endif
