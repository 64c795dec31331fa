/* SPDX-License-Identifier: GPL-2.0-only */
/* reply.h writes found frames into a reply: complete offsets only, as many as fit. */
#ifndef BOURDON_COMMON_SYMBOLIZER_REPLY_H
#define BOURDON_COMMON_SYMBOLIZER_REPLY_H

#include "common/symbolizer/protocol.h"

#include <stdbool.h>

/* A function found at an offset. */
struct found_frame {
	const char *name; /* NULL: unknown */
	bool is_written;  /* a source name: do not demangle it */
	uint64_t function_offset;
	const char *file; /* NULL: unknown */
	uint32_t line;
};

/* How many bytes before the address, and from it on, have the same frames, but for `function_offset`. Zeros: not known. */
struct reply_span {
	uint32_t before, after;
};

struct reply {
	struct symbolize_reply *into;
	size_t text_bytes;
};

/* SYMBOLIZER: begins an empty reply. */
struct reply reply_begin(struct symbolize_reply *into);

/*
 * SYMBOLIZER: adds the frames of the next offset, the real function first. Returns false if they do not fit;
 * nothing is added then.
 */
bool reply_add(struct reply *reply, const struct found_frame *frames, uint32_t count, struct reply_span span);

/* Returns the number of bytes to send. */
size_t reply_bytes(const struct reply *reply);

#endif
