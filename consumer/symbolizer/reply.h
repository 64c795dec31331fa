/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reply.h owns how the frames that were found become a reply: whole offsets, as long as there is room.
 */
#ifndef BOURDON_SYMBOLIZER_REPLY_H
#define BOURDON_SYMBOLIZER_REPLY_H

#include "consumer/symbolizer/protocol.h"

#include <stdbool.h>

/* A function at an offset, as it was found. */
struct found_frame {
	const char *name; /* NULL: not known */
	bool is_written;  /* the name is what its author wrote: there is nothing to demangle */
	uint64_t function_offset;
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct reply {
	struct symbolize_reply *into;
	size_t text_bytes;
};

/* SYMBOLIZER: begins a reply that answers nothing. */
struct reply reply_begin(struct symbolize_reply *into);

/* SYMBOLIZER: the frames of the next offset, the real function first. False: no room, nothing was added. */
bool reply_add(struct reply *reply, const struct found_frame *frames, uint32_t count);

/* The number of bytes to send. */
size_t reply_bytes(const struct reply *reply);

#endif
