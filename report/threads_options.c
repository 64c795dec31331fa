/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/threads_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <errno.h>
#include <string.h>

#define HZ_DEFAULT 10U
#define HZ_MAX 100U

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
static int add_column(const struct columns_word *word, enum thread_origin origin, const char *name,
		      size_t bytes, struct thread_view *view)
{
	int column = thread_column_find(name, bytes);

	if (column >= 0 && !thread_column_is_known((uint32_t)column, origin)) {
		log_error("%s %s: 'bourdon %s' has no column '%s', but 'bourdon %s' has; there are %s",
			  word->option, word->text, origins[origin].command, thread_column_names[column],
			  command_with((uint32_t)column), origins[origin].columns);
		return EXIT_USAGE;
	}
	if (column < 0) {
		log_error("%s %s: no column '%.*s'; there are %s", word->option, word->text, (int)bytes, name,
			  origins[origin].columns);
		return EXIT_USAGE;
	}
	for (uint32_t i = 0; i < view->columns_count; i++)
		if (view->columns[i] == (uint32_t)column) {
			log_error("%s %s: '%s' is there twice", word->option, word->text,
				  thread_column_names[column]);
			return EXIT_USAGE;
		}
	view->columns[view->columns_count++] = (uint32_t)column;
	return OPTIONS_RUN;
}

static int read_columns(const struct columns_word *word, enum thread_origin origin, struct thread_view *view)
{
	view->columns_count = 0;
	if (!word->text) {
		bool of_samples = origin == THREADS_SAMPLED;

		view->columns_count = of_samples ? ARRAY_SIZE(columns_of_samples) : ARRAY_SIZE(columns_usual);
		memcpy(view->columns, of_samples ? columns_of_samples : columns_usual,
		       view->columns_count * sizeof(view->columns[0]));
		return OPTIONS_RUN;
	}
	for (const char *at = word->text;; at++) {
		size_t bytes = strcspn(at, ",");
		int status = add_column(word, origin, at, bytes, view);

		if (status != OPTIONS_RUN)
			return status;
		at += bytes;
		if (!*at)
			return OPTIONS_RUN;
	}
}

static int read_match(const char *text, enum thread_origin origin, struct thread_view *view)
{
	const char *word;
	int result = thread_filter_read(&view->filter, text, &word);
	uint32_t column;

	if (result == -ENOENT)
		log_error("--match '%s': no column of the name before '='", word);
	else if (result < 0)
		log_error("--match: give at most %u words and %u characters", FILTER_WORDS_MAX,
			  FILTER_BYTES - 1);
	column = result < 0 ? THREAD_GROUPING : thread_filter_unknown(&view->filter, origin);
	if (column < THREAD_GROUPING)
		log_error("--match '%s': '%s' is not known here; there are %s", text,
			  thread_column_names[column], origins[origin].columns);
	return result < 0 || column < THREAD_GROUPING ? EXIT_USAGE : OPTIONS_RUN;
}

int threads_view_read(const struct columns_word *columns, const char *match, enum thread_origin origin,
		      struct thread_view *view)
{
	int status = read_columns(columns, origin, view);

	if (status == OPTIONS_RUN && match)
		status = read_match(match, origin, view);
	view->sort = view->columns_count;
	return status;
}

int threads_options_read(const struct threads_words *words, bool json, struct threads_options *ret_options)
{
	/* nobody has a state in samples: all of them are shown */
	struct thread_view view = { .window = 1, .is_live = words->live, .all_states = words->live };
	const struct columns_word columns = { "--columns", words->columns };
	unsigned long long hz = HZ_DEFAULT;
	int status;

	if (words->hz && options_number(words->hz, 1, HZ_MAX, &hz) < 0) {
		log_error("--hz '%s' is not a number of looks a second: give 1 to %u", words->hz, HZ_MAX);
		return EXIT_USAGE;
	}
	status =
		threads_view_read(&columns, words->match, words->live ? THREADS_SAMPLED : THREADS_NOW, &view);
	if (status != OPTIONS_RUN)
		return status;
	*ret_options = (struct threads_options){ .view = view,
						 .hz = (unsigned int)hz,
						 .once = words->once,
						 .csv = words->csv,
						 .is_screen = !words->once && !words->csv && !json };
	return OPTIONS_RUN;
}
