/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer_find.h"

#include "common/cleanup.h"
#include "report/answer_lines.h"
#include "report/goes_on.h"
#include "report/query.h"
#include "report/remedy.h"

#include <string.h>

/* ---- the capture ---- */

static const char capture_sql[] =
	"SELECT c.*, r.hostname, ifnull(c.onset_at, c.triggered_at - 1000 * c.observed_us) AS began_stall_at "
	"FROM capture c JOIN run r USING(run_id) WHERE c.capture_id = ?1";

/* Keeps the texts of the row. Returns 0 or -ENOMEM. */
static int keep_texts(struct answer *answer, const struct query *query)
{
	const struct {
		const char *column, **text;
	} texts[] = { { "rule", &answer->rule },         { "resource", &answer->resource },
		      { "kind", &answer->kind },         { "cgroup", &answer->cgroup },
		      { "state", &answer->state },       { "hostname", &answer->hostname },
		      { "asked_by", &answer->asked_by }, { "asked_for", &answer->asked_for },
		      { "verdict", &answer->stored } };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (query_is_null(query, texts[i].column))
			continue;
		*texts[i].text = profile_keep(answer->profile, query_text(query, texts[i].column));
		if (!*texts[i].text)
			return -ENOMEM;
	}
	return 0;
}

static int load_capture(struct answer *answer)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, capture_sql, answer->report->capture_id, 0);

	if (!query_next(&query))
		return -EIO;
	answer->triggered_at = query_number(&query, "triggered_at");
	answer->has_ended = !query_is_null(&query, "ended_at");
	answer->ended_at = query_number(&query, "ended_at");
	answer->onset_at = query_number(&query, "began_stall_at");
	answer->is_older = subtract_saturated(answer->triggered_at, answer->onset_at) >=
			   query_number(&query, "history_ns");
	answer->observed_us = query_number(&query, "observed_us");
	answer->stall_us = query_number(&query, "stall_us");
	answer->window_us = query_number(&query, "window_us");
	answer->stored_version = query_number(&query, "verdict_version");
	return keep_texts(answer, &query);
}

static int judge(struct answer *answer)
{
	int result = judged_load(answer->report->database, answer->report->capture_id, &answer->judged);
	const char *word;

	if (result < 0)
		return result;
	answer->has_verdict = answer->judged.facts.fired != FIRED_BASELINE &&
			      strcmp(answer->state ? answer->state : "", "recording") != 0;
	word = verdict_kind_names[answer->judged.verdict.kind];
	if (!answer->has_verdict || (answer->stored && !strcmp(answer->stored, word)))
		answer->stored = NULL;
	return 0;
}

/* ---- where in the code ---- */

/*
 * Whom, and in what: a resource that is waited for, "" for whatever, NULL for running. Stores NULL for all targets. Returns false:
 * it is nobody's code.
 */
static bool place_to_find(const struct answer *answer, const struct verdict_who **ret_who,
			  const char **ret_waits)
{
	const struct verdict *verdict = &answer->judged.verdict;
	const struct verdict_party *named = verdict->blamed_count ? verdict->blamed[0].party : NULL;

	*ret_who = verdict->victim && verdict->victim->who.program ? &verdict->victim->who : NULL;
	*ret_waits = NULL;
	if (!answer->has_verdict)
		return true;
	switch (verdict->kind) {
	case VERDICT_NEIGHBOUR:
	case VERDICT_NEIGHBOURS:
		*ret_who = named ? &named->who : NULL;
		return named && named->who.program;
	case VERDICT_KILL:
	case VERDICT_MEMORY_SHORTAGE:
		if (verdict->grown)
			*ret_who = verdict->grown->who.program ? &verdict->grown->who : NULL;
		else
			*ret_waits = "memory";
		return true;
	case VERDICT_LIMIT:
		*ret_waits = "memory";
		return true;
	case VERDICT_DEVICE:
	case VERDICT_OWN_IO:
		*ret_waits = "io";
		return true;
	case VERDICT_PEER:
	case VERDICT_NETWORK:
		*ret_waits = "";
		return true;
	case VERDICT_UNDETERMINED:
		if (answer->resource && strcmp(answer->resource, "cpu") != 0 &&
		    strcmp(answer->resource, "irq") != 0)
			*ret_waits = answer->resource;
		return true;
	case VERDICT_LOCK:
	case VERDICT_CROWD:
	case VERDICT_INTERRUPTS:
	case VERDICT_STEAL:
		return false;
	default:
		return true;
	}
}

/* A neighbour may be a target, too: of a rule for the whole host all are. */
static int find_place(struct answer *answer)
{
	const struct verdict *verdict = &answer->judged.verdict;
	const struct verdict_who *who;
	bool is_wanted = place_to_find(answer, &who, &answer->place_waits);
	bool is_kernel = is_wanted && verdict->blamed_count && who == &verdict->blamed[0].party->who &&
			 verdict->blamed[0].party->role == ROLE_KERNEL;
	int result;

	if (!is_wanted)
		return 0;
	result = code_place_find(answer->profile, who, is_kernel, answer->place_waits, &answer->place);
	if (!result && answer->place_waits && !answer->place.stacks_count) {
		answer->place_waits = NULL;
		result = code_place_find(answer->profile, who, is_kernel, NULL, &answer->place);
	}
	if (result || !who || answer->place.stacks_count)
		return result;
	if (profile_load(answer->report->database, answer->report->capture_id, PROFILE_OF_OTHERS,
			 &answer->others) < 0)
		return -EIO;
	answer->place_is_others = true;
	return code_place_find(&answer->others, who, is_kernel, NULL, &answer->place);
}

/* ---- all of it ---- */

int answer_find(struct report *report, struct profile *profile, struct answer *answer)
{
	const char *still = NULL;
	int result;

	answer->report = report;
	answer->profile = profile;
	result = load_capture(answer);
	if (!result)
		result = judge(answer);
	if (!result)
		result = find_place(answer);
	if (!result)
		result = goes_on_find(answer, &answer->goes_on, &still);
	if (!result)
		result = remedy_find(answer, &answer->remedy);
	if (!result && !answer_lines_make(answer, still))
		result = -ENOMEM;
	return report->database->failed ? -EIO : result;
}
