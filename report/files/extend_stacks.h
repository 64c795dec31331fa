/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * extend_stacks.h owns what a new name changes in the tree of stored stacks (stack_node): the functions that were found
 * inlined at an address go behind its frame wherever it is, and the depths and hashes of the stacks with it follow.
 */
#ifndef BOURDON_REPORT_FILES_EXTEND_STACKS_H
#define BOURDON_REPORT_FILES_EXTEND_STACKS_H

#include <sqlite3.h>
#include <stdint.h>

/* A frame with a new name, and a function inlined there; a frame with several has as many elements. */
struct frame_extension {
	int64_t frame_id;
	int64_t inner_id; /* 0: nothing is inlined there */
};

/*
 * Changes all stacks with one of these frames, which are sorted by frame_id, and of one frame from the outer function to
 * the innermost. Nodes keep their ids and their first frames, so the tree keeps its form: no two children of a node begin
 * with the same frame. Nodes that do not lead to an outermost frame, that are no JSON arrays of numbers, or that are
 * deeper than any stack stay as they are, with all below them. bourdond writes no such nodes; *ret_damaged counts those
 * that were met.
 *
 * The caller has begun a transaction. The memory used does not depend on the number of stacks. Returns 0; -ENOMEM; or
 * -EIO, and sqlite3_errmsg() tells why.
 */
int extend_stacks(sqlite3 *sqlite, const struct frame_extension *extensions, uint32_t count,
		  uint64_t *ret_damaged);

#endif
