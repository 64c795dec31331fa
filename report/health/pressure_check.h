/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pressure_check.h owns the doctor's check that the kernel counts pressure: whoever reads a pressure file more often than the kernel
 * ticks makes it count none, for everybody (collect_percpu_times() in kernel/sched/psi.c). So two threads want one CPU for a third of
 * a second: one of them waits all the time, as their own schedstat says, too.
 */
#ifndef BOURDON_REPORT_HEALTH_PRESSURE_CHECK_H
#define BOURDON_REPORT_HEALTH_PRESSURE_CHECK_H

#include "common/system/findings.h"

void pressure_check(struct findings *findings);

#endif
