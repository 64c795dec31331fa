/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/answer_lines.h"

#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "common/verdict/line.h"
#include "report/answer/not_whole.h"
#include "report/model/rows.h"
#include "report/text/format.h"
#include "report/text/time_text.h"

#include <inttypes.h>
#include <string.h>

/* Of the two lines of a long text, the first may end so much earlier than the page. */
#define BREAK_COLUMNS 16U

/* As much as two lines have room for, where one has not. */
static const char *say_two_lines(struct answer *answer, const struct line *line)
{
	size_t columns = answer_columns(answer);
	char text[VERDICT_TEXT_BYTES];

	line_write(line, columns, text, sizeof(text));
	if (columns && format_columns(text) > columns)
		line_write(line, 2 * columns - BREAK_COLUMNS, text, sizeof(text));
	return profile_keep(answer->profile, text);
}

static const char *duration(double ns, char into[32])
{
	return format_duration(ns, " ", into, 32);
}

static double share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* "neighbour: capture 7 on web1, 2026-11-25T00:50:33Z, rule web"; without a verdict the state is in its place. */
static const char *say_headline(struct answer *answer)
{
	size_t columns = answer->report->json ? 0 : (size_t)answer->report->layout.columns;
	char when[TIME_TEXT_BYTES], text[VERDICT_TEXT_BYTES];
	struct line line = { 0 };

	line_words(&line, "%.16s: capture %" PRId64 " on ",
		   answer->has_verdict ? verdict_kind_names[answer->judged.verdict.kind]
		   : answer->judged.facts.fired == FIRED_BASELINE ? "baseline"
		   : answer->state                                ? answer->state
								  : "-",
		   answer->report->capture_id);
	line_name(&line, answer->hostname ? answer->hostname : "-");
	line_words(&line, ", %s%s", time_text_write(answer->triggered_at, when),
		   answer->rule ? ", rule " : "");
	line_name(&line, answer->rule);
	return profile_keep(answer->profile, line_write(&line, columns, text, sizeof(text)));
}

/* What fired; NULL: a kill did, which has its own line. */
static const char *say_shortage(struct answer *answer)
{
	static const char *const words[PSI_RESOURCES] = {
		[PSI_CPU] = "CPU time", [PSI_MEMORY] = "memory", [PSI_IO] = "disk I/O", [PSI_IRQ] = "CPU time"
	};
	const struct verdict_facts *facts = &answer->judged.facts;
	char window[32], allowed[32] = "";

	if (facts->fired == FIRED_BASELINE)
		return "nothing: the rule was calm";
	if (facts->fired == FIRED_KILL)
		return answer->judged.verdict.kill ? NULL
						   : "memory: a target was killed, and its row was not kept";
	if (facts->fired == FIRED_LATENCY)
		return answer_say_name(answer, answer->cgroup ? answer_unit_of(answer->cgroup) : NULL,
				       "%s %s", answer->latency ? answer->latency : "a latency",
				       answer->cgroup ? "in " ANSWER_NAME : "on the host");
	if (facts->resource >= PSI_RESOURCES)
		return answer_say(answer, "nothing fired: %s asked for %s",
				  answer->asked_by ? answer->asked_by : "somebody",
				  answer->asked_for ? answer->asked_for : "this capture");
	if (answer->stall_us)
		snprintf(allowed, sizeof(allowed), "; allowed %.3g %%",
			 share((double)answer->stall_us, (double)answer->window_us));
	return answer_say_name(answer, answer->cgroup ? answer_unit_of(answer->cgroup) : NULL,
			       "%s %s: %s stalled %.0f %% of %s%s", words[facts->resource],
			       answer->cgroup ? "in " ANSWER_NAME : "on the host",
			       answer->kind && !strcmp(answer->kind, "full") ? "all threads" : "threads",
			       share((double)answer->observed_us, (double)answer->window_us),
			       duration((double)answer->window_us * 1e3, window), allowed);
}

/* The account that is said next: what decided, what it ran, then the largest. ACCOUNTS: all were said. */
static uint8_t next_account(const struct answer *answer, unsigned int said)
{
	const struct verdict *verdict = &answer->judged.verdict;
	const uint8_t first[] = { verdict->wait, ACCOUNT_RAN };
	const uint64_t *ns = verdict->victim->ns;
	uint8_t next = ACCOUNTS;

	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (first[i] < ACCOUNTS && ns[first[i]] && !(said & 1U << first[i]))
			return first[i];
	for (uint8_t i = 0; i < ACCOUNTS; i++)
		if (ns[i] && !(said & 1U << i) && (next == ACCOUNTS || ns[i] > ns[next]))
			next = i;
	return next;
}

/* "nginx in nginx.service: 2 threads, 12 s: queued 62 %, ran 20 %, sleep 18 %" */
static const char *say_victim(struct answer *answer)
{
	const struct verdict_victim *victim = answer->judged.verdict.victim;
	struct line line = { 0 };
	unsigned int said = 0;
	double all = 0;
	char time[32];

	if (!victim)
		return answer->has_verdict ? "not known: this capture has no accounts of its threads' time"
					   : "not known yet: accounts are written at the end";
	for (uint8_t i = 0; i < ACCOUNTS; i++)
		all += (double)victim->ns[i];
	verdict_say_victim(&line, victim);
	line_words(&line, ": %" PRIu64 " %s, %s", victim->threads,
		   plural(victim->threads, "thread", "threads"), duration(all, time));
	for (uint8_t i; (i = next_account(answer, said)) < ACCOUNTS; said |= 1U << i)
		line_words(&line, "%s%s %.0f %%", said ? ", " : ": ", account_names[i],
			   share((double)victim->ns[i], all));
	return say_two_lines(answer, &line);
}

/* "backup[201] in backup.service: 64 %, 2.56 s; its own threads 3 %" */
static const char *say_blamed(struct answer *answer, const struct verdict_blamed *blamed, bool with_own)
{
	struct line line = { 0 };
	char time[32];

	verdict_say_party(&line, blamed->party);
	line_words(&line, ": %.0f %%, %s", blamed->percent, duration((double)blamed->party->ns, time));
	if (with_own)
		line_words(&line, "; its own threads %.0f %%", answer->judged.verdict.own_percent);
	return answer_say_line(answer, &line);
}

static const char *say_lock_code(struct answer *answer)
{
	const struct verdict *verdict = &answer->judged.verdict;
	const struct verdict_party *party = verdict->blamed_count ? verdict->blamed[0].party : NULL;

	if (!party || !party->where)
		return "not known: no stack was recorded where the lock was given free";
	if (!party->then_account)
		return answer_say(answer, "%s gives the lock free", party->where);
	return answer_say(answer, "%s gives the lock free; who held it meanwhile mostly: %s", party->where,
			  party->then_account);
}

static const char *say_code(struct answer *answer)
{
	if (answer->place.stacks_count)
		return answer->place.text;
	switch (answer->has_verdict ? answer->judged.verdict.kind : VERDICT_KINDS) {
	case VERDICT_LOCK:
		return say_lock_code(answer);
	case VERDICT_CONVOY:
		return answer->judged.verdict.victim->lock.where
			       ?: "not known: no stack was recorded where it was waited for";
	case VERDICT_CROWD:
		return "of many programs: --section others has the hottest stacks";
	case VERDICT_INTERRUPTS:
		return "of the kernel's handlers, which are not sampled";
	case VERDICT_STEAL:
		return "of none: other machines ran";
	default:
		return "not known: no sample is of it";
	}
}

static const char *say_since(struct answer *answer)
{
	char when[TIME_TEXT_BYTES], before[TIME_TEXT_BYTES];

	if (!answer->resource)
		return answer_say(answer, "%s, when %s", time_text_write(answer->triggered_at, when),
				  answer->judged.facts.fired == FIRED_KILL      ? "it was killed"
				  : answer->judged.facts.fired == FIRED_LATENCY ? "the rule fired"
										: "it was asked for");
	return answer_say(
		answer, "%s%s, %s%s before the trigger", time_text_write(answer->onset_at, when),
		answer->is_older ? " or earlier" : "",
		time_text_write_duration(subtract_saturated(answer->triggered_at, answer->onset_at), before),
		answer->is_older ? " or more" : "");
}

/* From this share on, stacks that are not whole make `code` less certain. They judge nobody. */
#define NOT_WHOLE_PERCENT 5.0

static const char *say_words(struct answer *answer, verdict_say *say)
{
	struct line line = { 0 };

	say(&line, &answer->judged.facts, &answer->judged.verdict);
	return say_two_lines(answer, &line);
}

static const char *say_certain(struct answer *answer)
{
	double percent = not_whole_percent(answer->profile);
	struct line line = { 0 };

	if (!answer->has_verdict)
		return "nothing was judged";
	verdict_say_certainty(&line, &answer->judged.facts, &answer->judged.verdict);
	if (percent >= NOT_WHOLE_PERCENT)
		line_words(&line, "; %.0f %% of stacks not whole", percent);
	return say_two_lines(answer, &line);
}

static const char *say_judged(struct answer *answer)
{
	return answer_say(answer, "by version %d of the rules; '%s' was stored, by version %" PRId64,
			  VERDICT_VERSION, answer->stored, answer->stored_version);
}

static void add_line(struct answer *answer, const char *label, enum layout_style style, const char *text)
{
	if (answer->lines_count < ARRAY_SIZE(answer->lines))
		answer->lines[answer->lines_count++] =
			(struct answer_line){ .label = label, .text = text, .style = style };
}

static void add_spare_line(struct answer *answer, const char *label, const char *text)
{
	add_line(answer, label, LAYOUT_PLAIN, text);
	answer->lines[answer->lines_count - 1].is_spare = true;
}

/*
 * How much of a text is its first line: up to the end of a clause, if that is near the end or the rest fits, else of a word that is
 * no number before its unit.
 */
static size_t first_line_bytes(const char *text, size_t columns)
{
	size_t clause = 0, word = 0, seen = 0, bytes = 0;

	for (; text[bytes] && seen <= columns; bytes++) {
		seen += ((unsigned char)text[bytes] & 0xc0) != 0x80;
		if (text[bytes] != ' ' || !bytes || seen > columns + 1)
			continue;
		if (strchr(";,:", text[bytes - 1]))
			clause = bytes;
		else if (text[bytes - 1] < '0' || text[bytes - 1] > '9')
			word = bytes;
	}
	if (clause + BREAK_COLUMNS >= columns || !word ||
	    (2 * clause >= columns && format_columns(text + clause + 1) <= columns))
		return clause ? clause : strlen(text);
	return word;
}

/* In two lines, where it is too long for one. What has no room there is left out. */
static void add_wrapped(struct answer *answer, const char *label, enum layout_style style, const char *text)
{
	size_t columns = answer_columns(answer), bytes;
	const char *rest;

	if (!text || !columns || format_columns(text) <= columns) {
		add_line(answer, label, style, text);
		return;
	}
	bytes = first_line_bytes(text, columns);
	add_line(answer, label, style, answer_say(answer, "%.*s", (int)bytes, text));
	rest = text + bytes + strspn(text + bytes, " ");
	if (format_columns(rest) > columns)
		rest = answer_say(answer, "%.*s", (int)first_line_bytes(rest, columns), rest);
	if (!rest || *rest)
		add_spare_line(answer, "", rest);
}

/* Each of several has a line of its own; behind the largest is what the victim's own threads have, if they are not named. */
static void add_several(struct answer *answer, bool are_spare)
{
	const struct verdict *verdict = &answer->judged.verdict;

	for (uint32_t i = 0; i < verdict->blamed_count; i++)
		if (!i && !are_spare)
			add_line(answer, "culprit", LAYOUT_STRONG,
				 say_blamed(answer, &verdict->blamed[i], !verdict_names_own(verdict)));
		else
			add_spare_line(answer, "", say_blamed(answer, &verdict->blamed[i], false));
}

static void add_culprit(struct answer *answer)
{
	const struct verdict *verdict = &answer->judged.verdict;
	bool is_crowd = verdict->kind == VERDICT_CROWD;

	if (!answer->has_verdict) {
		add_line(answer, "culprit", LAYOUT_STRONG, "not known: nothing was judged");
		return;
	}
	if (is_crowd || verdict->blamed_count < 2)
		add_wrapped(answer, verdict->kind == VERDICT_KILL ? "grew" : "culprit", LAYOUT_STRONG,
			    say_words(answer, verdict_say_culprit));
	if (is_crowd || verdict->blamed_count > 1)
		add_several(answer, is_crowd);
}

bool answer_lines_make(struct answer *answer, const char *still)
{
	const char *shortage = say_shortage(answer);
	bool is_alarm = answer->has_verdict && answer->judged.verdict.kind != VERDICT_NEGLIGIBLE,
	     is_kill = answer->has_verdict && answer->judged.verdict.kind == VERDICT_KILL;

	add_line(answer, NULL, is_alarm ? LAYOUT_ALARM : LAYOUT_STRONG, say_headline(answer));
	if (is_kill && answer->judged.verdict.kill)
		add_wrapped(answer, "killed", LAYOUT_STRONG, say_words(answer, verdict_say_kill));
	if (is_kill)
		add_culprit(answer);
	if (shortage)
		add_line(answer, "short", LAYOUT_PLAIN, shortage);
	add_wrapped(answer, "victim", LAYOUT_STRONG, say_victim(answer));
	if (!is_kill)
		add_culprit(answer);
	add_line(answer, "code", LAYOUT_PLAIN, say_code(answer));
	add_line(answer, "since", LAYOUT_PLAIN, say_since(answer));
	add_line(answer, "still", LAYOUT_PLAIN, still);
	add_wrapped(answer, "certain", LAYOUT_PLAIN, say_certain(answer));
	/* the smallest parties have to go before what was lost */
	answer->lines[answer->lines_count - 1].is_spare = false;
	if (answer->stored)
		add_line(answer, "judged", LAYOUT_PLAIN, say_judged(answer));
	add_line(answer, "remedy", LAYOUT_STRONG, answer->remedy.text);
	if (answer->remedy.command) {
		add_line(answer, answer->remedy.changes ? "do" : "look at", LAYOUT_COMMAND,
			 answer->remedy.command);
		answer->lines[answer->lines_count - 1].is_whole = true;
	}
	for (uint32_t i = 0; i < answer->lines_count; i++)
		if (!answer->lines[i].text)
			return false;
	return true;
}

/* ---- output ---- */

uint32_t answer_print(const struct layout *layout, const struct answer *answer)
{
	uint32_t spare = answer->lines_count > ANSWER_LINES_MOST ? answer->lines_count - ANSWER_LINES_MOST
								 : 0,
		 printed = 0, left = 0;

	for (uint32_t i = 0; i < answer->lines_count; i++)
		left += answer->lines[i].is_spare;
	/* the last of the spare lines, which are of the smallest shares, have no room */
	left = left > spare ? left - spare : 0;
	for (uint32_t i = 0; i < answer->lines_count; i++) {
		const struct answer_line *line = &answer->lines[i];
		char text[4 * LAYOUT_COLUMNS_MOST + 16];

		if (line->is_spare && !left)
			continue;
		left -= line->is_spare;
		printed++;
		if (line->label) {
			(line->is_whole ? layout_fact_whole : layout_fact)(layout, line->label, line->style,
									   line->text);
			continue;
		}
		layout_put(layout, line->style,
			   format_cut(escape_terminal(line->text, text, sizeof(text)),
				      (size_t)layout->columns, sizeof(text)));
		fputc('\n', layout->out);
	}
	return printed;
}
