/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resolve.h owns the way from addresses to places: which module a frame lies in and at which offset. What is
 * there naming.h finds out. It runs on the store thread, after a capture has ended.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_RESOLVE_H
#define BOURDON_CONSUMER_SYMBOLS_RESOLVE_H

#include "common/manifest.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/kernel_symbols.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/naming.h"
#include "consumer/symbols/resolved.h"

/*
 * Resolves all stacks of a capture. A stack ends at its first user frame that lies in no mapping of the
 * process: what a walk by frame pointers finds behind it is made up by whoever uses the register otherwise.
 * Names that are not there at `deadline_ns` (CLOCK_MONOTONIC) are not waited for. 0 or -ENOMEM. The caller
 * frees with resolved_free().
 */
int resolve_capture(const struct capture *capture, const struct mappings *mappings,
		    const struct kernel_symbols *symbols, const struct manifest *manifest,
		    const struct naming *naming, uint64_t deadline_ns, struct resolved *ret_resolved);

#endif
