/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known_waits waits for exact times, so that what is measured of it has known answers: it sleeps, waits for a lock that its other
 * thread holds for so long, or makes children. With each SIGUSR1 it does that once more, so many times, and prints how long the
 * waits took by its own clock: count, median and the 99th percentile, in ns.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static struct timespec wait_time;

static void sleep_known(void)
{
	nanosleep(&wait_time, NULL);
}

/* Holds the lock for the time, whenever the main thread is about to want it. */
static void *hold(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&ready);
		nanosleep(&wait_time, NULL);
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&ready);
	}
	return unused;
}

__attribute__((noinline)) static void lock_known(void)
{
	pthread_barrier_wait(&ready);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_barrier_wait(&ready);
}

static void fork_known(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void wait_often(void (*once)(void), uint64_t times)
{
	_cleanup_free_ uint64_t *took = calloc(times, sizeof(*took));

	for (uint64_t i = 0; i < times && took; i++) {
		took[i] = clock_monotonic_ns();
		once();
		took[i] = clock_monotonic_ns() - took[i];
	}
	if (!took)
		return;
	qsort(took, times, sizeof(*took), compare);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", times, took[times / 2], took[times * 99 / 100]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *how = "sleep", *milliseconds = "10", *often = "100";
	const struct option_spec options[] = {
		{ "how", "WORD", "sleep, lock or fork (sleep)", &how },
		{ "time", "MS", "of each (10)", &milliseconds },
		{ "times", "N", "with each SIGUSR1 (100)", &often },
	};
	const struct command_spec command = {
		"known_waits",
		"[--how WORD] [--time MS] [--times N]",
		"Waits for exact times when told to, and prints how long that took.",
		"known_waits --how lock --time 20",
		options,
		ARRAY_SIZE(options)
	};
	static void (*const ways[])(void) = { sleep_known, lock_known, fork_known };
	static const char *const names[] = { "sleep", "lock", "fork" };
	unsigned long long ms, times;
	pthread_t thread;
	sigset_t signals;
	size_t way = 0;
	int words, parsed, number;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	while (way < ARRAY_SIZE(ways) && strcmp(names[way], how) != 0)
		way++;
	if (words || way == ARRAY_SIZE(ways) || options_number(milliseconds, 1, 10000, &ms) ||
	    options_number(often, 1, 100000, &times)) {
		log_error("takes sleep, lock or fork, and numbers: see --help");
		return EXIT_USAGE;
	}
	wait_time = clock_timespec(ms * 1000000);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	pthread_barrier_init(&ready, NULL, 2);
	if (ways[way] == lock_known && pthread_create(&thread, NULL, hold, NULL))
		return EXIT_FAILED;
	puts("ready");
	fflush(stdout);
	while (!sigwait(&signals, &number))
		wait_often(ways[way], times);
	return EXIT_FAILED;
}
