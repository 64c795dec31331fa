/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_text.h owns the tables and bars of `bourdon latency`. */
#ifndef BOURDON_REPORT_LATENCY_LATENCY_TEXT_H
#define BOURDON_REPORT_LATENCY_LATENCY_TEXT_H

#include "report/latency/latency_choice.h"
#include "report/text/layout.h"

/*
 * Prints each chosen metric: what became of its events, a table of its labels, and the bars of the first of them, or with `all_bars` of
 * each. choice->span is one span. Returns 0 or -ENOMEM.
 */
int latency_print(const struct layout *layout, struct database *database, const struct latency_choice *choice,
		  bool all_bars, const struct latencies *latencies);

#endif
