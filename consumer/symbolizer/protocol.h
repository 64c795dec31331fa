/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * protocol.h owns what the consumer and the symbolizer say to each other over a SOCK_SEQPACKET socket: a
 * request with an ELF file's descriptor beside it, and its reply. Both sides check all of it.
 */
#ifndef BOURDON_SYMBOLIZER_PROTOCOL_H
#define BOURDON_SYMBOLIZER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOLIZE_BATCH 64U
#define SYMBOLIZE_NAMES_BYTES 49152U /* with the rest below what a socket takes in one message */
#define SYMBOLIZE_NAME_BYTES 767U    /* a longer name is cut */
#define SYMBOLIZE_BUILD_ID_BYTES 32U

/* What a request asks of the file beside it. */
#define SYMBOLIZE_NAMES 1U
#define SYMBOLIZE_TABLE 2U /* without offsets; answered as table_stream.h says */

struct symbolize_request {
	uint32_t kind; /* SYMBOLIZE_* */
	uint32_t count;
	uint64_t offsets[SYMBOLIZE_BATCH]; /* in the file */
};

struct symbolize_name {
	uint32_t at;              /* in names */
	uint32_t bytes;           /* 0: no symbol covers the offset */
	uint64_t function_offset; /* of the offset, from the symbol's beginning */
};

struct symbolize_reply {
	uint32_t count; /* as in the request; 0: not an ELF file that can be read */
	uint32_t build_id_bytes;
	uint8_t build_id[SYMBOLIZE_BUILD_ID_BYTES];
	struct symbolize_name symbols[SYMBOLIZE_BATCH];
	char names[SYMBOLIZE_NAMES_BYTES]; /* only what is used is sent */
};

_Static_assert(SYMBOLIZE_BATCH *SYMBOLIZE_NAME_BYTES <= SYMBOLIZE_NAMES_BYTES, "a reply may not fit");

#define SYMBOLIZE_REQUEST_BYTES(count)                                                                       \
	(offsetof(struct symbolize_request, offsets) + (count) * sizeof(uint64_t))

#endif
