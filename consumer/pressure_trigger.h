/* SPDX-License-Identifier: GPL-2.0-only */
/* pressure_trigger.h owns what becomes of a watch that fired. It runs on the draining thread. */
#ifndef BOURDON_CONSUMER_PRESSURE_TRIGGER_H
#define BOURDON_CONSUMER_PRESSURE_TRIGGER_H

#include "consumer/recorder.h"

/*
 * Begins a capture, walks, and reads the history; logs that. Counts the trigger as suppressed during the watch's cooldown unless the
 * pressure is worse (watch_is_worse()), and where recorder_begin() has no room. A watch whose targets have all ended begins neither
 * a capture nor a cooldown.
 */
void pressure_trigger_fire(struct recorder *recorder, const struct configuration *configuration,
			   struct watch *watch, uint64_t observed_us, uint64_t now_ns);

#endif
