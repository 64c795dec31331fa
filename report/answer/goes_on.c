/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/goes_on.h"

#include "common/text/plural.h"
#include "report/model/query.h"
#include "report/text/time_text.h"

#include <inttypes.h>
#include <string.h>

/* The incident's capture that is still recorded: this one, or the newest. */
static const char recording_sql[] =
	"SELECT capture_id FROM capture WHERE state = 'recording' AND (capture_id = ?1 OR incident_id = "
	"(SELECT incident_id FROM capture WHERE capture_id = ?1)) ORDER BY capture_id = ?1 DESC, capture_id DESC LIMIT 1";

/* Later captures by the same rule on the same resource, or of the same incident. The index of times finds them. */
static const char again_sql[] =
	"SELECT o.capture_id, ifnull(o.resource, ifnull(o.latency_metric, 'a kill')) AS resource, o.triggered_at, o.rule = t.rule AND o.resource IS t.resource AND o.latency_metric IS t.latency_metric AS same, "
	"count(*) OVER () AS captures FROM capture t JOIN capture o ON o.triggered_at > t.triggered_at "
	"AND o.trigger_mode <> 'baseline' AND (o.rule = t.rule AND o.resource IS t.resource AND o.latency_metric IS t.latency_metric OR o.incident_id = t.incident_id) "
	"WHERE t.capture_id = ?1 ORDER BY same DESC, o.triggered_at DESC LIMIT 1";

/* How much of its last second the pressure that fired grew. */
static const char last_second_sql[] =
	"SELECT 1000.0 * (max(v) - min(v)) / nullif(max(at) - min(at), 0) AS part, max(at) AS until FROM ("
	"SELECT p.at, iif(c.kind = 'full', p.full_us, p.some_us) AS v, max(p.at) OVER () AS last FROM capture c "
	"JOIN pressure p USING(capture_id) WHERE c.capture_id = ?1 AND p.resource = c.resource "
	"AND p.scope = ifnull(c.cgroup, 'system')) WHERE at >= last - 1000000000";

/* The shortage is over where the last second had less of it. */
#define OVER_PERCENT 1.0

/* Each stores a text, and returns a word; NULL: it has nothing to say. */

static const char *say_recording(struct answer *answer, const char **ret_text)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, recording_sql, answer->report->capture_id, 0);
	int64_t id;

	if (!query_next(&query))
		return NULL;
	id = query_number(&query, "capture_id");
	*ret_text = id == answer->report->capture_id
			    ? "yes, unless bourdond died: this capture is being recorded"
			    : answer_say(answer,
					 "yes, unless bourdond died: capture %" PRId64
					 " of its incident is recorded",
					 id);
	return "yes";
}

static const char *say_again(struct answer *answer, const char **ret_text)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, again_sql, answer->report->capture_id, 0);
	char when[TIME_TEXT_BYTES];
	int64_t captures, id;

	if (!query_next(&query))
		return NULL;
	time_text_write(query_number(&query, "triggered_at"), when);
	id = query_number(&query, "capture_id");
	if (!query_number(&query, "same")) {
		*ret_text = answer_say(answer, "it went on as %.8s, %s, capture %" PRId64 " of its incident",
				       query_text(&query, "resource"), when, id);
		return "went on";
	}
	captures = query_number(&query, "captures");
	*ret_text = answer_say(answer, "it came back %" PRId64 " %s, last at %s (capture %" PRId64 ")",
			       captures, plural((uint64_t)captures, "time", "times"), when, id);
	return "came back";
}

static const char *say_at_end(struct answer *answer, const char **ret_text)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, last_second_sql, answer->report->capture_id, 0);
	char when[TIME_TEXT_BYTES];
	const char *until;
	double percent;

	*ret_text = "not known: the database has nothing later";
	if (!answer->has_ended || !answer->resource)
		return "not known";
	/* the day is that of the line before */
	until = time_text_write(answer->ended_at, when) + strlen("2026-11-25T");
	percent = query_next(&query) && !query_is_null(&query, "part") ? 100 * query_real(&query, "part")
								       : -1;
	if (percent >= OVER_PERCENT)
		*ret_text = answer_say(answer,
				       "not known since %s; stalled %.0f %% of the second before that", until,
				       percent > 100 ? 100 : percent);
	else if (percent < 0)
		*ret_text = answer_say(answer, "not known: the database has nothing later than %s", until);
	else
		*ret_text = answer_say(answer, "no: over by %s, when the capture ended; none since", until);
	return percent >= 0 && percent < OVER_PERCENT ? "over" : "not known";
}

int goes_on_find(struct answer *answer, const char **ret_word, const char **ret_text)
{
	const char *word = say_recording(answer, ret_text);

	if (!word)
		word = say_again(answer, ret_text);
	if (!word)
		word = say_at_end(answer, ret_text);
	*ret_word = word;
	return answer->report->database->failed ? -EIO : *ret_text ? 0 : -ENOMEM;
}
