/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_key.h owns the identity of a process: the process id, which the kernel gives to others later, and the time at which the
 * process started. Structures that begin with these two members, and have no padding behind them, are found by it
 * (HASH_KEYS_BEFORE()).
 */
#ifndef BOURDON_COMMON_BASE_PROCESS_KEY_H
#define BOURDON_COMMON_BASE_PROCESS_KEY_H

#include "common/base/hash_index.h"

struct process_key {
	uint64_t started_ns;
	uint32_t tgid;
};

#endif
