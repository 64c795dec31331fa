/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/activity_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"
#include "report/threads_options.h"
#include "report/time_text.h"

#define SINCE_DEFAULT "1h"

static int read_time(const char *option, const char *word, int64_t now_ns, int64_t *ret_ns)
{
	if (!time_text_read(word, now_ns, ret_ns))
		return OPTIONS_RUN;
	log_error(
		"%s '%s' is no time: give how long ago, such as 90min or 7d, or a time such as 2026-11-25T14:03:00Z",
		option, word);
	return EXIT_USAGE;
}

static int read_span(const struct activity_words *words, int64_t now_ns, struct activity_span *ret_span)
{
	struct activity_span span = { 0, now_ns };

	if (words->until && read_time("--until", words->until, now_ns, &span.until_ns) != OPTIONS_RUN)
		return EXIT_USAGE;
	/* `--since 1h --until TIME` is the hour before that time */
	if (read_time("--since", words->since ? words->since : SINCE_DEFAULT, span.until_ns, &span.from_ns) !=
	    OPTIONS_RUN)
		return EXIT_USAGE;
	span.from_ns = span.from_ns < 0 ? 0 : span.from_ns;
	if (span.from_ns >= span.until_ns) {
		log_error("--since is not before --until%s",
			  words->until ? "" : ", which is now unless given");
		return EXIT_USAGE;
	}
	*ret_span = span;
	return OPTIONS_RUN;
}

int activity_options_read(const struct activity_words *words, int64_t now_ns,
			  struct activity_options *ret_options)
{
	const struct columns_word columns = { words->group_by ? "--group-by" : "--columns",
					      words->group_by ? words->group_by : words->columns };
	struct activity_options options = { .view.all_states = words->all, .csv = words->csv };
	int status;

	if (words->group_by && words->columns) {
		log_error("--group-by and --columns mean the same: give one of them");
		return EXIT_USAGE;
	}
	status = read_span(words, now_ns, &options.span);
	if (status == OPTIONS_RUN)
		status = threads_view_read(&columns, words->match, THREADS_STORED, &options.view);
	if (status == OPTIONS_RUN)
		*ret_options = options;
	return status;
}
