/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/pieces.h"

#include "common/base/array.h"
#include "common/base/numbers.h"

int pieces_add(struct pieces *pieces, uint64_t begins, uint64_t ends, uint64_t owner)
{
	if (begins >= ends)
		return 0;
	if (array_make_room(pieces->list, pieces->count, pieces->room, 1U))
		return -ENOMEM;
	pieces->list[pieces->count++] = (struct piece){ .begins = begins, .ends = ends, .owner = owner };
	return 0;
}

/* Of two pieces that begin at one address, the larger comes first: it is the outer one. */
static int compare(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return COMPARE(left->begins, right->begins) ?:
	       COMPARE(right->ends, left->ends) ?:
	       COMPARE(right->owner, left->owner);
}

void pieces_sort(struct pieces *pieces)
{
	uint64_t reaches = 0;

	if (pieces->count)
		qsort(pieces->list, pieces->count, sizeof(*pieces->list), compare);
	for (size_t i = 0; i < pieces->count; i++) {
		if (pieces->list[i].ends > reaches)
			reaches = pieces->list[i].ends;
		pieces->list[i].reaches = reaches;
	}
}

const struct piece *pieces_find(const struct pieces *pieces, uint64_t address, struct span *span)
{
	size_t low = array_partition_point(pieces->count, i, pieces->list[i].begins <= address);

	if (low < pieces->count)
		span_narrow(span, address, pieces->list[low].begins, UINT64_MAX);
	for (; low && pieces->list[low - 1].reaches > address; low--) {
		const struct piece *piece = &pieces->list[low - 1];

		span_narrow(span, address, piece->begins, piece->ends);
		if (piece->ends > address)
			return piece;
	}
	if (low)
		span_narrow(span, address, 0, pieces->list[low - 1].reaches);
	return NULL;
}

void pieces_free(struct pieces *pieces)
{
	free(pieces->list);
	*pieces = (struct pieces){ .list = NULL };
}
