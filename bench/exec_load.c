/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec_load executes a program over and over until SIGTERM, at a steady rate if the machine is fast enough,
 * and prints how many times.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
	(void)signal;
	ended = true;
}

static void handle_signals(void)
{
	const struct sigaction end = { .sa_handler = note_end };
	/* the kernel reaps the children */
	const struct sigaction ignore = { .sa_handler = SIG_IGN, .sa_flags = SA_NOCLDWAIT };

	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGCHLD, &ignore, NULL);
}

/* A late exec is made up for at once. Returns 0 or -errno. */
static int run(char **command, unsigned long long rate, uint64_t *ret_execs)
{
	uint64_t began_ns = clock_monotonic_ns();

	for (uint64_t execs = 0; !ended; *ret_execs = ++execs) {
		struct timespec due = clock_timespec(began_ns + execs * CLOCK_SECOND_NS / rate);
		pid_t child;
		int error;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		error = posix_spawn(&child, command[0], NULL, NULL, command, environ);
		if (error)
			return -error;
	}
	return 0;
}

int main(int count, char **words)
{
	const char *text = "2000";
	const struct option_spec options[] = { { "rate", "N", "execs a second (2000)", &text } };
	const struct command_spec command = { "exec_load",
					      "PROGRAM [--rate N]",
					      "Executes PROGRAM N times a second until SIGTERM.",
					      "exec_load build/bench/exec_child --rate 2000",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long rate;
	uint64_t execs = 0, began_ns;
	double seconds;
	int positional, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &positional);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (positional != 1 || options_number(text, 1, 100000, &rate)) {
		log_error("expected a program and a rate up to 100000: see --help");
		return EXIT_USAGE;
	}
	handle_signals();
	began_ns = clock_monotonic_ns();
	error = run((char *[]){ words[1], NULL }, rate, &execs);
	seconds = (double)(clock_monotonic_ns() - began_ns) / (double)CLOCK_SECOND_NS;
	if (error) {
		log_error("cannot run '%s': %s", words[1], strerror(-error));
		return EXIT_FAILED;
	}
	printf("execs=%" PRIu64 " rate=%.0f\n", execs, (double)execs / seconds);
	return EXIT_DONE;
}
