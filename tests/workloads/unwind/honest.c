/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * honest is a target whose profile has one right answer while other programs attack the recorder. Its threads
 * sleep until SIGUSR1, then run on one CPU for some seconds, in honest_burn() of its library. Two threads or
 * more on one CPU are CPU pressure, whatever other programs do. It prints how much CPU time they received.
 */
#define _GNU_SOURCE 1 /* pthread_setaffinity_np() */

#include "tests/workloads/unwind/honest.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/workloads/unwind/chain.h"
#include "tests/workloads/unwind/run.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64U
#define DEPTH 10U /* frames of chain.h */

static sem_t begin, done;
static volatile sig_atomic_t burnt;

struct settings {
	unsigned long long threads, cpu, burn_seconds;
};

/* The library calls it back, so that a stack goes from the program to the library, and there and back again. */
SOLID static void honest_handle(honest_leaf *leaf)
{
	leaf(&burnt);
	STAY();
}

SOLID static void honest_enter(void)
{
	honest_serve(honest_handle);
	STAY();
}

SOLID static void *honest_thread(void *argument)
{
	const struct chain chain = { { level_small, level_pushes }, 2, honest_enter };

	(void)argument;
	for (;;) {
		sem_wait(&begin);
		chain_descend(&chain, DEPTH);
		sem_post(&done);
	}
	return NULL;
}

static int start_threads(const struct settings *settings)
{
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t cpus;
	int error;

	CPU_ZERO(&cpus);
	CPU_SET(settings->cpu, &cpus);
	error = pthread_attr_init(&attributes);
	if (!error)
		error = pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	for (unsigned long long i = 0; i < settings->threads && !error; i++)
		error = pthread_create(&thread, &attributes, honest_thread, NULL);
	return -error;
}

/* Prints the CPU time that the threads received meanwhile. */
static void burn(const struct settings *settings)
{
	const struct timespec span = { .tv_sec = (time_t)settings->burn_seconds };
	uint64_t before_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);

	burnt = 0;
	for (unsigned long long i = 0; i < settings->threads; i++)
		sem_post(&begin);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
	burnt = 1;
	for (unsigned long long i = 0; i < settings->threads; i++)
		sem_wait(&done);
	printf("burnt cpu_ns=%" PRIu64 "\n", clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns);
	fflush(stdout);
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *threads = "2", *cpu = "0", *burn_seconds = "6";
	const struct option_spec options[] = {
		{ "threads", "N", "threads, all on one CPU (2)", &threads },
		{ "cpu", "C", "that CPU (0)", &cpu },
		{ "burn", "N", "seconds for which they run after SIGUSR1 (6)", &burn_seconds },
	};
	const struct command_spec command = { "unwind_honest",
					      "[--threads N] [--cpu C] [--burn N]",
					      "Makes CPU pressure of its own after each SIGUSR1.",
					      "unwind_honest --threads 2 --cpu 0 --burn 6",
					      options,
					      ARRAY_SIZE(options) };
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(threads, 1, THREADS_MAX, &ret_settings->threads) ||
	    options_number(cpu, 0, CPU_SETSIZE - 1, &ret_settings->cpu) ||
	    options_number(burn_seconds, 1, 3600, &ret_settings->burn_seconds)) {
		log_error("takes 1 to %u threads, a CPU and 1 to 3600 seconds: see --help", THREADS_MAX);
		return EXIT_USAGE;
	}
	return OPTIONS_RUN;
}

int main(int argc, char **argv)
{
	struct settings settings;
	int error, number, parsed = read_settings(argc, argv, &settings);
	sigset_t signals;

	if (parsed != OPTIONS_RUN)
		return parsed;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	sem_init(&begin, 0, 0);
	sem_init(&done, 0, 0);
	error = start_threads(&settings);
	if (error) {
		log_error("cannot start %llu threads on CPU %llu: %s", settings.threads, settings.cpu,
			  strerror(-error));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	while (!sigwait(&signals, &number))
		burn(&settings);
	return EXIT_FAILED;
}
