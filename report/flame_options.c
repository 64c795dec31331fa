/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/flame_options.h"

#include "common/log.h"
#include "common/options.h"

#include <string.h>

int flame_options_read(const struct flame_words *words, struct flame_options *ret_options)
{
	struct sample_words samples = words->samples;
	struct sample_options *read = &ret_options->samples;

	samples.role = samples.role ? samples.role : "target";
	samples.kind = samples.kind ? samples.kind : samples.stall ? "offcpu" : "oncpu";
	if (sample_options_read(&samples, read) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (read->stall && read->on_cpu)
		log_error("--stall is of waiting: leave out --kind %s", samples.kind);
	else if (read->role && read->off_cpu && strcmp(read->role, "target") != 0)
		log_error("--role %s has no waiting: others than targets are recorded on CPU alone",
			  read->role);
	else {
		ret_options->icicle = words->icicle != NULL;
		return OPTIONS_RUN;
	}
	return EXIT_USAGE;
}
