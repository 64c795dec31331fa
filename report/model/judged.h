/* SPDX-License-Identifier: GPL-2.0-only */
/* judged.h owns a capture's verdict as this version of bourdon gives it: its rows are judged again, whatever was stored. */
#ifndef BOURDON_REPORT_MODEL_JUDGED_H
#define BOURDON_REPORT_MODEL_JUDGED_H

#include "common/verdict/verdict.h"
#include "report/model/database.h"

struct judged {
	struct verdict_facts facts;
	struct verdict verdict; /* points into the facts */
};

/* Returns 0; -ENOMEM; or -EIO, the reason was logged, and database->failed is set. Free it after 0 alone. */
int judged_load(struct database *database, int64_t capture_id, struct judged *ret_judged);

/* Accepts one that is zeroed. */
void judged_free(struct judged *judged);
#define _cleanup_judged_ _cleanup_(judged_free)

/*
 * What verdict_headline_text() says of a capture that has a verdict; "" of one that is being recorded, or is a baseline. Writes
 * into `into`, and returns as judged_load() does.
 */
int judged_headline(struct database *database, int64_t capture_id, char into[VERDICT_TEXT_BYTES]);

#endif
