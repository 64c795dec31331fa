/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * canary.h owns the proof that this kernel does what bourdon asks of it: the real programs, loaded and
 * attached without a pin, see a process of ours appear and sample it once. Nothing is left of it afterwards.
 */
#ifndef BOURDON_LOADER_CANARY_H
#define BOURDON_LOADER_CANARY_H

#include "common/findings.h"

/* Adds a finding for each layer, up to the first that fails. Takes half a second, three at most. */
void canary_run(unsigned int hz, struct findings *findings);

#endif
