/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_hog makes CPU pressure, and a profile of it has one right answer: each thread runs in burn_cpu(), in
 * user space, without system calls. More threads than CPUs stall on the CPU. The stack below burn_cpu() is as
 * deep as asked for.
 */
#define _GNU_SOURCE 1 /* pthread_setaffinity_np() */

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_PER_CHECK 1024U /* rounds between two looks at `stop` */

static volatile sig_atomic_t stop; /* set by the signal handler */

struct settings {
	unsigned long long threads, cpu, seconds; /* 0: until a signal */
	unsigned long long depth;                 /* frames between the first of the thread and burn_cpu() */
	bool pinned, spread;
};

struct worker {
	pthread_t thread;
	unsigned long long depth;
	unsigned long long iterations;
};

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* The frame that a profile must show: it calls nothing. */
__attribute__((noinline, used)) static unsigned long long burn_cpu(unsigned long long state)
{
	unsigned long long iterations = 0;

	while (!stop) {
		for (unsigned int i = 0; i < ROUNDS_PER_CHECK; i++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			__asm__ volatile("" : "+r"(state)); /* keeps the compiler from folding the loop */
		}
		iterations += ROUNDS_PER_CHECK;
	}
	return iterations;
}

/* A frame for each level. The code behind the call keeps the compiler from making a loop of it. */
__attribute__((noinline)) static unsigned long long descend(unsigned long long levels)
{
	unsigned long long iterations = levels > 1 ? descend(levels - 1)
						   : burn_cpu((unsigned long long)time(NULL));

	__asm__ volatile("" : "+r"(iterations));
	return iterations;
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;

	worker->iterations = worker->depth ? descend(worker->depth)
					   : burn_cpu((unsigned long long)time(NULL));
	return NULL;
}

static int pin_to_cpu(pthread_t thread, unsigned long long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(thread, sizeof(set), &set);
}

/* The calling thread is the first worker. The sum over all workers is in *ret_iterations. */
static int burn_all(const struct settings *settings, unsigned long long *ret_iterations)
{
	_cleanup_free_ struct worker *workers = calloc(settings->threads, sizeof(*workers));
	unsigned long long started = 1, iterations = 0;
	int error = settings->spread ? pin_to_cpu(pthread_self(), 0) : 0;

	if (!workers)
		return -ENOMEM;
	workers[0].depth = settings->depth;
	while (started < settings->threads && !error) {
		workers[started].depth = settings->depth;
		error = -pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]);
		if (error)
			break;
		if (settings->spread)
			error = pin_to_cpu(workers[started].thread, started);
		started++;
	}
	if (error) {
		stop = 1;
	} else {
		puts("ready");
		fflush(stdout);
		worker_main(&workers[0]);
	}
	for (unsigned long long i = 0; i < started; i++) {
		if (i)
			pthread_join(workers[i].thread, NULL);
		iterations += workers[i].iterations;
	}
	if (!error)
		*ret_iterations = iterations;
	return error;
}

static bool read_number(const char *option, const char *text, unsigned long long least,
			unsigned long long most, unsigned long long *ret_number)
{
	if (!text || options_number(text, least, most, ret_number) == 0)
		return true;
	log_error("--%s takes a number from %llu to %llu, not '%s'", option, least, most, text);
	return false;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *threads = NULL, *cpu = NULL, *spread = NULL, *depth = NULL, *seconds = NULL;
	const struct option_spec options[] = {
		{ "threads", "N", "busy threads (1)", &threads },
		{ "cpu", "C", "pin all of them to CPU C (not pinned)", &cpu },
		{ "spread", NULL, "pin the first to CPU 0, the second to CPU 1, and so on", &spread },
		{ "depth", "N", "N more frames below burn_cpu() (0)", &depth },
		{ "seconds", "N", "end by itself (on SIGTERM or SIGINT)", &seconds },
	};
	const struct command_spec command = { "cpu_hog",
					      "[--threads N] [--cpu C | --spread] [--depth N] [--seconds N]",
					      "Burns CPU time in user space, in burn_cpu().",
					      "cpu_hog --threads 2 --cpu 0 --seconds 5",
					      options,
					      ARRAY_SIZE(options) };
	struct settings settings = { .threads = 1, .pinned = false };
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words) {
		log_error("takes no argument, not '%s': see --help", arguments[1]);
		return EXIT_USAGE;
	}
	if (!read_number("threads", threads, 1, 4096, &settings.threads) ||
	    !read_number("cpu", cpu, 0, CPU_SETSIZE - 1, &settings.cpu) ||
	    !read_number("depth", depth, 0, 1000, &settings.depth) ||
	    !read_number("seconds", seconds, 1, 86400, &settings.seconds))
		return EXIT_USAGE;
	if (cpu && spread) {
		log_error("--cpu and --spread exclude each other");
		return EXIT_USAGE;
	}
	settings.pinned = cpu != NULL;
	settings.spread = spread != NULL;
	*ret_settings = settings;
	return OPTIONS_RUN;
}

static double wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	unsigned long long iterations;
	struct settings settings;
	double began;
	int error, parsed;

	parsed = read_settings(argc, argv, &settings);
	if (parsed != OPTIONS_RUN)
		return parsed;
	error = settings.pinned ? pin_to_cpu(pthread_self(), settings.cpu) : 0;
	if (error) {
		log_error("cannot pin to CPU %llu: %s", settings.cpu, strerror(-error));
		return EXIT_FAILED;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	began = wall_seconds();
	alarm((unsigned int)settings.seconds);
	error = burn_all(&settings, &iterations);
	if (error) {
		log_error("cannot start %llu threads: %s", settings.threads, strerror(-error));
		return EXIT_FAILED;
	}
	printf("iterations=%llu threads=%llu wall_s=%.3f\n", iterations, settings.threads,
	       wall_seconds() - began);
	return EXIT_DONE;
}
