/* SPDX-License-Identifier: GPL-2.0-only */
/* The section of `why` about latencies that became longer. */
#include "report/latency/latency_growth.h"
#include "report/why/section.h"

static int compute_latency(struct why *why, struct rows *ret_rows)
{
	int result = 0;

	latencies_free(&why->latencies);
	result = latencies_load(why->report->database, why->report->capture_id, &why->latencies);
	return result ? result : latency_growth_rows(&why->latencies, ret_rows);
}

const struct section latency_section = {
	.name = "latency",
	.shows = "which waits grew most against the time before",
	.compute = compute_latency,
	.print = latency_growth_print,
};
