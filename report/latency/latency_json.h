/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_json.h owns the JSON of `bourdon latency`: docs/LATENCY.md has its members. */
#ifndef BOURDON_REPORT_LATENCY_LATENCY_JSON_H
#define BOURDON_REPORT_LATENCY_LATENCY_JSON_H

#include "report/latency/latency_choice.h"

#include <stdio.h>

/* Writes the array of the chosen metrics: an element for each metric and span. Returns 0 or -ENOMEM. */
int latency_write_json(FILE *out, const struct latency_choice *choice, const struct latencies *latencies);

#endif
