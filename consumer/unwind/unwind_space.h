/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_space.h owns the space in the kernel's maps of unwind rows, pages and rules. It receives a file's
 * table from the symbolizer, writes it where there is room, and releases the room.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_SPACE_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_SPACE_H

#include "common/symbolizer/table_stream.h"
#include "common/symbolizer/unwind_rules.h"
#include "consumer/unwind/unit_map.h"
#include "consumer/unwind/unwind_maps.h"

#include <stdbool.h>

/* The place of one file's table in the maps. All zeros: none. */
struct unwind_place {
	uint64_t first_page; /* number of the file's first page */
	uint32_t text_page;  /* of the first one with code */
	uint32_t page_at;    /* position in unwind_pages */
	uint32_t pages, rows;
	uint32_t *chunks; /* positions in unwind_rows */
	uint32_t chunks_count;
	/* what it says of HotSpot's compiled code: position in unwind_hotspot; 0: nothing */
	uint32_t hotspot;
};

struct unwind_retired;

struct unwind_space {
	struct unwind_maps maps;
	struct unit_map chunks, pages;
	struct unwind_rules rules; /* all rules in the map; files share them, so they stay */
	uint32_t rules_max;
	bool rules_full; /* a table was refused because the map had no room for one of its rules */
	uint32_t
		chunks_lacked; /* how many more the last table needed than there were; 0: there were enough */
	struct unwind_hotspot
		hotspots[UNWIND_HOTSPOTS]; /* all in the map; they stay, as rules do. The first is none */
	uint32_t hotspots_count;
	struct unwind_retired *retired;
	uint32_t retired_count, retired_room;
};

/* The number of elements of each map. */
struct unwind_space_sizes {
	uint32_t chunks, pages, rules;
};

/* Also writes rule 0, which means "no rule". Returns 0 or -errno; call unwind_space_free() in either case. */
int unwind_space_init(struct unwind_space *space, const struct unwind_maps *maps,
		      const struct unwind_space_sizes *sizes);
void unwind_space_free(struct unwind_space *space);

/* A table that arrives, message by message, and is written into the maps. */
struct unwind_reception;

/*
 * Returns NULL without memory. The space outlives it; with NULL for it, the table is checked and goes nowhere. The caller ends
 * with unwind_reception_end().
 */
struct unwind_reception *unwind_reception_new(struct unwind_space *space);

/*
 * Takes the next message, and changes it: rows get the numbers that their rules have in the map. Returns as table_take();
 * -ENOSPC without room.
 */
int unwind_reception_take(struct unwind_reception *reception, struct table_message *message, size_t bytes);
const struct table_stream *unwind_reception_stream(const struct unwind_reception *reception);

/* The file's sign (runtime_sign.h), as soon as it is known. */
uint32_t unwind_reception_runtime(const struct unwind_reception *reception);

/*
 * Ends it: with a place to put it, the table is whole, and the caller ends with unwind_space_release(); with NULL, its room is
 * released. Accepts NULL as reception.
 */
void unwind_reception_end(struct unwind_reception *reception, struct unwind_place *ret_place);

/*
 * Releases the room. It is used again once no kernel program can be reading it (unit_map.h). Accepts an empty
 * place.
 */
void unwind_space_release(struct unwind_space *space, struct unwind_place *place);

/*
 * Releases a table to which process entries may refer until the pass after `pass` has written them again: the
 * sweep at the end of that later pass releases the room. Returns false if nothing was retired: the place is
 * empty, or there is no memory and the caller still owns it.
 */
bool unwind_space_retire(struct unwind_space *space, struct unwind_place *place, unsigned int pass);
void unwind_space_sweep(struct unwind_space *space, unsigned int pass);

/* How often programs looked for rules in the table since this was asked last, or the table was written: a page counts 65,535 at most. */
uint64_t unwind_space_uses(const struct unwind_space *space, const struct unwind_place *place);

/* Forgets all rules except rule 0. The caller has released all tables, and no process entry refers to one. */
void unwind_space_forget_rules(struct unwind_space *space);

/* The bytes of rows in use in the map. */
uint64_t unwind_space_bytes(const struct unwind_space *space);

#endif
