/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_groups.h reads which groups of latencies somebody wants: `bourdon-load --probes`, and `probes =` of a rule. */
#ifndef BOURDON_COMMON_PROTOCOL_LATENCY_GROUPS_H
#define BOURDON_COMMON_PROTOCOL_LATENCY_GROUPS_H

#include "common/abi/latency.h"

#include <stdint.h>

#define LATENCY_ALL ((1U << LATENCY_GROUPS) - 1)
/* What is loaded unless root says otherwise: the programs of requests are called for what every connection sends and receives. */
#define LATENCY_DEFAULT (LATENCY_ALL & ~(1U << LATENCY_REQUEST))

extern const char *const latency_group_names[LATENCY_GROUPS];

/*
 * Reads "block, lock", "all" or "none" into a bit for each LATENCY_*. NULL, or the place in `text` of a word that is none of the
 * groups, or is missing.
 */
const char *latency_groups_parse(const char *text, uint32_t *ret_groups);

#endif
