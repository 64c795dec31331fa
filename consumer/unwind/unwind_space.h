/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_space.h owns the space in the kernel's maps of unwind rows, pages and rules: it receives the table of
 * a file from the symbolizer, writes it where there is room, and gives the room back.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_SPACE_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_SPACE_H

#include "consumer/symbolizer/unwind_rules.h"
#include "consumer/unwind/unit_map.h"
#include "consumer/unwind/unwind_maps.h"

#include <stdbool.h>

/* Where the table of one file is in the maps. All zeros: nowhere. */
struct unwind_place {
	uint64_t first_page; /* of the file */
	uint32_t page_at;    /* in unwind_pages */
	uint32_t pages, rows;
	uint32_t *chunks; /* in unwind_rows */
	uint32_t chunks_count;
};

struct unwind_retired;

struct unwind_space {
	struct unwind_maps maps;
	struct unit_map chunks, pages;
	struct unwind_rules rules; /* all that are in the map; files share them, so they stay */
	uint32_t rules_max;
	bool rules_full; /* a table was refused, because it needed one rule more */
	struct unwind_retired *retired;
	uint32_t retired_count, retired_room;
};

/* How many elements each map has. */
struct unwind_space_sizes {
	uint32_t chunks, pages, rules;
};

/* Also writes the rule with number 0, which says that there is none. 0 or -errno; unwind_space_free() in either case. */
int unwind_space_init(struct unwind_space *space, const struct unwind_maps *maps,
		      const struct unwind_space_sizes *sizes);
void unwind_space_free(struct unwind_space *space);

/*
 * Has the symbolizer behind `socket` compile the table of the file, and writes the table into the maps. Ends
 * at `deadline_ns` (CLOCK_MONOTONIC). 0, and the caller gives *ret_place back with unwind_space_release();
 * -ENOSPC without room; or an error of table_receive(). *ret_usable: the symbolizer can serve another file.
 */
int unwind_space_receive(struct unwind_space *space, int socket, int elf_fd, uint64_t deadline_ns,
			 struct unwind_place *ret_place, bool *ret_usable);

/* Gives the room back; it is used again when no program can be reading there (unit_map.h). Accepts nowhere. */
void unwind_space_release(struct unwind_space *space, struct unwind_place *place);

/*
 * The same for a table that entries of processes lead to until the pass after the pass `pass` has written them
 * again: the room is given back by the sweep at the end of that pass. False where it was not retired: it was
 * nowhere, or there is no memory, and it is still the caller's.
 */
bool unwind_space_retire(struct unwind_space *space, struct unwind_place *place, unsigned int pass);
void unwind_space_sweep(struct unwind_space *space, unsigned int pass);

/* Forgets all rules but the one with number 0. The caller has released all tables, and no process leads to one. */
void unwind_space_forget_rules(struct unwind_space *space);

/* How many bytes of rows are in use, in the map. */
uint64_t unwind_space_bytes(const struct unwind_space *space);

#endif
