/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/answer_find.h"

#include "common/base/cleanup.h"
#include "report/answer/answer_lines.h"
#include "report/answer/goes_on.h"
#include "report/answer/remedy.h"
#include "report/model/query.h"
#include "report/text/column_text.h"
#include "report/text/format.h"

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

static int keep_latency(struct answer *answer, const struct query *query)
{
	char text[FORMAT_BYTES];

	if (query_is_null(query, "latency_metric"))
		return 0;
	answer->latency = profile_keep(answer->profile, column_latency(query, text));
	return answer->latency ? 0 : -ENOMEM;
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
	return keep_latency(answer, &query) ? -ENOMEM : keep_texts(answer, &query);
}

static int judge_capture(struct answer *answer)
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

/* What the victim's code is wanted for: for what it waited, "" whatever, NULL: where it ran. */
static const struct {
	bool is_nobodys;
	const char *waits;
} code_of[VERDICT_KINDS] = {
	[VERDICT_LIMIT] = { .waits = "memory" },
	[VERDICT_DEVICE] = { .waits = "io" },
	[VERDICT_OWN_IO] = { .waits = "io" },
	[VERDICT_PEER] = { .waits = "" },
	[VERDICT_STORM] = { .waits = "" },
	[VERDICT_POOL] = { .waits = "" },
	[VERDICT_CONVOY] = { .is_nobodys = true },
	[VERDICT_NETWORK] = { .waits = "" },
	[VERDICT_LOCK] = { .is_nobodys = true },
	[VERDICT_CROWD] = { .is_nobodys = true },
	[VERDICT_INTERRUPTS] = { .is_nobodys = true },
	[VERDICT_STEAL] = { .is_nobodys = true },
};

/* Whom, NULL: all targets; and in what, as above. Returns false: it is nobody's code. */
static bool place_to_find(const struct answer *answer, const struct verdict_who **ret_who,
			  const char **ret_waits)
{
	const struct verdict *verdict = &answer->judged.verdict;
	const char *resource = answer->resource;

	*ret_who = verdict->victim ? &verdict->victim->who : NULL;
	*ret_waits = answer->has_verdict ? code_of[verdict->kind].waits : NULL;
	if (answer->has_verdict &&
	    (verdict->kind == VERDICT_NEIGHBOUR || verdict->kind == VERDICT_NEIGHBOURS)) {
		*ret_who = verdict->blamed_count ? &verdict->blamed[0].party->who : NULL;
		return *ret_who && (*ret_who)->program;
	}
	if (answer->has_verdict &&
	    (verdict->kind == VERDICT_KILL || verdict->kind == VERDICT_MEMORY_SHORTAGE)) {
		if (verdict->grown)
			*ret_who = &verdict->grown->who;
		else
			*ret_waits = "memory";
	}
	if (answer->has_verdict && verdict->kind == VERDICT_UNDETERMINED && resource &&
	    strcmp(resource, "cpu") != 0 && strcmp(resource, "irq") != 0)
		*ret_waits = resource;
	if (*ret_who && !(*ret_who)->program)
		*ret_who = NULL;
	return !answer->has_verdict || !code_of[verdict->kind].is_nobodys;
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
		result = judge_capture(answer);
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
