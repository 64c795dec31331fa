/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_screen.h owns the live screen of `bourdon latency --live`: the text of an interval, and those of the last minutes. */
#ifndef BOURDON_REPORT_LATENCY_LATENCY_SCREEN_H
#define BOURDON_REPORT_LATENCY_LATENCY_SCREEN_H

#include "report/context/report.h"
#include "report/daemon/live_lines.h"
#include "report/latency/latency_choice.h"
#include "report/latency/latency_lines.h"

/* Shows intervals until a person ends it, or bourdond does. 0; or -errno, and -ECANCELED: the reason was logged. */
int latency_screen_run(struct report *report, const struct latency_choice *choice, struct live_lines *lines);

#endif
