/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_growth.h owns which latencies became longer in a capture than they were before it. */
#ifndef BOURDON_REPORT_LATENCY_LATENCY_GROWTH_H
#define BOURDON_REPORT_LATENCY_LATENCY_GROWTH_H

#include "report/model/latencies.h"
#include "report/model/query.h"
#include "report/model/rows.h"
#include "report/text/layout.h"

/*
 * The LATENCIES_GROWN_MOST labels with the most time more than before, in relation to how long was measured. p99 has doubled, or there
 * was nothing before. Columns: metric, label, count, before_count, p99_ns, before_p99_ns (NULL: nothing happened before), then
 * p99 of what the label's time is made of: of requests to a disk queue_p99_ns and service_p99_ns, of those to a server unread_p99_ns,
 * on_cpu_p99_ns, queued_p99_ns and blocked_p99_ns; is_partial. Their texts are those of `latencies`. Returns 0 or -ENOMEM.
 */
#define LATENCIES_GROWN_MOST 5U
int latency_growth_rows(const struct latencies *latencies, struct rows *ret_rows);

/* The query stands on its first row. */
void latency_growth_print(const struct layout *layout, struct query *query);

#endif
