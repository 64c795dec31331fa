/* SPDX-License-Identifier: GPL-2.0-only */
/* frame_name.h defines how names of code pass from where they are known to where they are stored. */
#ifndef BOURDON_CONSUMER_SYMBOLS_FRAME_NAME_H
#define BOURDON_CONSUMER_SYMBOLS_FRAME_NAME_H

#include <stddef.h>
#include <stdint.h>

/* A function at an offset. The strings need no NUL. */
struct frame_name {
	const char *function; /* NULL: unknown */
	size_t function_bytes;
	int64_t function_offset;
	const char *file; /* NULL: unknown */
	size_t file_bytes;
	uint32_t line;
};

/* Receives the functions at one offset, one a call, the outermost first. Returns 0 to continue, or -errno. */
typedef int (*frame_name_add)(void *user, const struct frame_name *name);

#endif
