/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_trigger.h owns which rules fire because a quantile of a latency is longer than they allow. It runs on the draining thread,
 * at the ends of epochs.
 *
 * The values count that are of the rule's cgroups: of each alone, of each slice, or of all, as `watch` says. Of requests to block
 * devices these are the cgroups that `cgroup` and `unit` name; of all others those that have a target of the rule. What the kernel
 * tells of nobody, soft interrupts, and of block devices if the rule names no cgroup, is of the whole system.
 */
#ifndef BOURDON_CONSUMER_LATENCY_TRIGGER_H
#define BOURDON_CONSUMER_LATENCY_TRIGGER_H

#include "consumer/host/latency_past.h"
#include "consumer/recorder.h"

/* Fewer events within a window have no quantile that means anything: they do not fire. */
#define LATENCY_EVENTS_MIN 20U

/*
 * Compares the window that ended last with each rule in force, and begins captures; `epoch` is the current one. A rule fires if the
 * bucket of its quantile begins at the limit or beyond, and the last epoch has such a value. A rule in its cooldown, and one for
 * which recorder_begin() has no room, counts the trigger as suppressed.
 */
void latency_trigger_look(struct recorder *recorder, const struct configuration *configuration,
			  const struct latency_past *past, uint64_t epoch);

#endif
