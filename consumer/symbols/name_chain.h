/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * name_chain.h owns the functions at one offset, outermost first, as they arrive: it stores them in the frames of a capture, within
 * the room for names. For the naming of a capture, on the worker thread.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAME_CHAIN_H
#define BOURDON_CONSUMER_SYMBOLS_NAME_CHAIN_H

#include "consumer/symbols/frame_name.h"
#include "consumer/symbols/resolved.h"

struct name_room {
	struct resolved *resolved;
	uint64_t most;    /* limit of resolved->names_bytes for the current module */
	bool is_exceeded; /* the module has names beyond that limit */
};

struct name_chain {
	struct name_room *room;
	uint32_t place, last;
	uint32_t count;
	bool is_cut;     /* no room for the rest of the chain */
	bool wants_file; /* reject a known name without source file: the debug file may have it */
};

/* The chain at the place of a frame in `resolved`, which has no name yet. */
struct name_chain name_chain_begin(struct name_room *room, uint32_t place);

/* A frame_name_add; `user` is the chain. Returns 0, also without room, -ENOENT: rejected, or -ENOMEM. */
int name_chain_add(void *user, const struct frame_name *name);

#endif
