/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * canary.h owns the proof that this kernel can run bourdon: it loads and attaches the real programs without
 * pinning them, starts a process of its own, and waits until that process is matched and sampled. It leaves
 * nothing behind.
 */
#ifndef BOURDON_LOADER_CANARY_H
#define BOURDON_LOADER_CANARY_H

#include "common/findings.h"

/* Adds one finding for each step, up to the first that fails. Takes 0.5 s, at most 3 s. */
void canary_run(unsigned int hz, struct findings *findings);

#endif
