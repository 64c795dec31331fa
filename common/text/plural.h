/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plural.h owns the number of a noun in messages: "1 rule", "2 rules".
 */
#ifndef BOURDON_COMMON_TEXT_PLURAL_H
#define BOURDON_COMMON_TEXT_PLURAL_H

#include <stdint.h>

/* The form of a noun that goes with `count`: for "%u %s", count, plural(count, "watch", "watches"). */
static inline const char *plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

#endif
