/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/export_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <string.h>

#define SEE "see 'bourdon export --help'"

int export_options_read(const struct export_words *words, struct export_options *ret_options)
{
	struct export_options options = { .format = NULL };
	char formats[128];

	export_format_list(formats, sizeof(formats));
	if (!words->format) {
		log_error("'export' needs --format, one of %s: " SEE, formats);
		return EXIT_USAGE;
	}
	options.format = export_format_find(words->format);
	if (!options.format) {
		log_error("--format '%s' is unknown: expected one of %s", words->format, formats);
		return EXIT_USAGE;
	}
	if (sample_options_read(&words->samples, &options.samples) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (options.samples.on_cpu && options.format->counts_alike)
		options.samples.off_cpu = false;
	*ret_options = options;
	return OPTIONS_RUN;
}
