/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * descriptors.h owns how many descriptors watches may take: users make cgroups without end, and captures,
 * names, the database, reloads and the control socket need descriptors, too.
 */
#ifndef BOURDON_CONSUMER_DESCRIPTORS_H
#define BOURDON_CONSUMER_DESCRIPTORS_H

#include <stdint.h>

/*
 * Call it when all is open that stays open, before a watch is opened and before the system-call filter.
 * Returns what RLIMIT_NOFILE leaves to watches; perhaps 0.
 */
uint32_t descriptors_for_watches(void);

#endif
