/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * moments says when it ran and when it waited, to compare the times of samples with. On SIGUSR1 it burns wall
 * time in burn_moment(), on SIGUSR2 it sleeps in sleep_moment(). After each it prints when that began and ended.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

__attribute__((noinline)) static void burn_moment(uint64_t ns)
{
	uint64_t until_ns = clock_monotonic_ns() + ns;

	while (clock_monotonic_ns() < until_ns)
		;
}

__attribute__((noinline)) static void sleep_moment(uint64_t ns)
{
	const struct timespec time = clock_timespec(ns);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

int main(int argc, char **argv)
{
	const char *burn = "200", *sleep = "150";
	const struct option_spec options[] = {
		{ "burn", "MS", "wall time of a burst, on SIGUSR1 (200)", &burn },
		{ "sleep", "MS", "of a sleep, on SIGUSR2 (150)", &sleep },
	};
	const struct command_spec command = {
		"moments",
		"[--burn MS] [--sleep MS]",
		"Runs or sleeps when told to, and prints when: Unix time in ns.",
		"moments --burn 200",
		options,
		ARRAY_SIZE(options)
	};
	unsigned long long burn_ms, sleep_ms;
	int words, parsed, number;
	sigset_t signals;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(burn, 1, 10000, &burn_ms) || options_number(sleep, 1, 10000, &sleep_ms)) {
		log_error("takes 1 to 10000 ms, and no argument: see --help");
		return EXIT_USAGE;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	puts("ready");
	fflush(stdout);
	while (!sigwait(&signals, &number)) {
		bool burns = number == SIGUSR1;
		int64_t began_at = clock_wall_ns();

		if (burns)
			burn_moment(burn_ms * 1000000);
		else
			sleep_moment(sleep_ms * 1000000);
		printf("%s %" PRId64 " %" PRId64 "\n", burns ? "burned" : "slept", began_at, clock_wall_ns());
		fflush(stdout);
	}
	return EXIT_DONE;
}
