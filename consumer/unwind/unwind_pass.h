/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_pass.h owns what one pass over the mappings works with, and what it leaves to do. It lives as long
 * as the pass.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_PASS_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_PASS_H

#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mappings.h"

#include <stdbool.h>
#include <stdint.h>

struct unwind_pass {
	unsigned int number;      /* from 1 on */
	unsigned int scan_before; /* the scan of the mappings that the pass before this one was about */
	const struct mappings *mappings;
	struct mapped_files *files;
	uint64_t now_ns;      /* when it began (CLOCK_MONOTONIC) */
	uint64_t deadline_ns; /* tables that are not built by then wait for the next pass */
	int spawner_socket;
	int symbolizer;             /* the socket to the one that serves this pass; negative: none yet */
	unsigned int deaths;        /* of symbolizers in this pass */
	uint64_t no_room_processes; /* that have no entry in the map, for want of room */
	bool more;                  /* there is more to do, in another pass */
};

#endif
