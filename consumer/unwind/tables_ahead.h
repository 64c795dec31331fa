/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables_ahead.h owns making the unwind tables of the files that processes have mapped, whether they are sampled or not, before
 * they are needed: they are kept (file_cache.h), and go into no map. It is for idle CPUs alone, one file at a time. For the
 * worker thread only.
 */
#ifndef BOURDON_CONSUMER_UNWIND_TABLES_AHEAD_H
#define BOURDON_CONSUMER_UNWIND_TABLES_AHEAD_H

#include "consumer/symbols/mappings.h"
#include "consumer/unwind/table_cache.h"

#include <stdbool.h>
#include <stdint.h>

struct tables_ahead;

/* Of the files of these mappings, which it takes over in any case; `cache` outlives it. Returns NULL without memory. */
struct tables_ahead *tables_ahead_begin(struct file_cache *cache, int spawner_socket,
					struct mappings *mappings);

/* Goes on until `until_ns` (CLOCK_MONOTONIC). Returns false at the end, when what was made is written and logged. */
bool tables_ahead_step(struct tables_ahead *ahead, uint64_t until_ns);

void tables_ahead_free(struct tables_ahead *ahead);

#endif
