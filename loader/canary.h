/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * canary.h owns the proof that this kernel can run bourdon: it loads and attaches the real programs without
 * pinning them, starts a process of its own, and waits until that process is matched and sampled. It leaves
 * nothing behind.
 */
#ifndef BOURDON_LOADER_CANARY_H
#define BOURDON_LOADER_CANARY_H

#include "common/system/findings.h"

#include <stdint.h>

/*
 * What it means that a process has not been matched or sampled at this rate, after it ran so long of the time that was waited:
 * GRADE_FAILED: it ran long enough. GRADE_UNKNOWN: it got too little CPU time, and has waited long enough for it.
 * GRADE_OK: nothing yet.
 */
enum grade canary_judge(unsigned int hz, uint64_t ran_ns, uint64_t waited_ns);

/*
 * Adds one finding for each step, up to the first that is not good. Waits until the process has received the CPU time of 20
 * samples, 0.4 s at 47 Hz, and on a busy machine for 10 s a step, after which a finding is GRADE_UNKNOWN.
 */
void canary_run(unsigned int hz, struct findings *findings);

#endif
