/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cause_memory.h owns the verdicts on pressure on memory, and on kills for lack of it. Each function returns one, or
 * facts_no_verdict.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAUSE_MEMORY_H
#define BOURDON_CONSUMER_CAPTURE_CAUSE_MEMORY_H

#include "consumer/capture/cause_facts.h"

struct cause cause_memory_limit(const struct facts *facts);
struct cause cause_memory_shortage(const struct facts *facts);
struct cause cause_memory_evicted(const struct facts *facts);
struct cause cause_memory_limit_unseen(const struct facts *facts);

/* Of a capture that a kill began. */
struct cause cause_memory_kill(const struct facts *facts);

#endif
