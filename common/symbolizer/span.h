/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * span.h says how far an answer holds. Whoever looks for what an address belongs to narrows the span by every range that it
 * compares with the address; then all of the span's addresses have the same answer.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_SPAN_H
#define BOURDON_COMMON_SYMBOLIZER_SPAN_H

#include <stdint.h>

/* From `begins` up to, not including, `ends`. */
struct span {
	uint64_t begins, ends;
};

#define SPAN_ALL ((struct span){ 0, UINT64_MAX })

/* SYMBOLIZER: leaves the addresses within the range if it contains this one, else those on the same side of the range. */
static inline void span_narrow(struct span *span, uint64_t address, uint64_t begins, uint64_t ends)
{
	uint64_t from = address < begins ? 0 : address < ends ? begins : ends;
	uint64_t to = address < begins ? begins : address < ends ? ends : UINT64_MAX;

	if (from > span->begins)
		span->begins = from;
	if (to < span->ends)
		span->ends = to;
}

/* SYMBOLIZER: where what was read is damaged, an answer is one address's only. */
static inline void span_narrow_to(struct span *span, uint64_t address)
{
	*span = (struct span){ address, address + 1 };
}

#endif
