/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/answer_json.h"

#include "common/base/cleanup.h"

#include <string.h>

/* A number that is there, or NULL. */
static struct value number_if(bool is_there, int64_t number)
{
	return is_there ? value_number(number) : value_text(NULL);
}

static struct value real_if(bool is_there, double real)
{
	return is_there ? value_real(real) : value_text(NULL);
}

static void free_rows(struct rows *rows)
{
	if (rows)
		rows_free(rows);
	free(rows);
}

/* Rows with these columns, to be filled; NULL without memory. */
static struct rows *new_rows(const char *const *names, uint32_t count)
{
	struct rows *rows = malloc(sizeof(*rows));

	if (rows)
		*rows = (struct rows){ names, count, NULL, 0, 0 };
	return rows;
}

/* Without memory for it there are no rows any more. */
static void add_row(struct rows **rows, const struct value *values)
{
	if (*rows && rows_add(*rows, values)) {
		free_rows(*rows);
		*rows = NULL;
	}
}

static struct rows *account_rows(const struct answer *answer)
{
	static const char *const names[] = { "capture_id", "victim", "account", "threads", "ns", "percent" };
	const struct verdict_victim *victim = answer->judged.verdict.victim;
	struct rows *rows = new_rows(names, ARRAY_SIZE(names));
	uint64_t all = 0;

	for (uint8_t i = 0; victim && i < ACCOUNTS; i++)
		all += victim->ns[i];
	for (uint8_t i = 0; victim && i < ACCOUNTS; i++)
		if (victim->ns[i])
			add_row(&rows,
				(struct value[]){ value_number(answer->report->capture_id),
						  value_text(victim->text), value_text(account_names[i]),
						  value_number((int64_t)victim->threads),
						  value_number((int64_t)victim->ns[i]),
						  value_percent((int64_t)victim->ns[i], (int64_t)all) });
	return rows;
}

static uint64_t waited_ns(const struct verdict_facts *facts, const struct verdict_party *party)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < facts->parties_count; i++)
		if (facts->parties[i].victim == party->victim && facts->parties[i].wait == party->wait)
			sum += facts->parties[i].ns;
	return sum;
}

/* As the column `party` of view blame_share. */
static const char *party_name(struct answer *answer, const struct verdict_party *party)
{
	const char *place = verdict_place(&party->who);

	if (party->who.program)
		return answer_say(answer, "%s%s%s", party->who.program, place ? " in " : "",
				  place ? place : "");
	return party->role == ROLE_QUOTA || party->role == ROLE_UNKNOWN ? party->where : NULL;
}

/* The victim's rows of view blame_share, each with the columns of blame. */
static struct rows *blame_rows(struct answer *answer)
{
	static const char *const names[] = { "capture_id", "victim",    "wait",       "role",        "party",
					     "ns",         "percent",   "program",    "unit",        "cgroup",
					     "tgid",       "processes", "where_text", "then_account" };
	const struct verdict_facts *facts = &answer->judged.facts;
	const struct verdict_victim *victim = answer->judged.verdict.victim;
	struct rows *rows = new_rows(names, ARRAY_SIZE(names));

	for (uint32_t i = 0; victim && i < facts->parties_count; i++) {
		const struct verdict_party *party = &facts->parties[i];

		if (&facts->victims[party->victim] != victim)
			continue;
		add_row(&rows,
			(struct value[]){
				value_number(answer->report->capture_id), value_text(victim->text),
				value_text(account_names[party->wait]),
				value_text(blame_role_names[party->role]),
				value_text(party_name(answer, party)), value_number((int64_t)party->ns),
				value_percent((int64_t)party->ns, (int64_t)waited_ns(facts, party)),
				value_text(party->who.program), value_text(party->who.unit),
				value_text(party->who.cgroup), number_if(party->who.tgid, party->who.tgid),
				number_if(party->who.processes, party->who.processes),
				value_text(party->where), value_text(party->then_account) });
	}
	return rows;
}

/* Whom the verdict names. */
static struct rows *blamed_rows(struct answer *answer)
{
	static const char *const names[] = { "role", "party", "ns", "percent" };
	const struct verdict *verdict = &answer->judged.verdict;
	struct rows *rows = new_rows(names, ARRAY_SIZE(names));

	for (uint32_t i = 0; answer->has_verdict && i < verdict->blamed_count; i++) {
		const struct verdict_party *party = verdict->blamed[i].party;

		add_row(&rows, (struct value[]){ value_text(blame_role_names[party->role]),
						 value_text(party_name(answer, party)),
						 value_number((int64_t)party->ns),
						 value_real(verdict->blamed[i].percent) });
	}
	return rows;
}

static struct rows *remedy_rows(const struct answer *answer)
{
	static const char *const names[] = { "text", "command", "changes" };
	struct rows *rows = new_rows(names, ARRAY_SIZE(names));

	add_row(&rows, (struct value[]){ value_text(answer->remedy.text), value_text(answer->remedy.command),
					 value_number(answer->remedy.changes) });
	return rows;
}

static struct rows *line_rows(const struct answer *answer)
{
	static const char *const names[] = { "label", "text" };
	struct rows *rows = new_rows(names, ARRAY_SIZE(names));

	for (uint32_t i = 1; i < answer->lines_count; i++)
		add_row(&rows, (struct value[]){ value_text(answer->lines[i].label),
						 value_text(answer->lines[i].text) });
	return rows;
}

int answer_rows(struct answer *answer, struct rows *ret_rows)
{
	static const char *const names[] = {
		"capture_id",   "hostname",       "verdict",     "verdict_version", "stored_verdict",
		"victim",       "accounts",       "wait",        "waited_ns",       "blame",
		"blamed",       "blamed_percent", "own_percent", "limit_cgroup",    "limit_name",
		"limit_value",  "killed_comm",    "killed_tgid", "killed_how",      "not_examined",
		"lost_percent", "lost_reason",    "function",    "stack_id",        "onset_at",
		"goes_on",      "remedy",         "headline",    "lines",
	};
	const struct verdict *verdict = &answer->judged.verdict;
	const struct verdict_facts *facts = &answer->judged.facts;
	const struct code_place *place = &answer->place;
	bool judged = answer->has_verdict, waited = judged && verdict->wait < ACCOUNTS;
	char headline[VERDICT_TEXT_BYTES];
	struct rows *const parts[] = { account_rows(answer), blame_rows(answer), blamed_rows(answer),
				       remedy_rows(answer), line_rows(answer) };
	struct rows rows = rows_of(names);
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!parts[i])
			result = -ENOMEM;
	for (size_t i = 0; result && i < ARRAY_SIZE(parts); i++)
		free_rows(parts[i]);
	if (result)
		return result;
	result = rows_add(
		&rows, (struct value[]){
			       value_number(answer->report->capture_id),
			       value_text(answer->hostname),
			       value_text(judged ? verdict_kind_names[verdict->kind] : NULL),
			       number_if(judged, VERDICT_VERSION),
			       value_text(answer->stored),
			       value_text(verdict->victim ? verdict->victim->text : NULL),
			       value_rows(parts[0]),
			       value_text(waited ? account_names[verdict->wait] : NULL),
			       number_if(waited, (int64_t)verdict->waited_ns),
			       value_rows(parts[1]),
			       value_rows(parts[2]),
			       real_if(waited, verdict->blamed_percent),
			       real_if(waited, verdict->own_percent),
			       value_text(judged ? verdict->limit_cgroup : NULL),
			       value_text(judged ? verdict->limit_name : NULL),
			       number_if(judged && verdict->limit_value >= 0, verdict->limit_value),
			       value_text(verdict->kill ? verdict->kill->who.program : NULL),
			       number_if(verdict->kill, verdict->kill ? verdict->kill->who.tgid : 0),
			       value_text(verdict->kill ? verdict->kill->how : NULL),
			       value_text(judged && *verdict->not_examined ? verdict->not_examined : NULL),
			       real_if(facts->lost_percent >= 0, facts->lost_percent),
			       value_text(facts->lost_reason),
			       value_text(place->stacks_count ? place->function : NULL),
			       number_if(place->stacks_count, place->stack_ids[0]),
			       number_if(answer->resource, answer->onset_at),
			       value_text(answer->goes_on),
			       value_row(parts[3]),
			       value_text(judged ? answer_say(answer, "%s",
							      verdict_headline_text(facts, verdict, headline))
						 : NULL),
			       value_rows(parts[4]) });
	return rows_finish(result, &rows, ret_rows);
}
