/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * go_functions.h reads .gopclntab, by which a Go program knows its own code, and which strip leaves in the file: for an address
 * the function, the functions inlined into it, and the source places of all of them. The bytes are a file's, and may be anything.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_GO_FUNCTIONS_H
#define BOURDON_COMMON_SYMBOLIZER_GO_FUNCTIONS_H

#include "common/symbolizer/protocol.h"
#include "common/symbolizer/source_frame.h"
#include "common/symbolizer/span.h"

#include <stdbool.h>
#include <string.h>

struct go_bytes {
	const uint8_t *at;
	uint64_t count;
};

/* Reads the number of `width` bytes, 8 at most, at a position. Returns false if it is not within the bytes. */
static inline bool go_bytes_number(struct go_bytes bytes, uint64_t at, unsigned int width,
				   uint64_t *ret_number)
{
	uint64_t number = 0;

	if (at > bytes.count || width > bytes.count - at)
		return false;
	memcpy(&number, bytes.at + at, width);
	*ret_number = number;
	return true;
}

/* The releases of Go that changed the table. */
enum go_layout {
	GO_1_2 = 0,
	GO_1_16,
	GO_1_18, /* addresses are relative to `text` */
	GO_1_20,
};

/* Points into the bytes that it was opened with. */
struct go_functions {
	enum go_layout layout;
	unsigned int word;    /* bytes of an address: 4 or 8 */
	unsigned int quantum; /* bytes of the shortest instruction */
	uint64_t count;
	struct go_bytes all;
	struct go_bytes names, units, files, values, records; /* parts of `all` */
	struct go_bytes entries; /* of each function its address and its record */
	/* From here on the caller's, who finds it in the program. */
	uint64_t text;
	struct go_bytes trees; /* go.func.*, where inlined functions are. None: they are not named */
	struct go_bytes code;  /* the program's, from `text` on */
};

/* A function and its frame. */
struct go_function {
	const char *name; /* NULL: none */
	uint64_t begins, bytes;
	bool is_top;    /* the first function of its stack: it has no caller */
	bool is_moving; /* it moves the stack pointer to another stack, of which its frame says nothing */
	struct go_bytes depths; /* for go_functions_depth() */
	uint32_t quantum;
};

#define GO_HEADER_BYTES 8U /* by which a table is recognised */

/* True if a table may begin with these GO_HEADER_BYTES bytes. */
bool go_functions_begin(const uint8_t *bytes);

/*
 * SYMBOLIZER: reads the header of the table that these bytes begin with; more bytes may follow it. Returns 0, or -EBADMSG: it is
 * of no known layout, or damaged.
 */
int go_functions_open(struct go_functions *ret_functions, const uint8_t *bytes, uint64_t count);

/* Returns the address of a function as the table has it, before `text` is added; for number `count` the end of the last one. */
uint64_t go_functions_entry(const struct go_functions *functions, uint64_t number);

/* Returns where in the table the address is that text begins at, or 0 if the table has none. The file may have 0 there. */
uint64_t go_functions_text_at(const struct go_functions *functions);

/*
 * SYMBOLIZER: describes a function by its number. Returns false if its entry is damaged or the table is older than Go 1.18, where
 * functions do not say so much.
 */
bool go_functions_get(const struct go_functions *functions, uint64_t number,
		      struct go_function *ret_function);

/*
 * SYMBOLIZER: gives in turn how far below the return address the stack pointer is (runtime, pcsp): `depth` bytes, up to the byte
 * `ends` of the function. Both are 0 before the first call. Returns false at the end of the table.
 */
bool go_functions_depth(struct go_function *function, uint64_t *ends, int32_t *depth);

/*
 * SYMBOLIZER: as dwarf_frames_find(): finds the functions at the address, outermost first. Returns their number. Of damaged
 * entries it names nothing. Where several functions are inlined into each other, `begins` of each is where the innermost begins:
 * the table does not say more. Narrows the span to addresses where it finds the same.
 */
uint32_t go_functions_find(const struct go_functions *functions, uint64_t address,
			   struct source_frame ret_frames[SYMBOLIZE_DEPTH], struct span *span);

#endif
