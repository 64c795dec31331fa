/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/certainty.h"

#include "common/cleanup.h"
#include "common/plural.h"
#include "report/not_whole.h"
#include "report/query.h"
#include "report/time_text.h"

#include <inttypes.h>
#include <string.h>

/* ---- whether it goes on ---- */

/* The incident's capture that is still recorded: this one, or the newest. */
static const char recording_sql[] =
	"SELECT capture_id FROM capture WHERE state = 'recording' AND (capture_id = ?1 OR incident_id = "
	"(SELECT incident_id FROM capture WHERE capture_id = ?1)) ORDER BY capture_id = ?1 DESC, capture_id DESC LIMIT 1";

/* Later captures by the same rule on the same resource, or of the same incident. The index of times finds them. */
static const char again_sql[] =
	"SELECT o.capture_id, ifnull(o.resource, 'a kill') AS resource, o.triggered_at, o.rule = t.rule AND o.resource IS t.resource AS same, "
	"count(*) OVER () AS captures FROM capture t JOIN capture o ON o.triggered_at > t.triggered_at "
	"AND o.trigger_mode <> 'baseline' AND (o.rule = t.rule AND o.resource IS t.resource OR o.incident_id = t.incident_id) "
	"WHERE t.capture_id = ?1 ORDER BY same DESC, o.triggered_at DESC LIMIT 1";

/* How much of its last second the pressure that fired grew. */
static const char last_second_sql[] =
	"SELECT 1000.0 * (max(v) - min(v)) / nullif(max(at) - min(at), 0) AS part, max(at) AS until FROM ("
	"SELECT p.at, iif(c.kind = 'full', p.full_us, p.some_us) AS v, max(p.at) OVER () AS last FROM capture c "
	"JOIN pressure p USING(capture_id) WHERE c.capture_id = ?1 AND p.resource = c.resource "
	"AND p.scope = ifnull(c.cgroup, 'system')) WHERE at >= last - 1000000000";

/* The shortage is over where the last second had less of it. */
#define OVER_PERCENT 1.0

/* A text; NULL: no memory. *ret_found: whether it says anything. */
static const char *say_recording(struct answer *answer, bool *ret_found)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, recording_sql, answer->report->capture_id, 0);
	int64_t id;

	*ret_found = query_next(&query);
	if (!*ret_found)
		return NULL;
	id = query_number(&query, "capture_id");
	if (id == answer->report->capture_id)
		return answer_say(answer, "yes, unless bourdond died since: this capture is being recorded");
	return answer_say(
		answer,
		"yes, unless bourdond died since: capture %" PRId64 " of its incident is being recorded", id);
}

static const char *say_again(struct answer *answer, bool *ret_found)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, again_sql, answer->report->capture_id, 0);
	char when[TIME_TEXT_BYTES];
	int64_t captures;

	*ret_found = query_next(&query);
	if (!*ret_found)
		return NULL;
	if (!query_number(&query, "same"))
		return answer_say(answer, "it went on as %s, %s, capture %" PRId64 " of its incident",
				  query_text(&query, "resource"),
				  time_text_write(query_number(&query, "triggered_at"), when),
				  query_number(&query, "capture_id"));
	captures = query_number(&query, "captures");
	return answer_say(answer, "it came back %" PRId64 " %s, last at %s (capture %" PRId64 ")", captures,
			  plural((uint64_t)captures, "time", "times"),
			  time_text_write(query_number(&query, "triggered_at"), when),
			  query_number(&query, "capture_id"));
}

static const char *say_at_end(struct answer *answer)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, last_second_sql, answer->report->capture_id, 0);
	char when[TIME_TEXT_BYTES], until[32];
	double percent;

	if (!answer->has_ended || !answer->resource)
		return answer_say(answer, "not known: the database has nothing later");
	/* the day is that of the line before */
	snprintf(until, sizeof(until), "%s", time_text_write(answer->ended_at, when) + strlen("2026-11-25T"));
	if (!query_next(&query) || query_is_null(&query, "part"))
		return answer_say(answer, "not known: the database has nothing later than %s", until);
	percent = 100 * query_real(&query, "part");
	if (percent < OVER_PERCENT)
		return answer_say(answer, "no: over by %s, when the capture ended; none since", until);
	return answer_say(answer, "not known since %s; stalled %.0f %% of the second before that", until,
			  percent > 100 ? 100 : percent);
}

static int find_still(struct answer *answer)
{
	struct database *database = answer->report->database;
	bool found;

	answer->still = say_recording(answer, &found);
	if (!found && !database->failed)
		answer->still = say_again(answer, &found);
	if (!found && !database->failed)
		answer->still = say_at_end(answer);
	if (database->failed)
		return -EIO;
	return answer->still ? 0 : -ENOMEM;
}

/* ---- how sure ---- */

enum level { LEVEL_NONE, LEVEL_LOW, LEVEL_MEDIUM, LEVEL_HIGH };

struct grounds {
	enum level level;
	const char *why; /* of the level: what speaks for it, or against it */
};

/* Of what all but the victim took, the culprit's share in percent; of a target, of what all targets took. */
static double culprit_share(const struct answer *answer)
{
	const struct party *culprit = answer->culprit;
	bool is_io = !strcmp(answer->resource, "io"), is_memory = !strcmp(answer->resource, "memory");
	double own = 0, all = 0;

	for (uint32_t i = 0; i < answer->parties.count; i++) {
		const struct party *party = &answer->parties.list[i];
		double took = is_io       ? (double)party->read_bytes + (double)party->write_bytes
			      : is_memory ? (double)party->grown_bytes
					  : (double)party->cpu_ns;

		if (party == culprit)
			own = took;
		if ((party != answer->victim || party == culprit) && took > 0)
			all += took;
	}
	return all > 0 ? 100 * own / all : 0;
}

static struct grounds grounds_of_shared(struct answer *answer, const char *what)
{
	double percent;

	if (!answer->culprit)
		return (struct grounds){ LEVEL_MEDIUM, "it is measured, but not who they were" };
	percent = culprit_share(answer);
	return (struct grounds){
		percent >= 50 ? LEVEL_HIGH : LEVEL_MEDIUM,
		percent >= 50 ? answer_say(answer, "of all others it %s %.0f %%", what, percent)
			      : answer_say(answer, "of all others it %s only %.0f %%", what, percent)
	};
}

static struct grounds grounds_of_shortage(struct answer *answer)
{
	double percent;

	if (!answer->culprit)
		return (struct grounds){ LEVEL_LOW, "reclaim is measured, but not who grew" };
	if (answer->culprit->grown_bytes <= 0)
		return (struct grounds){ LEVEL_LOW, "nobody grew: the largest program is named" };
	percent = culprit_share(answer);
	return (struct grounds){ percent >= 50 ? LEVEL_HIGH : LEVEL_MEDIUM,
				 answer_say(answer, "%.0f %% of what programs grew by is its", percent) };
}

static struct grounds grounds_of(struct answer *answer)
{
	switch (answer->verdict) {
	case CAUSE_IS_THROTTLED:
		return (struct grounds){ LEVEL_HIGH, "the kernel counted how long it was stopped" };
	case CAUSE_IS_OWN_LIMIT:
		return answer->blame.scope && answer->blame.name
			       ? (struct grounds){ LEVEL_HIGH, "the kernel counted how often it was met" }
			       : (struct grounds){ LEVEL_MEDIUM, "concluded: no reclaim was for the host" };
	case CAUSE_IS_STEAL:
		return (struct grounds){ LEVEL_HIGH, "the kernel counted the time that was stolen" };
	case CAUSE_IS_KILL:
		return answer->culprit ? (struct grounds){ LEVEL_HIGH, "the kernel told of the kill" }
				       : (struct grounds){ LEVEL_MEDIUM,
							   "the kernel told of the kill, but not who grew" };
	case CAUSE_IS_INTERRUPTS:
		return (struct grounds){ LEVEL_HIGH, "each handler was measured" };
	case CAUSE_IS_COMPETING:
		return grounds_of_shared(answer, !strcmp(answer->resource, "io") ? "moved" : "ran");
	case CAUSE_IS_OWN_THREADS:
		return (struct grounds){ LEVEL_HIGH, "others ran too little to be the reason" };
	case CAUSE_IS_OWN_IO:
		return (struct grounds){ LEVEL_HIGH, "all others moved fewer bytes" };
	case CAUSE_IS_SHORTAGE:
		return grounds_of_shortage(answer);
	case CAUSE_IS_DEVICE:
		return (struct grounds){ LEVEL_MEDIUM, "the disk's counters do not say for whom" };
	case CAUSE_IS_NEGLIGIBLE:
		return (struct grounds){ LEVEL_HIGH, "the targets' waiting is measured" };
	case CAUSE_IS_UNDETERMINED:
		return (struct grounds){ LEVEL_NONE, "no rule for causes applies to these numbers" };
	case CAUSE_IS_OTHER:
		return (struct grounds){ LEVEL_NONE, "this bourdon is older than that cause" };
	default:
		return (struct grounds){ LEVEL_NONE, "bourdond stored no verdict" };
	}
}

/* The loss that cost most, by the share that it cost; and whether it is one of samples: stacks and intervals judge nobody. */
static const char worst_sql[] =
	"SELECT reason, percent, unit IN ('sample', 'cpu') AS weakens FROM data_quality "
	"WHERE capture_id = ?1 AND percent >= ?2 ORDER BY percent DESC, events DESC, reason LIMIT 1";

/* From this share on, what was lost may have changed the verdict. */
#define WEAKENS_PERCENT 10.0

/* Says what was lost, and lowers the level where it was much. Returns a text; NULL: no memory. */
static const char *say_losses(struct answer *answer, enum level *level)
{
	_cleanup_query_ struct query worst = query_begin(
		answer->report->database, worst_sql, answer->report->capture_id, (int64_t)PARTIAL_PERCENT);
	_cleanup_query_ struct query any = query_begin(
		answer->report->database,
		"SELECT total(events) AS events, count(*) AS reasons FROM loss WHERE capture_id = ?1",
		answer->report->capture_id, 0);

	if (query_next(&worst)) {
		if (query_number(&worst, "weakens") && query_real(&worst, "percent") >= WEAKENS_PERCENT &&
		    *level > LEVEL_LOW)
			(*level)--;
		return answer_say(answer, "PARTIAL: %s %.0f %%", query_text(&worst, "reason"),
				  query_real(&worst, "percent"));
	}
	if (!query_next(&any) || !query_number(&any, "reasons"))
		return "losses unknown";
	return query_real(&any, "events") > 0 ? "less than 1 % was lost" : "nothing was lost";
}

/* The daemon's own words on what it did not look at, for the verdicts in which it changes something. */
static bool has_unseen_quota(const struct answer *answer)
{
	return (answer->verdict == CAUSE_IS_COMPETING || answer->verdict == CAUSE_IS_OWN_THREADS) &&
	       strstr(answer->because, "would not be seen");
}

/* From this share on, stacks that are not whole make `code` and the sections of stacks less certain, and nothing else. */
#define NOT_WHOLE_PERCENT 5.0

/*
 * `losses`, and what the line says of stacks that are not whole: in place of a loss that is none. Returns a text; NULL: no memory.
 */
static const char *add_not_whole(struct answer *answer, const char *losses)
{
	double percent = not_whole_percent(answer->profile);
	bool is_partial = strstr(losses, "PARTIAL") || strstr(losses, "unknown");

	if (percent < NOT_WHOLE_PERCENT || strstr(losses, "stack-not-whole"))
		return losses;
	return answer_say(answer, "%s%sstacks: %.0f %% not whole", is_partial ? losses : "",
			  is_partial ? "; " : "", percent);
}

static int find_certain(struct answer *answer)
{
	static const char *const words[] = { "none", "low", "medium", "high" };
	struct grounds grounds = grounds_of(answer);
	const char *losses;

	if (grounds.level == LEVEL_HIGH && answer->because && has_unseen_quota(answer))
		grounds = (struct grounds){ LEVEL_MEDIUM, "CPUs were idle: it may be a quota of cgroup v1" };
	if (grounds.level == LEVEL_HIGH && strcmp(answer->state, "complete") != 0)
		grounds.level = LEVEL_MEDIUM;
	losses = say_losses(answer, &grounds.level);
	if (answer->report->database->failed)
		return -EIO;
	answer->certainty = words[grounds.level];
	losses = losses ? add_not_whole(answer, losses) : NULL;
	answer->certain = losses && grounds.why
				  ? answer_say(answer, "%s: %s; %s", answer->certainty, grounds.why, losses)
				  : NULL;
	return answer->certain ? 0 : -ENOMEM;
}

int certainty_find(struct answer *answer)
{
	int result = find_still(answer);

	return result ? result : find_certain(answer);
}
