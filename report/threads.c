/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.c is `bourdon threads`: it looks at all threads some times a second, and shows what they do, once, for scripts, or
 * on a screen. It needs no database and no daemon.
 */
#include "report/threads.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/options.h"
#include "report/report.h"
#include "report/threads_output.h"
#include "report/threads_screen.h"
#include "report/threads_source.h"
#include "report/threads_ticks.h"

#include <string.h>
#include <unistd.h>

#define HZ_DEFAULT 10U
#define HZ_MAX 100U

static const uint32_t columns_default[] = { THREAD_STATE, THREAD_SYSCALL, THREAD_COMM, THREAD_FUNCTION };

static int read_columns(const char *text, struct thread_view *view)
{
	view->columns_count = 0;
	if (!text) {
		memcpy(view->columns, columns_default, sizeof(columns_default));
		view->columns_count = ARRAY_SIZE(columns_default);
		return OPTIONS_RUN;
	}
	for (const char *at = text;; at++) {
		size_t bytes = strcspn(at, ",");
		int column = thread_column_find(at, bytes);

		for (uint32_t i = 0; i < view->columns_count && column >= 0; i++)
			if (view->columns[i] == (uint32_t)column) {
				log_error("--columns %s: '%s' is there twice", text,
					  thread_column_names[column]);
				return EXIT_USAGE;
			}
		if (column < 0) {
			log_error(
				"--columns %s: no column '%.*s'; there are state, syscall, comm, process, unit, cgroup, function, uid, fd, futex, tgid and tid",
				text, (int)bytes, at);
			return EXIT_USAGE;
		}
		view->columns[view->columns_count++] = (uint32_t)column;
		at += bytes;
		if (!*at)
			return OPTIONS_RUN;
	}
}

static int read_words(const struct threads_words *words, struct thread_view *view, unsigned int *ret_hz)
{
	unsigned long long hz = HZ_DEFAULT;
	const char *word;
	int result, status;

	*view = (struct thread_view){ .window = 1 };
	if (words->hz && options_number(words->hz, 1, HZ_MAX, &hz) < 0) {
		log_error("--hz '%s' is not a number of looks a second: give 1 to %u", words->hz, HZ_MAX);
		return EXIT_USAGE;
	}
	status = read_columns(words->columns, view);
	if (status != OPTIONS_RUN)
		return status;
	view->sort = view->columns_count;
	result = words->match ? thread_filter_read(&view->filter, words->match, &word) : 0;
	if (result == -ENOENT)
		log_error("--match '%s': no column of the name before '='", word);
	else if (result < 0)
		log_error("--match: give at most %u words and %u characters", FILTER_WORDS_MAX,
			  FILTER_BYTES - 1);
	*ret_hz = (unsigned int)hz;
	return result < 0 ? EXIT_USAGE : OPTIONS_RUN;
}

int threads_words_check(const struct threads_words *words)
{
	struct thread_view view;
	unsigned int hz;

	return read_words(words, &view, &hz);
}

/* Shows the last second that has ended. */
static int print_second(struct report *report, const struct thread_history *history,
			const struct thread_view *view)
{
	_cleanup_thread_groups_ struct thread_groups groups = { 0 };
	uint32_t last = history->seconds_count - 1;
	int64_t at_ns = history->seconds[last].at_ns;
	int result = thread_history_group(history, view, last, &groups);

	if (result < 0)
		return result;
	if (report->json)
		threads_print_json(report->out, view, &groups, report->limit, at_ns);
	else if (report->threads->csv)
		threads_print_csv(report->out, view, &groups, report->limit, at_ns);
	else
		threads_print_text(report->out, view, &groups, report->limit);
	return fflush(report->out) ? -errno : 0;
}

/* Looks for a second. */
static int watch_second(struct threads_source *source, struct thread_history *history, unsigned int hz,
			int ticks)
{
	int result = 0;

	for (unsigned int look = 0; look < hz && !result; look++) {
		_cleanup_thread_lines_ struct thread_lines lines = { 0 };

		result = threads_ticks_wait(ticks);
		if (!result)
			result = threads_source_look(source, &lines);
		if (!result)
			result = thread_history_add(history, &lines, clock_wall_ns());
	}
	return result ? result : thread_history_end_second(history);
}

static int print_seconds(struct report *report, struct threads_source *source, struct thread_history *history,
			 const struct thread_view *view, unsigned int hz)
{
	_cleanup_close_ int ticks = threads_ticks_begin(hz);
	int result = ticks < 0 ? ticks : 0;
	bool again = true;

	if (report->threads->csv)
		threads_print_csv_header(report->out, view);
	while (!result && again) {
		result = watch_second(source, history, hz, ticks);
		if (!result)
			result = print_second(report, history, view);
		again = !report->threads->once;
	}
	return result;
}

void threads_run(struct report *report)
{
	_cleanup_threads_source_ struct threads_source source = THREADS_SOURCE_NONE;
	_cleanup_free_ struct thread_history *history = calloc(1, sizeof(*history));
	const struct threads_words *words = report->threads;
	bool is_screen = !words->once && !words->csv && !report->json;
	struct thread_view view;
	unsigned int hz;
	int result;

	report->unwell = true;
	if (read_words(words, &view, &hz) != OPTIONS_RUN)
		return;
	if (is_screen && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		log_error("the screen needs a terminal: give --once, --json or --csv");
		return;
	}
	result = history ? threads_source_open(report->run_dir, &source) : -ENOMEM;
	if (!result && is_screen)
		result = threads_screen_run(&source, history, &view, hz);
	else if (!result)
		result = print_seconds(report, &source, history, &view, hz);
	if (result < 0 && source.failed)
		threads_source_explain(&source, result);
	else if (result == -ENOMEM)
		log_error("out of memory");
	else if (result < 0 && result != -ENOTTY && source.held >= 0)
		log_error("cannot show the threads: %s", strerror(-result));
	if (history)
		thread_history_free(history);
	report->unwell = result < 0;
}
