/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pool is a pool of threads that have little to do: each waits for work at one condition variable, and the first thread gives
 * one of them some, a hundred times a second. None of them waits for a lock. With --signals they wait as threads do at a condition
 * variable of glibc since 2.41, at the number of signals that none has taken yet, which may begin anywhere: here it says of a lock
 * that it is taken and waited for.
 */
#define _GNU_SOURCE 1 /* syscall() */

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORK_EVERY_NS 10000000L
#define NO_SIGNAL 2U
#define ONE_SIGNAL 2U

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t has_work;
	unsigned long long waiting, done;
} pool = { .mutex = PTHREAD_MUTEX_INITIALIZER, .has_work = PTHREAD_COND_INITIALIZER };

static unsigned int signals = NO_SIGNAL;

static void *work_by_signals(void *user)
{
	(void)user;
	for (;;) {
		unsigned int seen = __atomic_load_n(&signals, __ATOMIC_ACQUIRE);

		if (seen == NO_SIGNAL)
			syscall(SYS_futex, &signals, FUTEX_WAIT_PRIVATE, seen, NULL);
		else
			__atomic_compare_exchange_n(&signals, &seen, seen - ONE_SIGNAL, false,
						    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void give_signals(void)
{
	const struct timespec pause = { .tv_nsec = WORK_EVERY_NS };

	for (;;) {
		nanosleep(&pause, NULL);
		__atomic_add_fetch(&signals, ONE_SIGNAL, __ATOMIC_RELEASE);
		syscall(SYS_futex, &signals, FUTEX_WAKE_PRIVATE, 1);
	}
}

static void *work(void *user)
{
	(void)user;
	pthread_mutex_lock(&pool.mutex);
	for (;;) {
		while (!pool.waiting)
			pthread_cond_wait(&pool.has_work, &pool.mutex);
		pool.waiting--;
		pool.done++;
	}
	return NULL;
}

/* Ends with the process: by a signal. */
static void give_work(void)
{
	const struct timespec pause = { .tv_nsec = WORK_EVERY_NS };

	for (;;) {
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&pool.mutex);
		pool.waiting++;
		pthread_cond_signal(&pool.has_work);
		pthread_mutex_unlock(&pool.mutex);
	}
}

int main(int count, char **arguments)
{
	const char *threads = "64", *by_signals = NULL;
	const struct option_spec options[] = {
		{ "threads", "N", "threads that wait for work (64)", &threads },
		{ "signals", NULL, "wait at the number of signals", &by_signals },
	};
	const struct command_spec command = { "pool",
					      "[--threads N] [--signals]",
					      "Keeps threads that wait for work at a condition variable.",
					      "pool --threads 64",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long workers;
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(threads, 1, 1024, &workers)) {
		log_error("takes 1 to 1024 threads: see --help");
		return EXIT_USAGE;
	}
	for (unsigned long long i = 0; i < workers; i++) {
		pthread_t thread;
		int error = pthread_create(&thread, NULL, by_signals ? work_by_signals : work, NULL);

		if (error) {
			log_error("cannot start a thread: %s", strerror(error));
			return EXIT_FAILED;
		}
	}
	puts("ready");
	fflush(stdout);
	if (by_signals)
		give_signals();
	give_work();
}
