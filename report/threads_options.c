/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/threads_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <errno.h>
#include <string.h>

#define HZ_DEFAULT 10U
#define HZ_MAX 100U

static const uint32_t columns_default[] = { THREAD_STATE, THREAD_SYSCALL, THREAD_COMM, THREAD_FUNCTION };
static const uint32_t columns_live[] = { THREAD_FUNCTION, THREAD_COMM };

static const char *columns_there_are(bool is_live)
{
	return is_live ? "comm, process, unit, cgroup, function, module, uid, tgid and tid"
		       : "state, syscall, comm, process, unit, cgroup, function, uid, fd, futex, tgid and tid";
}

/* Returns OPTIONS_RUN or EXIT_USAGE. */
static int add_column(const char *text, const char *name, size_t bytes, struct thread_view *view)
{
	int column = thread_column_find(name, bytes);

	if (column >= 0 && !thread_column_is_known((uint32_t)column, view->is_live)) {
		log_error("--columns %s: '%s' is not known of %s; there are %s", text,
			  thread_column_names[column],
			  view->is_live ? "samples on CPU" : "threads as such, but by 'bourdon top --live'",
			  columns_there_are(view->is_live));
		return EXIT_USAGE;
	}
	if (column < 0) {
		log_error("--columns %s: no column '%.*s'; there are %s", text, (int)bytes, name,
			  columns_there_are(view->is_live));
		return EXIT_USAGE;
	}
	for (uint32_t i = 0; i < view->columns_count; i++)
		if (view->columns[i] == (uint32_t)column) {
			log_error("--columns %s: '%s' is there twice", text, thread_column_names[column]);
			return EXIT_USAGE;
		}
	view->columns[view->columns_count++] = (uint32_t)column;
	return OPTIONS_RUN;
}

static int read_columns(const char *text, struct thread_view *view)
{
	const uint32_t *usual = view->is_live ? columns_live : columns_default;

	view->columns_count = 0;
	if (!text) {
		view->columns_count = view->is_live ? ARRAY_SIZE(columns_live) : ARRAY_SIZE(columns_default);
		memcpy(view->columns, usual, view->columns_count * sizeof(*usual));
		return OPTIONS_RUN;
	}
	for (const char *at = text;; at++) {
		size_t bytes = strcspn(at, ",");
		int status = add_column(text, at, bytes, view);

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
	column = result < 0 ? THREAD_GROUPING : thread_filter_unknown(&view->filter, view->is_live);
	if (column < THREAD_GROUPING)
		log_error("--match '%s': '%s' is not known here; there are %s", text,
			  thread_column_names[column], columns_there_are(view->is_live));
	return result < 0 || column < THREAD_GROUPING ? EXIT_USAGE : OPTIONS_RUN;
}

int threads_options_read(const struct threads_words *words, bool json, struct threads_options *ret_options)
{
	/* nobody has a state in samples: all of them are shown */
	struct thread_view view = { .window = 1, .is_live = words->live, .all_states = words->live };
	unsigned long long hz = HZ_DEFAULT;
	int status;

	if (words->hz && options_number(words->hz, 1, HZ_MAX, &hz) < 0) {
		log_error("--hz '%s' is not a number of looks a second: give 1 to %u", words->hz, HZ_MAX);
		return EXIT_USAGE;
	}
	status = read_columns(words->columns, &view);
	if (status == OPTIONS_RUN && words->match)
		status = read_match(words->match, &view);
	if (status != OPTIONS_RUN)
		return status;
	view.sort = view.columns_count;
	*ret_options = (struct threads_options){ .view = view,
						 .hz = (unsigned int)hz,
						 .once = words->once,
						 .csv = words->csv,
						 .is_screen = !words->once && !words->csv && !json };
	return OPTIONS_RUN;
}
