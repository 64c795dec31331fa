/* SPDX-License-Identifier: GPL-2.0-only */
/* blame_kept.h decides which rows of a capture's blame keep their party: those of the others become one for each role. */
#ifndef BOURDON_CONSUMER_CAPTURE_BLAME_KEPT_H
#define BOURDON_CONSUMER_CAPTURE_BLAME_KEPT_H

#include "consumer/capture/blame_rows.h"

/* Makes one row of equal ones, and sorts them: by victim and wait, the largest first. 0 or -ENOMEM. */
int blame_keep(struct blame_rows *rows);

#endif
