/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hostile makes CPU pressure below functions with replaceable names. Each thread runs below a chain of
 * functions whose symbols are as long as asked for, hostile_00____... to hostile_15____..., so that a test
 * can put any bytes in their place in the file.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#define THREADS_MAX 64
#define FILL32 "________________________________"
#define FILL FILL32 FILL32 FILL32 FILL32 FILL32 FILL32 FILL32 FILL32 /* with the number: 266 bytes */

static volatile sig_atomic_t stop; /* set by the signal handler */

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

void hostile_leaf(unsigned int rounds);

__attribute__((noinline)) void hostile_leaf(unsigned int rounds)
{
	while (!stop)
		for (unsigned int i = 0; i < rounds; i++)
			__asm__ volatile("");
}

/* The code behind the call keeps the compiler from making a jump of it. */
#define LEVEL(number, next)                                                                                  \
	void level_##number(unsigned int rounds) __asm__("hostile_" #number FILL);                           \
	__attribute__((noinline)) void level_##number(unsigned int rounds)                                   \
	{                                                                                                    \
		next(rounds);                                                                                \
		__asm__ volatile("");                                                                        \
	}

LEVEL(15, hostile_leaf)
LEVEL(14, level_15)
LEVEL(13, level_14)
LEVEL(12, level_13)
LEVEL(11, level_12)
LEVEL(10, level_11)
LEVEL(09, level_10)
LEVEL(08, level_09)
LEVEL(07, level_08)
LEVEL(06, level_07)
LEVEL(05, level_06)
LEVEL(04, level_05)
LEVEL(03, level_04)
LEVEL(02, level_03)
LEVEL(01, level_02)
LEVEL(00, level_01)

static void *burn(void *name)
{
	prctl(PR_SET_NAME, name);
	level_00(1024);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *comm = NULL, *seconds_text = NULL;
	const struct option_spec options[] = {
		{ "comm", "NAME", "the process's own name (its file's)", &comm },
		{ "seconds", "N", "end by itself (120)", &seconds_text },
	};
	const struct command_spec command = { "hostile",
					      "[--comm NAME] [--seconds N] [NAME...]",
					      "Burns CPU time, in one more thread for each name.",
					      "hostile --comm one two three",
					      options,
					      ARRAY_SIZE(options) };
	const struct sigaction action = { .sa_handler = on_signal };
	unsigned long long seconds = 120;
	pthread_t threads[THREADS_MAX];
	int words, parsed, error = 0;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words > THREADS_MAX || (seconds_text && options_number(seconds_text, 1, 86400, &seconds))) {
		log_error("takes at most %d names, and a number of seconds: see --help", THREADS_MAX);
		return EXIT_USAGE;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (comm)
		prctl(PR_SET_NAME, comm);
	for (int i = 0; i < words && !error; i++)
		error = pthread_create(&threads[i], NULL, burn, argv[i + 1]);
	if (error) {
		log_error("cannot start its threads: %s", strerror(error));
		return EXIT_FAILED;
	}
	alarm((unsigned int)seconds);
	puts("ready");
	fflush(stdout);
	level_00(1024);
	for (int i = 0; i < words; i++)
		pthread_join(threads[i], NULL);
	return EXIT_DONE;
}
