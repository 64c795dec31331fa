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

int threads_options_read(const struct threads_words *words, struct threads_options *ret_options)
{
	struct thread_view view = { .window = 1 };
	unsigned long long hz = HZ_DEFAULT;
	const char *word;
	int result, status;

	if (words->hz && options_number(words->hz, 1, HZ_MAX, &hz) < 0) {
		log_error("--hz '%s' is not a number of looks a second: give 1 to %u", words->hz, HZ_MAX);
		return EXIT_USAGE;
	}
	status = read_columns(words->columns, &view);
	if (status != OPTIONS_RUN)
		return status;
	view.sort = view.columns_count;
	result = words->match ? thread_filter_read(&view.filter, words->match, &word) : 0;
	if (result == -ENOENT)
		log_error("--match '%s': no column of the name before '='", word);
	else if (result < 0)
		log_error("--match: give at most %u words and %u characters", FILTER_WORDS_MAX,
			  FILTER_BYTES - 1);
	if (result < 0)
		return EXIT_USAGE;
	*ret_options = (struct threads_options){
		.view = view, .hz = (unsigned int)hz, .once = words->once != NULL, .csv = words->csv != NULL
	};
	return OPTIONS_RUN;
}
