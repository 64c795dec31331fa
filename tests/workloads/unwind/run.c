/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/workloads/unwind/run.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t run_over;

static void on_signal(int number)
{
	(void)number;
	run_over = 1;
}

static bool is_one_of(const char *const *kinds, const char *kind)
{
	while (*kinds && strcmp(*kinds, kind) != 0)
		kinds++;
	return *kinds != NULL;
}

int run_begin(const char *program, const char *const *kinds, int argc, char **argv, struct run *ret_run)
{
	const char *depth = "40", *seconds = "86400";
	struct run run = { .kind = kinds[0] };
	char kinds_help[256] = "what stacks:";
	const struct option_spec options[] = {
		{ "kind", "K", kinds_help, &run.kind },
		{ "depth", "N", "frames of our own between main() and the leaf's (40)", &depth },
		{ "seconds", "N", "end by itself (on SIGTERM or SIGINT)", &seconds },
	};
	const struct command_spec command = { program,
					      "[--kind K] [--depth N] [--seconds N]",
					      "Burns CPU time on stacks that a profile must show whole.",
					      "unwind_pie --depth 40 --seconds 5",
					      options,
					      ARRAY_SIZE(options) };
	int words, parsed;

	log_init(program);
	for (const char *const *kind = kinds; *kind; kind++) {
		size_t bytes = strlen(kinds_help);

		snprintf(kinds_help + bytes, sizeof(kinds_help) - bytes, " %s", *kind);
	}
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || !is_one_of(kinds, run.kind) || options_number(depth, 0, 1000, &run.depth) ||
	    options_number(seconds, 1, 86400, &run.seconds)) {
		log_error("takes a kind, 0 to 1000 frames and 1 to 86400 seconds: see --help");
		return EXIT_USAGE;
	}
	*ret_run = run;
	return OPTIONS_RUN;
}

void run_ready(const struct run *run)
{
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	alarm((unsigned int)run->seconds);
	puts("ready");
	fflush(stdout);
}
