/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resolve.h converts addresses into frames: the module that contains the address, and the offset in it.
 * naming.h then finds the names. Runs on the worker thread after a capture has ended.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_RESOLVE_H
#define BOURDON_CONSUMER_SYMBOLS_RESOLVE_H

#include "common/protocol/manifest.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/kernel_symbols.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/naming.h"
#include "consumer/symbols/resolved.h"

/*
 * Resolves all stacks of a capture. A stack ends at its first user frame outside the process's mappings:
 * frame-pointer unwinding beyond it is meaningless, because the program uses the register otherwise. Does not
 * wait for names after `deadline_ns` (CLOCK_MONOTONIC). Where the capture has samples from before and after something was replaced
 * at an address, gives those of each scan a stack of their own. Returns 0 or -ENOMEM. The caller frees with resolved_free().
 */
int resolve_capture(struct capture *capture, const struct mappings *mappings,
		    const struct kernel_symbols *symbols, const struct manifest *manifest,
		    const struct naming *naming, uint64_t deadline_ns, struct resolved *ret_resolved);

#endif
