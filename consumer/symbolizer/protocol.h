/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * protocol.h owns what the consumer and the symbolizer say to each other over a SOCK_SEQPACKET socket: a
 * request, with a file's descriptor beside it where it is about one, and its reply. Both sides check all of
 * it. The symbolizer keeps one module at hand, so that a large file is not opened for each batch of offsets.
 */
#ifndef BOURDON_SYMBOLIZER_PROTOCOL_H
#define BOURDON_SYMBOLIZER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOLIZE_BATCH 64U
#define SYMBOLIZE_DEPTH 32U         /* functions at one offset: the real one and those inlined there */
#define SYMBOLIZE_FRAMES_MAX 512U   /* in one reply */
#define SYMBOLIZE_TEXT_BYTES 49152U /* with the rest below what a socket takes in one message */
#define SYMBOLIZE_NAME_BYTES 767U   /* a longer name is cut; of a longer path nothing is said */
#define SYMBOLIZE_BUILD_ID_BYTES 32U
#define SYMBOLIZE_LINK_BYTES 256U

/* What a request asks. */
#define SYMBOLIZE_NAMES 1U /* what is at these offsets of the module at hand */
#define SYMBOLIZE_TABLE                                                                                      \
	2U /* the unwind table of the file beside it: table_stream.h says how it is answered */
#define SYMBOLIZE_MODULE 3U     /* the ELF file beside it is the module from here on */
#define SYMBOLIZE_DEBUG_FILE 4U /* the file beside it may be one that the module lacks */
#define SYMBOLIZE_ADDRESSES 6U  /* the same of addresses of the module, which a debug file alone can tell */
#define SYMBOLIZE_PERF_MAP 5U   /* what is at these addresses, by the perf map beside it */

struct symbolize_request {
	uint32_t kind; /* SYMBOLIZE_* */
	uint32_t count;
	uint64_t offsets[SYMBOLIZE_BATCH]; /* in the file; of a perf map: addresses */
};

/* The reply to SYMBOLIZE_MODULE and SYMBOLIZE_DEBUG_FILE: what the module is, and what it lacks now. */
#define SYMBOLIZE_LACKS_DEBUG 1U     /* its debugging information is in a file of its own */
#define SYMBOLIZE_LACKS_ALTERNATE 2U /* what that shares with other modules is in one more, made by dwz */

struct symbolize_module {
	uint32_t readable; /* 0: not an ELF file that can be read; nothing else is said */
	uint32_t lacks;    /* SYMBOLIZE_LACKS_* */
	uint32_t build_id_bytes, alternate_id_bytes;
	uint32_t has_bias; /* 1: the next is one number for all of its code */
	uint32_t reserved;
	int64_t bias; /* from an offset in the file to the address that its symbols and DWARF mean */
	uint8_t build_id[SYMBOLIZE_BUILD_ID_BYTES];
	uint8_t alternate_id[SYMBOLIZE_BUILD_ID_BYTES]; /* the alternate file's build id */
	char debuglink[SYMBOLIZE_LINK_BYTES];           /* the debug file's name, or "" */
	char alternate[SYMBOLIZE_LINK_BYTES];           /* the alternate file's path, or "" */
};

/* A function at an offset. */
struct symbolize_frame {
	uint32_t name, name_bytes; /* in text. 0 bytes: nothing is known of the function */
	uint32_t file, file_bytes; /* 0 bytes: the source place is not known */
	uint32_t line;             /* 0: not known */
	uint32_t reserved;
	uint64_t function_offset; /* of the offset, from the beginning of the function's code around it */
};

/* The reply to SYMBOLIZE_NAMES and SYMBOLIZE_PERF_MAP. */
struct symbolize_reply {
	uint32_t count; /* offsets answered, from the first on: at least one, where there is a module at hand
			 */
	uint32_t frames_count;
	/* of each of them: its frames, the real function first. One without a name is alone. */
	uint32_t depths[SYMBOLIZE_BATCH];
	struct symbolize_frame frames[SYMBOLIZE_FRAMES_MAX];
	char text[SYMBOLIZE_TEXT_BYTES]; /* only what is used is sent */
};

_Static_assert(SYMBOLIZE_DEPTH * 2 * SYMBOLIZE_NAME_BYTES <= SYMBOLIZE_TEXT_BYTES, "an offset may not fit");
_Static_assert(SYMBOLIZE_DEPTH <= SYMBOLIZE_FRAMES_MAX, "an offset may not fit");

#define SYMBOLIZE_REQUEST_BYTES(count)                                                                       \
	(offsetof(struct symbolize_request, offsets) + (count) * sizeof(uint64_t))

#endif
