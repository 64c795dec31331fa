/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer.h"

#include "common/cgroup_path.h"
#include "common/cleanup.h"
#include "common/escape.h"
#include "report/blame.h"
#include "report/certainty.h"
#include "report/format.h"
#include "report/query.h"
#include "report/remedy.h"
#include "report/time_text.h"

#include <inttypes.h>
#include <string.h>

/* What the daemon says where the rings do not reach back to the begin of the stall. */
#define OLDER_THAN_HISTORY "; the stall is older than the "

#define NAME_BYTES 512

/* "nginx ×4 in " and the mark for its place */
static const char *name_of(const struct party *party, char *into, size_t into_bytes)
{
	struct party shown = *party;

	shown.unit = party_place(party) ? ANSWER_NAME : NULL;
	shown.cgroup = NULL;
	return party_text(&shown, into, into_bytes);
}

static const char *place_text(const struct party *party)
{
	return party_place(party) ? party_place(party) : "";
}

/* ---- the capture ---- */

static const char capture_sql[] =
	"SELECT c.*, iif(c.trigger_mode = 'kill', 'memory', c.resource) AS short_of, c.trigger_mode = 'kill' AS is_kill, "
	"r.hostname, r.cpus, ru.source, (SELECT max(to_at - from_at) FROM usage WHERE capture_id = ?1) AS span_ns, "
	"ifnull(c.onset_at, c.triggered_at - 1000 * c.observed_us) AS began_stall_at "
	"FROM capture c JOIN run r USING(run_id) LEFT JOIN rule ru USING(rule_id) WHERE c.capture_id = ?1";

static enum cause_word verdict_of(const char *cause)
{
	if (!cause)
		return CAUSE_IS_NONE;
	for (int i = CAUSE_IS_NONE + 1; i < CAUSE_IS_OTHER; i++)
		if (!strcmp(verdict_words[i], cause))
			return (enum cause_word)i;
	return CAUSE_IS_OTHER;
}

/* Keeps the texts of the row. Returns 0 or -ENOMEM. */
static int keep_texts(struct answer *answer, const struct query *query)
{
	const struct {
		const char *column, **text;
	} texts[] = { { "rule", &answer->rule },          { "source", &answer->source },
		      { "short_of", &answer->resource },  { "kind", &answer->kind },
		      { "cgroup", &answer->cgroup },      { "state", &answer->state },
		      { "cause", &answer->cause },        { "because", &answer->because },
		      { "hostname", &answer->hostname },  { "asked_by", &answer->asked_by },
		      { "asked_for", &answer->asked_for } };

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
	answer->is_kill = query_number(&query, "is_kill");
	answer->has_ended = !query_is_null(&query, "ended_at");
	answer->ended_at = query_number(&query, "ended_at");
	answer->onset_at = query_number(&query, "began_stall_at");
	answer->observed_us = query_number(&query, "observed_us");
	answer->stall_us = query_number(&query, "stall_us");
	answer->window_us = query_number(&query, "window_us");
	answer->incident_id = query_number(&query, "incident_id");
	answer->cpus = query_number(&query, "cpus");
	answer->span_ns = query_number(&query, "span_ns");
	if (keep_texts(answer, &query) < 0)
		return -ENOMEM;
	answer->verdict = verdict_of(answer->cause);
	answer->is_older = answer->because && strstr(answer->because, OLDER_THAN_HISTORY);
	return 0;
}

static const char killed_sql[] =
	"SELECT k.comm, k.how, k.cgroup, ifnull(k.unit, k.cgroup) AS place, k.limit_cgroup, k.tgid, k.rss_bytes, k.limit_bytes "
	"FROM killed k JOIN capture c USING(capture_id) WHERE k.capture_id = ?1 AND k.role = 'target' AND k.how <> 'signal' "
	"AND k.comm IS NOT NULL ORDER BY abs(k.at - c.triggered_at), k.tgid LIMIT 1";

static int load_killed(struct answer *answer)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, killed_sql, answer->report->capture_id, 0);
	struct killed *killed = &answer->killed;
	const struct {
		const char *column, **text;
	} texts[] = { { "comm", &killed->comm },
		      { "how", &killed->how },
		      { "cgroup", &killed->cgroup },
		      { "place", &killed->place },
		      { "limit_cgroup", &killed->limit_cgroup } };

	if (!query_next(&query))
		return answer->report->database->failed ? -EIO : 0;
	killed->tgid = query_number(&query, "tgid");
	killed->rss_bytes = query_number(&query, "rss_bytes");
	killed->limit_bytes = query_number(&query, "limit_bytes");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (query_is_null(&query, texts[i].column))
			continue;
		*texts[i].text = profile_keep(answer->profile, query_text(&query, texts[i].column));
		if (!*texts[i].text)
			return -ENOMEM;
	}
	return 0;
}

/* ---- who, and where in the code ---- */

static bool is_of_victim(const struct party *party, const struct killed *killed)
{
	return killed->comm && !strcmp(party->program, killed->comm) && party->cgroup && killed->cgroup &&
	       !strcmp(party->cgroup, killed->cgroup);
}

/*
 * As in consumer/capture/cause_memory.c: whose memory grew most, in the cgroup whose limit was met; of a limit of version 1, which
 * has no path here, in the victim's. NULL: not known, or by less than the victim held, whose growth was not seen.
 */
static const struct party *find_grown(const struct answer *answer)
{
	const struct killed *killed = &answer->killed;
	const char *within = !killed->limit_bytes                                   ? NULL
			     : killed->limit_cgroup && *killed->limit_cgroup == '/' ? killed->limit_cgroup
										    : killed->cgroup;
	const struct party *most = NULL;

	for (uint32_t i = 0; i < answer->parties.count; i++) {
		const struct party *party = &answer->parties.list[i];

		if (party->grown_bytes > 0 && (!most || party->grown_bytes > most->grown_bytes) &&
		    (!within || (party->cgroup && cgroup_is_within(party->cgroup, within))))
			most = party;
	}
	return most && (most->grown_bytes >= killed->rss_bytes || is_of_victim(most, killed)) ? most : NULL;
}

static const struct party *find_culprit(const struct answer *answer)
{
	const char *because = answer->because ? answer->because : "";
	const struct party *named = NULL;

	switch (answer->verdict) {
	case CAUSE_IS_COMPETING:
	case CAUSE_IS_OWN_THREADS:
		return parties_named(&answer->parties, because);
	case CAUSE_IS_OWN_IO:
		named = parties_named(&answer->parties, because);
		return named ? named : answer->victim;
	case CAUSE_IS_SHORTAGE:
		return parties_grown(&answer->parties, because);
	case CAUSE_IS_KILL:
		return find_grown(answer);
	default:
		return NULL;
	}
}

/* Where the verdict is a wait of the targets, the code is where they waited. */
static const char *waited_resource(const struct answer *answer)
{
	bool is_own = answer->verdict == CAUSE_IS_OWN_LIMIT || answer->verdict == CAUSE_IS_OWN_IO ||
		      answer->verdict == CAUSE_IS_DEVICE || answer->verdict == CAUSE_IS_UNDETERMINED ||
		      answer->verdict == CAUSE_IS_NEGLIGIBLE;

	return is_own && answer->resource && strcmp(answer->resource, "cpu") != 0 ? answer->resource : NULL;
}

static int find_place(struct answer *answer)
{
	const struct party *of = answer->culprit;
	bool is_other = of && strcmp(of->role, "target") != 0;
	int result = 0;

	if (answer->verdict == CAUSE_IS_INTERRUPTS || answer->verdict == CAUSE_IS_STEAL ||
	    (answer->verdict == CAUSE_IS_COMPETING && !of))
		return 0; /* it is nobody's code, or that of somebody who is not known */
	if (!of)
		of = answer->victim;
	if (is_other && profile_load(answer->report->database, answer->report->capture_id, PROFILE_OF_OTHERS,
				     &answer->others) < 0)
		return -EIO;
	answer->place_of = of;
	if (!is_other && waited_resource(answer))
		result = code_place_find(answer->profile, of, waited_resource(answer), &answer->place);
	if (!result && !answer->place.stacks_count)
		result = code_place_find(is_other ? &answer->others : answer->profile, of, NULL,
					 &answer->place);
	return result;
}

/* ---- in words ---- */

static const char *duration(double ns, char into[32])
{
	return format_duration(ns, " ", into, 32);
}

static const char *size(double bytes, char into[32])
{
	return format_size(bytes, into, 32);
}

static double share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static const char *say_headline(struct answer *answer)
{
	char when[TIME_TEXT_BYTES];
	bool is_complete = !strcmp(answer->state, "complete");

	return answer_say(answer, "%s: capture %" PRId64 "%s%s%s on %s, %s%s%s",
			  answer->cause  ? answer->cause
			  : answer->rule ? "no verdict"
					 : "asked for",
			  answer->report->capture_id, is_complete ? "" : " (",
			  is_complete ? "" : answer->state, is_complete ? "" : ")",
			  answer->hostname ? answer->hostname : "-",
			  time_text_write(answer->triggered_at, when), answer->rule ? ", rule " : "",
			  answer->rule ? answer->rule : "");
}

/* "web[4711] in web.service, 61 MiB: OOM kill at a limit of 64 MiB" */
static const char *say_kill(struct answer *answer)
{
	const struct killed *killed = &answer->killed;
	char held[32], limit[32], how[96] = "OOM kill, host memory was full";

	if (!killed->comm)
		return answer->is_kill ? "a target, for lack of memory: which one was not kept" : NULL;
	if (!strcmp(killed->how, "oomd"))
		snprintf(how, sizeof(how), "killed by systemd-oomd");
	else if (killed->limit_bytes)
		snprintf(how, sizeof(how), "OOM kill at a limit of %s",
			 size((double)killed->limit_bytes, limit));
	return answer_say_name(answer, killed->place ? killed->place : "an unknown cgroup",
			       "%s[%" PRId64 "] in " ANSWER_NAME ", %s: %s", killed->comm, killed->tgid,
			       size((double)killed->rss_bytes, held), how);
}

static const char *say_shortage(struct answer *answer)
{
	static const struct {
		const char *resource, *words;
	} words[] = {
		{ "cpu", "CPU time" }, { "memory", "memory" }, { "io", "disk I/O" }, { "irq", "CPU time" }
	};
	char window[32], allowed[32] = "";
	const char *what = answer->resource;

	if (answer->is_kill)
		return answer->kill;
	if (!answer->resource)
		return answer_say(answer, "nothing fired: %s asked for %s",
				  answer->asked_by ? answer->asked_by : "somebody",
				  answer->asked_for ? answer->asked_for : "this capture");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].resource, answer->resource))
			what = words[i].words;
	if (answer->stall_us)
		snprintf(allowed, sizeof(allowed), "; allowed %.3g %%",
			 share((double)answer->stall_us, (double)answer->window_us));
	return answer_say_name(answer, answer->cgroup ? blame_unit_of(answer->cgroup) : "the machine",
			       "%s %s " ANSWER_NAME ": %s stalled %.0f %% of %s%s", what,
			       answer->cgroup ? "in" : "on",
			       answer->kind && !strcmp(answer->kind, "full") ? "all threads" : "threads",
			       share((double)answer->observed_us, (double)answer->window_us),
			       duration((double)answer->window_us * 1e3, window), allowed);
}

static const char *say_suffered(struct answer *answer)
{
	static const struct {
		const char *resource, *words;
	} words[] = { { "cpu", "for a CPU" },
		      { "memory", "for memory" },
		      { "io", "for a disk" },
		      { "irq", "for a CPU" } };
	const struct party *victim = answer->victim;
	char name[NAME_BYTES], waited[32], ran[32];
	const char *what = "for it";

	if (!victim && answer->verdict == CAUSE_IS_INTERRUPTS)
		return "whatever ran on the CPUs that served the interrupts";
	if (!victim || (!victim->waited_ns && answer->verdict == CAUSE_IS_STEAL))
		return answer->verdict == CAUSE_IS_STEAL ? "everything on this machine"
							 : "not known: bourdond did not measure who waited";
	for (size_t i = 0; answer->resource && i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].resource, answer->resource))
			what = words[i].words;
	name_of(victim, name, sizeof(name));
	if (!answer->resource || !victim->waited_ns || answer->is_kill)
		return answer_say_name(answer, place_text(victim), "%s: ran %s%s", name,
				       duration((double)victim->cpu_ns, ran),
				       answer->resource && !answer->is_kill ? ", and no waiting was counted"
									    : "");
	return answer_say_name(answer, place_text(victim), "%s: waited %s %s, ran %s", name,
			       duration((double)victim->waited_ns, waited), what,
			       duration((double)victim->cpu_ns, ran));
}

/* What a program took of the resource that fired. */
static const char *say_took(struct answer *answer, const char *before)
{
	const struct party *culprit = answer->culprit;
	const char *place = place_text(culprit);
	char name[NAME_BYTES], a[32], b[32];

	name_of(culprit, name, sizeof(name));
	if (!strcmp(answer->resource, "io"))
		return answer_say_name(answer, place, "%s%s: read %s, wrote %s", before, name,
				       size((double)culprit->read_bytes, a),
				       size((double)culprit->write_bytes, b));
	if (!strcmp(answer->resource, "memory") && culprit->grown_bytes > 0)
		return answer_say_name(answer, place, "%s%s: grew by %s to %s", before, name,
				       size((double)culprit->grown_bytes, a),
				       size((double)culprit->rss_bytes, b));
	if (!strcmp(answer->resource, "memory"))
		return answer_say_name(answer, place, "%s%s: the largest, %s, and did not grow", before, name,
				       size((double)culprit->rss_bytes, a));
	return answer_say_name(
		answer, place, "%s%s: %s of CPU time, %.0f %% of all", before, name,
		duration((double)culprit->cpu_ns, a),
		share((double)culprit->cpu_ns, (double)answer->cpus * (double)answer->span_ns));
}

static const char *say_limit(struct answer *answer)
{
	const struct blame *blame = &answer->blame;
	const char *of = blame->scope ? blame_unit_of(blame->scope) : NULL;
	char limit[32];

	if (!of)
		return "a memory limit, of its cgroup or one above: cgroup v1 tells no more";
	if (!blame->name)
		return answer_say_name(answer, of,
				       "the memory limit of " ANSWER_NAME ", or of a cgroup above it");
	if (!blame->limit)
		return answer_say_name(answer, of, "memory.%s of " ANSWER_NAME ", met %" PRId64 " times",
				       blame->name, blame->times);
	return answer_say_name(answer, of, "memory.%s of " ANSWER_NAME ", %s, met %" PRId64 " times",
			       blame->name, size((double)blame->limit, limit), blame->times);
}

static const char *say_quota(struct answer *answer)
{
	const struct blame *blame = &answer->blame;
	const char *of = blame->scope ? blame_unit_of(blame->scope) : NULL;

	if (!of)
		return "a CPU quota, of its cgroup or of one above it";
	if (!blame->limit || !blame->period_us)
		return answer_say_name(answer, of,
				       "the quota of " ANSWER_NAME ": stopped in %" PRId64 " of %" PRId64
				       " periods",
				       blame->times, blame->of_times);
	return answer_say_name(
		answer, of,
		"the quota of " ANSWER_NAME ", %.2f CPUs: stopped in %" PRId64 " of %" PRId64 " periods",
		(double)blame->limit / (double)blame->period_us, blame->times, blame->of_times);
}

static const char *say_caused(struct answer *answer)
{
	const struct blame *blame = &answer->blame;

	switch (answer->verdict) {
	case CAUSE_IS_THROTTLED:
		return say_quota(answer);
	case CAUSE_IS_COMPETING:
		return answer->culprit ? say_took(answer, "") : blame_unnamed(answer->because);
	case CAUSE_IS_KILL:
	case CAUSE_IS_SHORTAGE:
		return answer->culprit ? say_took(answer, "")
				       : "not known: who grew is not among what was recorded";
	case CAUSE_IS_OWN_THREADS:
	case CAUSE_IS_OWN_IO:
		return answer->culprit ? say_took(answer, "itself: ") : "the targets themselves";
	case CAUSE_IS_OWN_LIMIT:
		return say_limit(answer);
	case CAUSE_IS_DEVICE:
		return blame->name ? answer_say(answer,
						"the disk %s: busy %.0f %% of the time, %.1f ms a request",
						blame->name, blame->percent, blame->each_ms)
				   : "a disk";
	case CAUSE_IS_INTERRUPTS:
		return blame->name ? answer_say(answer, "the %s %s: %.1f %% of the machine's time",
						!strcmp(blame->source, "softirq") ? "soft interrupt"
										  : "interrupt",
						blame->name, blame->percent)
				   : "interrupts";
	case CAUSE_IS_STEAL:
		return answer_say(answer, "the hypervisor: it gave %.1f %% of the machine's time to others",
				  blame->percent);
	case CAUSE_IS_NEGLIGIBLE:
		return "nobody: the targets hardly waited";
	case CAUSE_IS_UNDETERMINED:
		return "not known: no number that was recorded explains the stall";
	case CAUSE_IS_OTHER:
		return "not known: this bourdon is older than that cause";
	default:
		return answer->rule ? "not known: no verdict was stored"
				    : "nobody: no shortage was looked for";
	}
}

static const char *say_code(struct answer *answer)
{
	if (answer->place.stacks_count)
		return answer->place.text;
	if (answer->verdict == CAUSE_IS_INTERRUPTS)
		return "of the kernel's handlers, which are not sampled";
	if (answer->verdict == CAUSE_IS_STEAL)
		return "of none: other machines ran";
	return "not known: no sample is of it";
}

static const char *say_since(struct answer *answer)
{
	char when[TIME_TEXT_BYTES], before[TIME_TEXT_BYTES];

	if (!answer->resource)
		return answer_say(answer, "%s, when it was asked for",
				  time_text_write(answer->triggered_at, when));
	if (answer->is_kill)
		return answer_say(answer, "%s, when it was killed",
				  time_text_write(answer->triggered_at, when));
	return answer_say(
		answer, "%s%s, %s%s before the trigger", time_text_write(answer->onset_at, when),
		answer->is_older ? " or earlier" : "",
		time_text_write_duration(subtract_saturated(answer->triggered_at, answer->onset_at), before),
		answer->is_older ? " or more" : "");
}

static bool say_all(struct answer *answer)
{
	answer->headline = say_headline(answer);
	answer->kill = say_kill(answer);
	answer->shortage = say_shortage(answer);
	answer->suffered = say_suffered(answer);
	answer->caused = say_caused(answer);
	answer->code = say_code(answer);
	answer->since = say_since(answer);
	return answer->headline && answer->shortage && answer->suffered && answer->caused && answer->code &&
	       answer->since;
}

int answer_find(struct report *report, struct profile *profile, struct answer *answer)
{
	int result;

	answer->report = report;
	answer->profile = profile;
	result = load_capture(answer);
	if (!result)
		result = load_killed(answer);
	if (!result)
		result = parties_load(report->database, report->capture_id, profile, &answer->parties);
	if (result < 0)
		return report->database->failed ? -EIO : result;
	answer->victim = parties_victim(&answer->parties);
	answer->culprit = find_culprit(answer);
	result = blame_find(answer, &answer->blame);
	if (!result)
		result = find_place(answer);
	if (!result && !say_all(answer))
		result = -ENOMEM;
	if (!result)
		result = certainty_find(answer);
	if (!result)
		result = remedy_find(answer, &answer->remedy);
	return result;
}

void answer_free(struct answer *answer)
{
	parties_free(&answer->parties);
	profile_free(&answer->others);
}

/* ---- output ---- */

void answer_print(const struct layout *layout, const struct answer *answer)
{
	char line[4 * LAYOUT_COLUMNS_MOST + 16];
	bool is_alarm = answer->verdict != CAUSE_IS_NEGLIGIBLE && answer->verdict != CAUSE_IS_NONE;

	layout_put(layout, is_alarm ? LAYOUT_ALARM : LAYOUT_STRONG,
		   format_cut(escape_terminal(answer->headline, line, sizeof(line)), (size_t)layout->columns,
			      sizeof(line)));
	fputc('\n', layout->out);
	if (answer->kill)
		layout_fact(layout, "killed", LAYOUT_STRONG, answer->kill);
	if (!answer->is_kill)
		layout_fact(layout, "short", LAYOUT_PLAIN, answer->shortage);
	layout_fact(layout, "victim", LAYOUT_STRONG, answer->suffered);
	layout_fact(layout, "culprit", LAYOUT_STRONG, answer->caused);
	layout_fact(layout, "code", LAYOUT_PLAIN, answer->code);
	layout_fact(layout, "since", LAYOUT_PLAIN, answer->since);
	layout_fact(layout, "still", LAYOUT_PLAIN, answer->still);
	layout_fact(layout, "certain", LAYOUT_PLAIN, answer->certain);
	layout_fact(layout, "remedy", LAYOUT_STRONG, answer->remedy.text);
	layout_fact_whole(layout, answer->remedy.changes ? "do" : "look at", LAYOUT_COMMAND,
			  answer->remedy.command);
}

int answer_rows(const struct answer *answer, struct rows *ret_rows)
{
	static const char *const names[] = {
		"capture_id",
		"hostname",
		"cause",
		"headline",
		"killed",
		"killed_comm",
		"killed_tgid",
		"killed_how",
		"short",
		"victim",
		"victim_program",
		"victim_unit",
		"victim_cgroup",
		"victim_waited_ns",
		"culprit",
		"culprit_role",
		"culprit_program",
		"culprit_unit",
		"culprit_cgroup",
		"limit_cgroup",
		"code",
		"function",
		"stack_id",
		"since",
		"onset_at",
		"still",
		"certain",
		"certainty",
		"remedy",
		"command",
		"command_changes",
	};
	const struct party *victim = answer->victim, *culprit = answer->culprit;
	const struct code_place *place = &answer->place;
	struct rows rows = rows_of(names);
	int result = rows_add(
		&rows,
		(struct value[]){ value_number(answer->report->capture_id),
				  value_text(answer->hostname),
				  value_text(answer->cause),
				  value_text(answer->headline),
				  value_text(answer->kill),
				  value_text(answer->killed.comm),
				  answer->killed.comm ? value_number(answer->killed.tgid) : value_text(NULL),
				  value_text(answer->killed.how),
				  value_text(answer->shortage),
				  value_text(answer->suffered),
				  value_text(victim ? victim->program : NULL),
				  value_text(victim ? victim->unit : NULL),
				  value_text(victim ? victim->cgroup : NULL),
				  victim ? value_number(victim->waited_ns) : value_text(NULL),
				  value_text(answer->caused),
				  value_text(culprit ? culprit->role : NULL),
				  value_text(culprit ? culprit->program : NULL),
				  value_text(culprit ? culprit->unit : NULL),
				  value_text(culprit ? culprit->cgroup : NULL),
				  value_text(answer->blame.scope),
				  value_text(answer->code),
				  value_text(place->stacks_count ? place->function : NULL),
				  place->stacks_count ? value_number(place->stack_ids[0]) : value_text(NULL),
				  value_text(answer->since),
				  value_number(answer->onset_at),
				  value_text(answer->still),
				  value_text(answer->certain),
				  value_text(answer->certainty),
				  value_text(answer->remedy.text),
				  value_text(answer->remedy.command),
				  value_number(answer->remedy.changes) });

	if (!result)
		*ret_rows = rows;
	else
		rows_free(&rows);
	return result;
}
