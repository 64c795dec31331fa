/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * three_hot runs in three functions, and a profile of it has one right answer: of its CPU time burn_half() has a half,
 * burn_third() a third, and burn_sixth() a sixth. Each turn of all three takes some microseconds, so that no clock of a
 * profiler keeps step with it. With --rest MS it sleeps in rest() for so long after each ms of work.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 1000U
#define TURNS_A_WORK 128U /* about a millisecond */

static volatile sig_atomic_t stop; /* set by the signal handler */

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* The three are the same but for the number of rounds. */
#define BURN(name, rounds)                                                                                   \
	__attribute__((noinline, used)) static unsigned long long name(unsigned long long state)             \
	{                                                                                                    \
		for (unsigned int i = 0; i < (rounds); i++) {                                                \
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;                     \
			__asm__ volatile("" : "+r"(state)); /* keeps the compiler from folding the loop */   \
		}                                                                                            \
		return state;                                                                                \
	}

BURN(burn_half, 3 * ROUNDS)
BURN(burn_third, 2 * ROUNDS)
BURN(burn_sixth, ROUNDS)

__attribute__((noinline)) static void rest(unsigned long long ms)
{
	const struct timespec pause = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	nanosleep(&pause, NULL);
	__asm__ volatile(""); /* no tail call: the function stays on the stack */
}

int main(int count, char **arguments)
{
	unsigned long long rest_ms = 0, state = (unsigned long long)time(NULL);
	const char *rest_word = "0";
	const struct option_spec options[] = {
		{ "rest", "MS", "sleep after each millisecond (default 0: never)", &rest_word }
	};
	const struct command_spec command = { .program = "three_hot",
					      .usage = "[OPTION...]",
					      .about = "Runs in three functions, until a signal.",
					      .options = options,
					      .options_count = ARRAY_SIZE(options) };
	int words, status;

	log_init("three_hot");
	status = options_parse(&command, count, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (words || options_number(rest_word, 0, 60000, &rest_ms) < 0) {
		log_error("--rest takes milliseconds, up to 60000");
		return EXIT_USAGE;
	}
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	puts("ready");
	fflush(stdout);
	while (!stop) {
		for (unsigned int i = 0; i < TURNS_A_WORK; i++)
			state = burn_sixth(burn_third(burn_half(state)));
		if (rest_ms)
			rest(rest_ms);
	}
	printf("%llu\n", state);
	return EXIT_DONE;
}
