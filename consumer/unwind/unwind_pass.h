/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_pass.h owns the state of one pass over the mappings: its inputs, and what it leaves for the next
 * pass.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_PASS_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_PASS_H

#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mappings.h"
#include "consumer/unwind/table_failures.h"

#include <stdbool.h>
#include <stdint.h>

struct unwind_pass {
	unsigned int number;   /* counted from 1 */
	uint32_t slice_before; /* last slice of a scan that the previous pass worked on */
	const struct mappings *mappings;
	struct mapped_files *files;
	struct table_failures *failures; /* NULL: nobody asks for them */
	uint64_t now_ns;                 /* begin of the pass (CLOCK_MONOTONIC) */
	uint64_t deadline_ns; /* files not opened by then wait for the next pass; earlier for a busy user */
	/* of the process whose mappings are followed */
	uint32_t uid;
	bool is_bystander;
	uint64_t no_room_processes; /* processes without an entry in the map, for want of room */
	bool more;                  /* another pass is needed */
};

#endif
