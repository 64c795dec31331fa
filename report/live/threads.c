/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads: `bourdon threads`, which looks at all threads some times a second, and `bourdon top --live`, which asks bourdond
 * for its samples of all CPUs: each shows what the threads do, once, for scripts, or on a screen. Neither needs a database.
 */
#include "report/live/threads.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/context/subcommand.h"
#include "report/live/live_source.h"
#include "report/live/threads_output.h"
#include "report/live/threads_screen.h"
#include "report/live/threads_source.h"
#include "report/text/time_text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define HZ_DEFAULT 10U
#define HZ_MAX 100U

/* Shows the last second that has ended, to which `look` belongs. */
static int print_second(struct report *report, const struct threads_choice *choice,
			const struct thread_history *history, const struct thread_lines *look)
{
	const struct thread_view *view = &choice->view;
	_cleanup_thread_groups_ struct thread_groups groups = { 0 };
	uint32_t last = history->seconds_count - 1;
	int64_t at_ns = history->seconds[last].at_ns;
	char at[TIME_TEXT_BYTES];
	int result = thread_history_group(history, view, last, &groups);

	if (result < 0)
		return result;
	if (report->json)
		threads_print_json(report->out, view, &groups, report->limit, look, at_ns);
	else if (choice->csv)
		threads_print_csv(report->out, view, &groups, report->limit, time_text_write(at_ns, at));
	else
		threads_print_text(report->out, view, &groups, report->limit, look);
	return fflush(report->out) ? -errno : 0;
}

/* Takes one look, and shows the second that it ends. *ret_shown says whether there was one. */
static int print_look(struct report *report, const struct threads_choice *choice,
		      const struct look_source *source, struct thread_history *history, bool *ret_shown)
{
	_cleanup_thread_lines_ struct thread_lines look = { 0 };
	int result = look_source_wait(source, &look);

	if (result < 0) {
		source->explain(source->user, result);
		return -ECANCELED;
	}
	result = thread_history_add(history, &look);
	*ret_shown = look.ends_second;
	if (result < 0 || !look.ends_second)
		return result;
	result = thread_history_end_second(history);
	return result < 0 ? result : print_second(report, choice, history, &look);
}

static int print_seconds(struct report *report, const struct threads_choice *choice,
			 const struct look_source *source, struct thread_history *history)
{
	bool is_shown = false;
	int result = 0;

	if (choice->csv)
		threads_print_csv_header(report->out, &choice->view);
	while (!result && !(is_shown && choice->once))
		result = print_look(report, choice, source, history, &is_shown);
	return result;
}

/* -ECANCELED: the reason was logged. */
static int show_threads(struct report *report, const struct threads_choice *choice,
			const struct look_source *source)
{
	_cleanup_free_ struct thread_history *history = calloc(1, sizeof(*history));
	int result;

	if (!history)
		return -ENOMEM;
	result = choice->is_screen ? threads_screen_run(source, history, &choice->view)
				   : print_seconds(report, choice, source, history);
	thread_history_free(history);
	return result;
}

static int show_samples(struct report *report, const struct threads_choice *choice)
{
	_cleanup_live_lines_ struct live_lines samples = LIVE_LINES_NONE;
	struct look_source source;

	if (live_source_open(report->database->path, &samples) < 0)
		return -ECANCELED;
	source = live_source_looks(&samples);
	return show_threads(report, choice, &source);
}

static int show_looks(struct report *report, const struct threads_choice *choice)
{
	_cleanup_threads_source_ struct threads_source pin = THREADS_SOURCE_NONE;
	struct look_source source;
	int result = threads_source_open(report->run_dir, &pin);

	if (result == -ENOMEM)
		return result;
	if (result < 0)
		return -ECANCELED;
	result = threads_source_begin(&pin, choice->hz, &source);
	return result < 0 ? result : show_threads(report, choice, &source);
}

void threads_show(struct report *report, const struct threads_choice *choice)
{
	int result;

	report->unwell = true;
	if (choice->is_screen && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		log_error("the screen needs a terminal: give --once, --json or --csv");
		return;
	}
	result = choice->view.origin == THREADS_SAMPLED ? show_samples(report, choice)
							: show_looks(report, choice);
	if (result == -ENOMEM)
		log_error("out of memory");
	else if (result < 0 && result != -ECANCELED)
		log_error("cannot show the threads: %s", strerror(-result));
	report->unwell = result < 0;
}

/* ---- --columns and --match ---- */

static const uint32_t columns_usual[] = { THREAD_STATE, THREAD_SYSCALL, THREAD_COMM, THREAD_FUNCTION };
static const uint32_t columns_of_samples[] = { THREAD_FUNCTION, THREAD_COMM };

/* By where lines come from: the command, and which columns they have. */
static const struct {
	const char *command, *columns;
} origins[] = {
	[THREADS_NOW] = { "threads",
			  "state, syscall, comm, process, unit, cgroup, function, uid, fd, futex, tgid and tid" },
	[THREADS_SAMPLED] = { "top --live",
			      "comm, process, unit, cgroup, function, module, uid, tgid and tid" },
	[THREADS_STORED] = { "activity",
			     "state, syscall, comm, unit, cgroup, container, function, kernel and uid" },
};

/* The first command whose lines have the column. */
static const char *command_with(uint32_t column)
{
	uint32_t origin = 0;

	while (origin + 1 < ARRAY_SIZE(origins) && !thread_column_is_known(column, origin))
		origin++;
	return origins[origin].command;
}

/* Returns OPTIONS_RUN or EXIT_USAGE. */
static int add_column(const struct columns_word *word, const char *name, size_t bytes,
		      struct thread_view *view)
{
	enum thread_origin origin = view->origin;
	int column = thread_column_find(name, bytes);

	if (column >= 0 && !thread_column_is_known((uint32_t)column, origin))
		return log_failed(
			EXIT_USAGE,
			"%s %s: 'bourdon %s' has no column '%s', but 'bourdon %s' has; there are %s",
			word->option, word->text, origins[origin].command, thread_columns[column].name,
			command_with((uint32_t)column), origins[origin].columns);
	if (column < 0)
		return log_failed(EXIT_USAGE, "%s %s: no column '%.*s'; there are %s", word->option,
				  word->text, (int)bytes, name, origins[origin].columns);
	for (uint32_t i = 0; i < view->columns_count; i++)
		if (view->columns[i] == (uint32_t)column)
			return log_failed(EXIT_USAGE, "%s %s: '%s' is there twice", word->option, word->text,
					  thread_columns[column].name);
	view->columns[view->columns_count++] = (uint32_t)column;
	return OPTIONS_RUN;
}

static int read_columns(const struct columns_word *word, struct thread_view *view)
{
	view->columns_count = 0;
	if (!word->text) {
		bool of_samples = view->origin == THREADS_SAMPLED;

		view->columns_count = of_samples ? ARRAY_SIZE(columns_of_samples) : ARRAY_SIZE(columns_usual);
		memcpy(view->columns, of_samples ? columns_of_samples : columns_usual,
		       view->columns_count * sizeof(view->columns[0]));
		return OPTIONS_RUN;
	}
	for (const char *at = word->text;; at++) {
		size_t bytes = strcspn(at, ",");
		int status = add_column(word, at, bytes, view);

		if (status != OPTIONS_RUN)
			return status;
		at += bytes;
		if (!*at)
			return OPTIONS_RUN;
	}
}

static int read_match(const char *text, struct thread_view *view)
{
	const char *word;
	int result = thread_filter_read(&view->filter, text, &word);
	uint32_t column;

	if (result == -ENOENT)
		log_error("--match '%s': no column of the name before '='", word);
	else if (result < 0)
		log_error("--match: give at most %u words and %u characters", FILTER_WORDS_MAX,
			  FILTER_BYTES - 1);
	column = result < 0 ? THREAD_GROUPING : thread_filter_unknown(&view->filter, view->origin);
	if (column < THREAD_GROUPING)
		log_error("--match '%s': '%s' is not known here; there are %s", text,
			  thread_columns[column].name, origins[view->origin].columns);
	return result < 0 || column < THREAD_GROUPING ? EXIT_USAGE : OPTIONS_RUN;
}

int thread_view_read(const struct columns_word *columns, const char *match, enum thread_origin origin,
		     struct thread_view *view)
{
	int status;

	view->origin = origin;
	status = read_columns(columns, view);

	if (status == OPTIONS_RUN && match)
		status = read_match(match, view);
	view->sort = view->columns_count;
	return status;
}

/* ---- the subcommand ---- */

int threads_choice_read(const struct threads_words *words, enum thread_origin origin, bool csv, bool json,
			struct threads_choice *ret_choice)
{
	const struct columns_word columns = { "--columns", words->columns };

	*ret_choice = (struct threads_choice){
		/* nobody has a state in samples: all of them are shown */
		.view = { .window = 1, .all_states = origin == THREADS_SAMPLED },
		.hz = HZ_DEFAULT,
		.once = words->once,
		.csv = csv,
		.is_screen = !words->once && !csv && !json,
	};
	return thread_view_read(&columns, words->match, origin, &ret_choice->view);
}

struct own_words {
	struct shared_words shared;
	struct threads_words threads;
	const char *hz;
};

#define WORD(name) .at = offsetof(struct own_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_UNREAD_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "limit", "N", "print at most N rows (30; JSON and CSV: all)", SHARED(limit) },
	{ "run-dir", "DIR", RUN_DIR_HELP, SHARED(run_dir) },
	{ "csv", NULL, "print CSV, second by second, as JSON", SHARED(csv) },
	{ "once", NULL, "print the table of one second, and end", WORD(threads.once) },
	{ "hz", "N", "looks a second, 1 to 100 (10)", WORD(hz) },
	{ "match", "WORDS", MATCH_HELP, WORD(threads.match) },
	{ "columns", "LIST",
	  "group by these: state,syscall,comm,process,unit,cgroup,function,uid,fd,futex,tgid,tid",
	  WORD(threads.columns) },
};

static int read_hz(const char *word, unsigned int *hz)
{
	unsigned long long number;

	if (!word)
		return OPTIONS_RUN;
	if (options_number(word, 1, HZ_MAX, &number) < 0)
		return log_failed(EXIT_USAGE, "--hz '%s' is not a number of looks a second: give 1 to %u",
				  word, HZ_MAX);
	*hz = (unsigned int)number;
	return OPTIONS_RUN;
}

static int threads_main(struct report *report, int count, char **arguments)
{
	struct own_words words = { 0 };
	struct threads_choice choice;
	int status = subcommand_parse(report, &threads_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = threads_choice_read(&words.threads, THREADS_NOW, words.shared.csv, report->json,
					     &choice);
	if (status == OPTIONS_RUN)
		status = read_hz(words.hz, &choice.hz);
	if (status == OPTIONS_RUN)
		threads_show(report, &choice);
	return status;
}

SUBCOMMAND(
	threads, "threads", "", "show what all threads do now: a live screen, or --once",
	"Shows what all threads of the machine do, in groups: AVERAGE is how many threads were in a group at a\n"
	"look. A screen, with ? for help; or with --once, --json or --csv a table of one second. Members of the\n"
	"group bourdon-read may ask. Without a word on the state: threads that run, are queued, or are in D.",
	"bourdon threads --once --match 'state=D unit=*.service' --columns function,unit", .limit = 30);
