/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h owns the names of the in-kernel counters (abi.h), as shown in status, logs and the database.
 */
#ifndef BOURDON_COMMON_PROTOCOL_COUNTERS_H
#define BOURDON_COMMON_PROTOCOL_COUNTERS_H

#include "common/abi/abi.h"

#include <stdint.h>

extern const char *const counter_names[COUNTERS];

/* Reads the map and sums each counter over all CPUs. Returns 0 or -errno. */
int counters_read(int map_fd, uint64_t ret_values[COUNTERS]);

#endif
