/* SPDX-License-Identifier: GPL-2.0-only */
/* certainty.h owns how sure a verdict is and why it is not surer, and whether the shortage goes on, as far as the database tells. */
#ifndef BOURDON_REPORT_CERTAINTY_H
#define BOURDON_REPORT_CERTAINTY_H

#include "report/answer_facts.h"

/* Sets `still`, `certain` and `certainty`. Returns 0; -ENOMEM; or -EIO after a query that failed. */
int certainty_find(struct answer *answer);

#endif
