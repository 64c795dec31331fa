/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * states.h owns what `why` says of the states of threads: how many threads of targets were in D, waited for a CPU or ran, in
 * which function, and how many of others waited; on average of all looks, and by second.
 */
#ifndef BOURDON_REPORT_ANSWER_STATES_H
#define BOURDON_REPORT_ANSWER_STATES_H

#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/text/layout.h"

/*
 * The largest groups of the capture, those of targets first; none for a capture without looks. Texts are kept by the
 * profile. Returns 0, -ENOMEM, or -EIO after a query that failed. The caller frees the rows.
 */
int states_of(struct profile *profile, struct database *database, int64_t capture_id, struct rows *ret_rows);

/* Prints these rows; the query stands on the first one. */
void states_print(const struct layout *layout, struct query *query);

#endif
