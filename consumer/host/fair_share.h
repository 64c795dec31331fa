/* SPDX-License-Identifier: GPL-2.0-only */
/* fair_share.h divides a limit among those who want parts of it (max-min fairness). */
#ifndef BOURDON_CONSUMER_HOST_FAIR_SHARE_H
#define BOURDON_CONSUMER_HOST_FAIR_SHARE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the largest share such that the parts, each cut to it, add up to at most `limit`; UINT64_MAX if they
 * do uncut. So whoever wants less than the share gets all of it. Sorts `wanted`.
 */
uint64_t fair_share(uint64_t *wanted, size_t count, uint64_t limit);

#endif
