/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_live.h owns `bourdon latency --live`: it asks bourdond for latencies, and shows each interval as text, JSON or on a screen. */
#ifndef BOURDON_REPORT_LATENCY_LATENCY_LIVE_H
#define BOURDON_REPORT_LATENCY_LATENCY_LIVE_H

#include "report/context/report.h"
#include "report/latency/latency_choice.h"

struct latency_live_choice {
	struct latency_choice choice; /* is_live */
	bool once;                    /* one interval, and the end */
	const char *no_color;
};

/* Shows intervals until a person or bourdond ends it. report->unwell: it failed, and the reason was logged. */
void latency_live_show(struct report *report, const struct latency_live_choice *live);

#endif
