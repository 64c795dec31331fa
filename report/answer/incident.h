/* SPDX-License-Identifier: GPL-2.0-only */
/* incident.h owns what `bourdon why` says of incidents: a remark on a capture's own, and the report on a whole one. */
#ifndef BOURDON_REPORT_ANSWER_INCIDENT_H
#define BOURDON_REPORT_ANSWER_INCIDENT_H

#include "report/context/report.h"
#include "report/model/query.h"

/*
 * A row for each resource of the incident of capture ?1, in the order in which they came. None if the capture is its only
 * one.
 */
extern const char incident_remark_sql[];

/* Prints these rows as one sentence, with the verdict. */
void incident_print_remark(const struct layout *layout, struct query *query);

/* Finds an incident: the one of this ID; if it is negative, the newest. Returns false, and the reason was logged, without one. */
bool incident_choose(struct database *database, int64_t wanted, int64_t *ret_incident_id);

/* Explains the incident as a whole, as text or JSON. */
void incident_print(struct report *report, int64_t incident_id);

#endif
