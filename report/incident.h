/* SPDX-License-Identifier: GPL-2.0-only */
/* incident.h owns what `bourdon why` says of incidents: a remark on a capture's own, and the report on a whole one. */
#ifndef BOURDON_REPORT_INCIDENT_H
#define BOURDON_REPORT_INCIDENT_H

#include "report/query.h"
#include "report/report.h"

/*
 * A row for each resource of the incident of capture ?1, in the order in which they came. None if the capture is its only
 * one.
 */
extern const char incident_remark_sql[];

/* Prints these rows as one sentence, with the verdict. */
void incident_print_remark(const struct layout *layout, struct query *query);

/* Explains report->incident_id as a whole, as text or JSON. */
void incident_run(struct report *report);

#endif
