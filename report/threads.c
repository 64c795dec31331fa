/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.c is `bourdon threads`, which looks at all threads some times a second, and `bourdon top --live`, which asks bourdond
 * for its samples of all CPUs: each shows what the threads do, once, for scripts, or on a screen. Neither needs a database.
 */
#include "common/cleanup.h"
#include "common/log.h"
#include "report/live_source.h"
#include "report/report.h"
#include "report/threads_options.h"
#include "report/threads_output.h"
#include "report/threads_screen.h"
#include "report/threads_source.h"

#include <string.h>
#include <unistd.h>

/* Shows the last second that has ended, to which `look` belongs. */
static int print_second(struct report *report, const struct thread_history *history,
			const struct thread_lines *look)
{
	const struct thread_view *view = &report->threads->view;
	_cleanup_thread_groups_ struct thread_groups groups = { 0 };
	uint32_t last = history->seconds_count - 1;
	int64_t at_ns = history->seconds[last].at_ns;
	int result = thread_history_group(history, view, last, &groups);

	if (result < 0)
		return result;
	if (report->json)
		threads_print_json(report->out, view, &groups, report->limit, look, at_ns);
	else if (report->threads->csv)
		threads_print_csv(report->out, view, &groups, report->limit, at_ns);
	else
		threads_print_text(report->out, view, &groups, report->limit, look);
	return fflush(report->out) ? -errno : 0;
}

/* Takes one look, and shows the second that it ends. *ret_shown says whether there was one. */
static int print_look(struct report *report, const struct look_source *source, struct thread_history *history,
		      bool *ret_shown)
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
	return result < 0 ? result : print_second(report, history, &look);
}

static int print_seconds(struct report *report, const struct look_source *source,
			 struct thread_history *history)
{
	const struct threads_options *options = report->threads;
	bool is_shown = false;
	int result = 0;

	if (options->csv)
		threads_print_csv_header(report->out, &options->view);
	while (!result && !(is_shown && options->once))
		result = print_look(report, source, history, &is_shown);
	return result;
}

/* -ECANCELED: the reason was logged. */
static int show(struct report *report, const struct look_source *source)
{
	_cleanup_free_ struct thread_history *history = calloc(1, sizeof(*history));
	const struct threads_options *options = report->threads;
	int result;

	if (!history)
		return -ENOMEM;
	result = options->is_screen ? threads_screen_run(source, history, &options->view)
				    : print_seconds(report, source, history);
	thread_history_free(history);
	return result;
}

static int show_samples(struct report *report)
{
	_cleanup_live_source_ struct live_source samples = LIVE_SOURCE_NONE;
	struct look_source source;

	if (live_source_open(report->database->path, &samples) < 0)
		return -ECANCELED;
	source = live_source_looks(&samples);
	return show(report, &source);
}

static int show_looks(struct report *report)
{
	_cleanup_threads_source_ struct threads_source pin = THREADS_SOURCE_NONE;
	struct look_source source;
	int result = threads_source_open(report->run_dir, &pin);

	if (result == -ENOMEM)
		return result;
	if (result < 0)
		return -ECANCELED;
	result = threads_source_begin(&pin, report->threads->hz, &source);
	return result < 0 ? result : show(report, &source);
}

void threads_run(struct report *report)
{
	const struct threads_options *options = report->threads;
	int result;

	report->unwell = true;
	if (options->is_screen && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		log_error("the screen needs a terminal: give --once, --json or --csv");
		return;
	}
	result = options->view.is_live ? show_samples(report) : show_looks(report);
	if (result == -ENOMEM)
		log_error("out of memory");
	else if (result < 0 && result != -ECANCELED)
		log_error("cannot show the threads: %s", strerror(-result));
	report->unwell = result < 0;
}
