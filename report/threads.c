/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.c is `bourdon threads`: it looks at all threads some times a second, and shows what they do, once, for scripts, or
 * on a screen. It needs no database and no daemon.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "report/report.h"
#include "report/threads_options.h"
#include "report/threads_output.h"
#include "report/threads_screen.h"
#include "report/threads_source.h"
#include "report/threads_ticks.h"

#include <string.h>
#include <unistd.h>

/* Shows the last second that has ended. */
static int print_second(struct report *report, const struct thread_history *history)
{
	const struct thread_view *view = &report->threads->view;
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

static int print_seconds(struct report *report, struct threads_source *source, struct thread_history *history)
{
	const struct threads_options *options = report->threads;
	_cleanup_close_ int ticks = threads_ticks_begin(options->hz);
	int result = ticks < 0 ? ticks : 0;
	bool again = true;

	if (options->csv)
		threads_print_csv_header(report->out, &options->view);
	while (!result && again) {
		result = watch_second(source, history, options->hz, ticks);
		if (!result)
			result = print_second(report, history);
		again = !options->once;
	}
	return result;
}

void threads_run(struct report *report)
{
	_cleanup_threads_source_ struct threads_source source = THREADS_SOURCE_NONE;
	_cleanup_free_ struct thread_history *history = calloc(1, sizeof(*history));
	const struct threads_options *options = report->threads;
	bool is_screen = !options->once && !options->csv && !report->json;
	int result;

	report->unwell = true;
	if (is_screen && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		log_error("the screen needs a terminal: give --once, --json or --csv");
		return;
	}
	result = history ? threads_source_open(report->run_dir, &source) : -ENOMEM;
	if (!result && is_screen)
		result = threads_screen_run(&source, history, &options->view, options->hz);
	else if (!result)
		result = print_seconds(report, &source, history);
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
