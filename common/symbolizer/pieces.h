/* SPDX-License-Identifier: GPL-2.0-only */
/* pieces.h finds the innermost address range that contains an address: the one that begins last. */
#ifndef BOURDON_COMMON_SYMBOLIZER_PIECES_H
#define BOURDON_COMMON_SYMBOLIZER_PIECES_H

#include "common/symbolizer/span.h"

#include <stddef.h>
#include <stdint.h>

struct piece {
	uint64_t begins, ends;
	uint64_t reaches; /* highest end of this piece and all before it */
	uint64_t owner;   /* chosen by the caller */
};

struct pieces {
	struct piece *list;
	size_t count, room;
};

/* Adds a piece; ignores an empty one. Returns 0 or -ENOMEM. */
int pieces_add(struct pieces *pieces, uint64_t begins, uint64_t ends, uint64_t owner);

/* Call after the last pieces_add() and before the first pieces_find(). */
void pieces_sort(struct pieces *pieces);

/*
 * Returns NULL if no piece contains the address. Of equal pieces, returns the one with the smallest owner. Narrows the span to
 * addresses of which this is true, too.
 */
const struct piece *pieces_find(const struct pieces *pieces, uint64_t address, struct span *span);

void pieces_free(struct pieces *pieces);

#endif
