/* SPDX-License-Identifier: GPL-2.0-only */
/* activity: what all threads of the machine did over hours and days, from the looks that bourdond stores. */
#include "common/base/clock.h"
#include "common/system/log.h"
#include "report/context/subcommand.h"
#include "report/live/activity_load.h"
#include "report/live/activity_output.h"
#include "report/live/threads.h"
#include "report/text/time_text.h"

#include <string.h>

#define SINCE_DEFAULT "1h"

/* There is no minute in the span, or none at all. */
static void explain_nothing(const struct report *report, const struct activity_span *asked)
{
	char from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES], first[TIME_TEXT_BYTES], last[TIME_TEXT_BYTES];
	struct activity_span extent;
	int result = activity_extent(report->database, &extent);

	if (!result)
		log_error(
			"no activity in '%s' from %s to %s: it has looks from %s to %s; choose with --since and --until",
			report->database->path, time_text_write(asked->from_ns, from),
			time_text_write(asked->until_ns, until), time_text_write(extent.from_ns, first),
			time_text_write(extent.until_ns, last));
	else if (result == -ENODATA)
		log_error(
			"no activity in '%s': bourdond stores it if bourdon.conf has 'interval = 1s' below '[activity]'",
			report->database->path);
}

static void show_activity(struct report *report, const struct thread_view *view,
			  const struct activity_span *span, bool csv)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };
	int result = activity_load(report->database, view, span, &groups);

	report->unwell = result < 0;
	if (result == -ENODATA)
		explain_nothing(report, span);
	else if (result == -E2BIG)
		log_error("more than %u groups: group by fewer columns, or choose with --match",
			  ACTIVITY_GROUPS_MOST);
	else if (result < 0 && result != -EIO)
		log_error("cannot group the activity: %s", strerror(-result));
	if (result < 0)
		return;
	if (report->json)
		activity_print_json(report->out, view, &groups, report->limit);
	else if (csv)
		activity_print_csv(report->out, view, &groups, report->limit);
	else
		activity_print_text(report->out, view, &groups, report->limit, span, report->layout.columns);
}

/* ---- the subcommand ---- */

struct activity_words {
	struct shared_words shared;
	const char *all, *since, *until, *match, *group_by, *columns;
};

#define WORD(name) .at = offsetof(struct activity_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "limit", "N", "print at most N rows (30; JSON and CSV: all)", SHARED(limit) },
	{ "csv", NULL, "print CSV", SHARED(csv) },
	{ "all", NULL, "threads in every state", WORD(all) },
	{ "since", "TIME",
	  "from so long before --until on, or from a time such as 2026-11-25T14:03:00Z (" SINCE_DEFAULT ")",
	  WORD(since) },
	{ "until", "TIME", "the end: so long ago, or a time (now)", WORD(until) },
	{ "match", "WORDS", MATCH_HELP, WORD(match) },
	{ "group-by", "LIST", "any of state,syscall,comm,unit,cgroup,container,function,kernel,uid",
	  WORD(group_by) },
	{ "columns", "LIST", "the same as --group-by", WORD(columns) },
};

static int read_span(const struct activity_words *words, struct activity_span *ret_span)
{
	int64_t now_ns = clock_wall_ns();
	struct activity_span span = { 0, now_ns };
	int status = OPTIONS_RUN;

	if (words->until)
		status = subcommand_read_time("--until", words->until, now_ns, &span.until_ns);
	/* `--since 1h --until TIME` is the hour before that time */
	if (status == OPTIONS_RUN)
		status = subcommand_read_time("--since", words->since ? words->since : SINCE_DEFAULT,
					      span.until_ns, &span.from_ns);
	if (status != OPTIONS_RUN)
		return status;
	span.from_ns = span.from_ns < 0 ? 0 : span.from_ns;
	if (span.from_ns >= span.until_ns)
		return log_failed(EXIT_USAGE, "--since is not before --until%s",
				  words->until ? "" : ", which is now unless given");
	*ret_span = span;
	return OPTIONS_RUN;
}

static int read_view(const struct activity_words *words, struct thread_view *view)
{
	const struct columns_word columns = { words->group_by ? "--group-by" : "--columns",
					      words->group_by ? words->group_by : words->columns };

	if (words->group_by && words->columns)
		return log_failed(EXIT_USAGE, "--group-by and --columns mean the same: give one of them");
	view->all_states = words->all;
	return thread_view_read(&columns, words->match, THREADS_STORED, view);
}

static int activity_main(struct report *report, int count, char **arguments)
{
	struct activity_words words = { 0 };
	struct thread_view view = { 0 };
	struct activity_span span;
	int status = subcommand_parse(report, &activity_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = read_span(&words, &span);
	if (status == OPTIONS_RUN)
		status = read_view(&words, &view);
	if (status == OPTIONS_RUN)
		status = subcommand_open(report);
	if (status == OPTIONS_RUN)
		show_activity(report, &view, &span, words.shared.csv);
	return status;
}

SUBCOMMAND(
	activity, "activity", "", "show what all threads did over hours and days, in groups",
	"Shows what all threads of the machine did, as bourdond saw it at its looks, in groups: AVERAGE is how\n"
	"many threads were in a group at a look, MOST the most at one look. bourdond looks if bourdon.conf has an\n"
	"interval below [activity]. Without --all or a word on the state: threads that ran, were queued, or in D.",
	"bourdon activity --since 8h --match 'unit=*.service' --group-by state,syscall,unit", .limit = 30);
