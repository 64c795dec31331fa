/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loaded.h owns the doctor's check of what bourdon-load left: the manifest, the pins, the heartbeat and the
 * counters of the BPF programs.
 */
#ifndef BOURDON_REPORT_HEALTH_LOADED_H
#define BOURDON_REPORT_HEALTH_LOADED_H

#include "common/kernel/requirements.h"
#include "common/system/findings.h"

/* Adds its findings; GRADE_UNKNOWN for what this user may not read. */
void loaded_check(const struct machine *machine, const char *run_dir, struct findings *findings);

#endif
