/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/fair_share.h"

#include "common/base/numbers.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return COMPARE(left, right);
}

uint64_t fair_share(uint64_t *wanted, size_t count, uint64_t limit)
{
	qsort(wanted, count, sizeof(*wanted), compare);
	for (size_t i = 0; i < count; i++) {
		uint64_t share = limit / (count - i);

		if (wanted[i] > share)
			return share;
		limit -= wanted[i];
	}
	return UINT64_MAX;
}
