/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/list_options.h"

#include "common/log.h"
#include "common/options.h"
#include "common/psi_resource.h"
#include "report/time_text.h"

#include <stdbool.h>
#include <string.h>

static bool is_resource(const char *word)
{
	for (int i = 0; i < PSI_RESOURCES; i++)
		if (!strcmp(word, psi_resource_names[i]))
			return true;
	return false;
}

int list_options_read(const struct list_words *words, int64_t now_ns, struct list_options *ret_options)
{
	struct list_options options = { .which = words->all        ? LIST_ALL
						 : words->baseline ? LIST_BASELINES
								   : LIST_CAPTURES,
					.rule = words->rule,
					.unit = words->unit,
					.resource = words->resource,
					.since_at = INT64_MIN };

	if (words->all && words->baseline)
		log_error("--all and --baseline exclude each other: --all has baselines and captures");
	else if (words->resource && !is_resource(words->resource))
		log_error("--resource '%s': expected cpu, memory, io or irq", words->resource);
	else if (words->since && time_text_read(words->since, now_ns, &options.since_at))
		log_error(
			"--since '%s' is no time: give how long ago, such as 90min or 7d, or a time such as 2026-11-25T14:03:00Z",
			words->since);
	else {
		*ret_options = options;
		return OPTIONS_RUN;
	}
	return EXIT_USAGE;
}
