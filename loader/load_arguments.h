/* SPDX-License-Identifier: GPL-2.0-only */
/* load_arguments.h owns the command line of bourdon-load: its options, their limits, and what is a mistake. */
#ifndef BOURDON_LOADER_LOAD_ARGUMENTS_H
#define BOURDON_LOADER_LOAD_ARGUMENTS_H

#include "loader/load.h"

struct load_arguments {
	const char *check, *json, *unload, *status;
	const char *policy, *pin_dir, *run_dir, *group, *readers, *hz, *ring_size, *targets, *unwind_memory,
		*probes, *quiet_after;
};

/* Returns OPTIONS_RUN (common/system/options.h) or an exit status. Logs a mistake. */
int load_arguments_parse(struct load_arguments *ret_arguments, int count, char **words);

/* Reads the values that are numbers, sizes and times. Returns EXIT_DONE, or EXIT_USAGE, which it has logged. */
int load_arguments_settings(const struct load_arguments *arguments, struct load_settings *settings);

#endif
