/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/judged.h"

#include "report/model/query.h"

#include <errno.h>

int judged_load(struct database *database, int64_t capture_id, struct judged *ret_judged)
{
	struct judged judged;
	int result = verdict_facts_load(database->sqlite, capture_id, &judged.facts);

	if (result == -ENOMEM)
		return result;
	if (result < 0) {
		database_fail(database);
		return -EIO;
	}
	judged.verdict = verdict_judge(&judged.facts);
	*ret_judged = judged;
	return 0;
}

void judged_free(struct judged *judged)
{
	verdict_facts_free(&judged->facts);
}

int judged_headline(struct database *database, int64_t capture_id, char into[VERDICT_TEXT_BYTES])
{
	_cleanup_query_ struct query query =
		query_begin(database, "SELECT 1 FROM capture WHERE capture_id = ?1 AND verdict IS NOT NULL",
			    capture_id, 0);
	_cleanup_judged_ struct judged judged = { 0 };
	int result = 0;

	*into = '\0';
	if (!query_next(&query))
		return database->failed ? -EIO : 0;
	result = judged_load(database, capture_id, &judged);
	if (!result)
		verdict_headline_text(&judged.facts, &judged.verdict, into);
	return result;
}
