/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pieces.h owns finding which piece of code an address lies in: of those that hold it the innermost, which is
 * the one that begins last.
 */
#ifndef BOURDON_SYMBOLIZER_PIECES_H
#define BOURDON_SYMBOLIZER_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct piece {
	uint64_t begins, ends;
	uint64_t reaches; /* the last end of this piece and of all before it */
	uint64_t owner;   /* whatever the caller knows it by */
};

struct pieces {
	struct piece *list;
	size_t count, room;
};

/* 0 or -ENOMEM. An empty piece is none. */
int pieces_add(struct pieces *pieces, uint64_t begins, uint64_t ends, uint64_t owner);

/* After the last was added, before the first is looked for. */
void pieces_sort(struct pieces *pieces);

/* NULL where no piece holds the address. Of equal ones the one with the smallest owner. */
const struct piece *pieces_find(const struct pieces *pieces, uint64_t address);

void pieces_free(struct pieces *pieces);

#endif
