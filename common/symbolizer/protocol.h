/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * protocol.h defines the messages between the consumer and the symbolizer on a SOCK_SEQPACKET socket: a
 * request, with a file descriptor attached if it concerns a file, and its reply. Both sides check every
 * field. The symbolizer keeps one module open, so that a large file is not opened for each batch of offsets.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_PROTOCOL_H
#define BOURDON_COMMON_SYMBOLIZER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOLIZE_BATCH 64U
#define SYMBOLIZE_DEPTH 32U         /* functions at one offset: the real one and those inlined */
#define SYMBOLIZE_FRAMES_MAX 512U   /* in one reply */
#define SYMBOLIZE_TEXT_BYTES 49152U /* the whole reply must fit into one message of the socket */
#define SYMBOLIZE_NAME_BYTES 767U   /* longer names are truncated, longer paths omitted */
#define SYMBOLIZE_SPAN_MAX (1U << 30)
#define SYMBOLIZE_BUILD_ID_BYTES 32U
#define SYMBOLIZE_LINK_BYTES 256U

/* symbolize_request.kind */
#define SYMBOLIZE_NAMES 1U      /* names at these offsets of the current module */
#define SYMBOLIZE_TABLE 2U      /* unwind table of the attached file; for the reply see table_stream.h */
#define SYMBOLIZE_MODULE 3U     /* the attached ELF file becomes the current module */
#define SYMBOLIZE_DEBUG_FILE 4U /* the attached file may be one that the module lacks */
/* as SYMBOLIZE_NAMES, for virtual addresses: a debug file alone has no offsets */
#define SYMBOLIZE_ADDRESSES 6U
#define SYMBOLIZE_PERF_MAP 5U /* names at these addresses in the attached perf map */

struct symbolize_request {
	uint32_t kind; /* SYMBOLIZE_* */
	uint32_t count;
	uint64_t offsets[SYMBOLIZE_BATCH]; /* file offsets, or addresses */
};

/* Reply to SYMBOLIZE_MODULE and SYMBOLIZE_DEBUG_FILE: the module, and what it still lacks. */
#define SYMBOLIZE_LACKS_DEBUG 1U     /* its debugging information is in a separate file */
#define SYMBOLIZE_LACKS_ALTERNATE 2U /* the part shared with other modules is in another file, made by dwz */

struct symbolize_module {
	uint32_t readable; /* 0: not a readable ELF file; the other fields are 0 */
	uint32_t lacks;    /* SYMBOLIZE_LACKS_* */
	uint32_t build_id_bytes, alternate_id_bytes;
	uint32_t has_bias; /* 1: `bias` holds for all of its code */
	uint32_t reserved;
	int64_t bias; /* added to a file offset, gives the address that its symbols and DWARF use */
	uint8_t build_id[SYMBOLIZE_BUILD_ID_BYTES];
	uint8_t alternate_id[SYMBOLIZE_BUILD_ID_BYTES]; /* build id of the alternate file */
	char debuglink[SYMBOLIZE_LINK_BYTES];           /* name of the debug file, or "" */
	char alternate[SYMBOLIZE_LINK_BYTES];           /* path of the alternate file, or "" */
};

/* A function at an offset. */
struct symbolize_frame {
	uint32_t name, name_bytes; /* position and size in `text`; 0 bytes: unknown */
	uint32_t file, file_bytes; /* 0 bytes: unknown */
	uint32_t line;             /* 0: unknown */
	uint32_t reserved;
	uint64_t function_offset; /* distance from the start of the function's code range */
};

/* Reply to SYMBOLIZE_NAMES, SYMBOLIZE_ADDRESSES and SYMBOLIZE_PERF_MAP. */
struct symbolize_reply {
	uint32_t count; /* answered offsets, from the first on; at least one if there is a current module */
	uint32_t frames_count;
	/* number of frames of each offset, the real function first; an unnamed function is the only frame */
	uint32_t depths[SYMBOLIZE_BATCH];
	/*
	 * For how many bytes before the offset, and from it on, all of this is true, with another function_offset. Both 0: not
	 * known, as in a perf map. Otherwise `after` includes the offset's own byte.
	 */
	uint32_t before[SYMBOLIZE_BATCH], after[SYMBOLIZE_BATCH];
	struct symbolize_frame frames[SYMBOLIZE_FRAMES_MAX];
	char text[SYMBOLIZE_TEXT_BYTES]; /* only the used part is sent */
};

_Static_assert(SYMBOLIZE_DEPTH * 2 * SYMBOLIZE_NAME_BYTES <= SYMBOLIZE_TEXT_BYTES, "an offset may not fit");
_Static_assert(SYMBOLIZE_DEPTH <= SYMBOLIZE_FRAMES_MAX, "an offset may not fit");

#define SYMBOLIZE_REQUEST_BYTES(count)                                                                       \
	(offsetof(struct symbolize_request, offsets) + (count) * sizeof(uint64_t))

#endif
