/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * teams is threads that work together badly, each way beside one that looks like it and is healthy:
 *
 * convoy: all threads want one lock, which is given to the thread that has waited longest (a mutex with priority inheritance), in
 *   convoy_step(). With a long --hold it is a lock that is held for long.
 * storm: the first thread has a task every --every ms, and wakes all threads that wait for one, in storm_wait(). With --one it wakes
 *   one of them; with as many --tasks as threads, each gets one.
 * timers: each thread sleeps for --every ms, again and again, by its own timer.
 * pool: --clients have tasks done, and wait for the result, in pool_ask(). Each task takes a worker --hold us, in pool_task(): it
 *   waits for a lock that all of them want, sleeps, or spins (--task). After so many requests (--batch) the clients wait for each other,
 *   so that the queue gets empty. With few clients and many workers, a worker is always free.
 */
#define _GNU_SOURCE 1 /* pthread_setname_np() */

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000ULL

static unsigned long long threads = 8, clients = 8, hold_us = 10, every_ms = 10, batch = 20, tasks = 1;
static const char *task = "sleep";
static bool wakes_one;

static pthread_mutex_t lock, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t batch_done;

static void spin(uint64_t ns)
{
	uint64_t until_ns = clock_monotonic_ns() + ns;

	while (clock_monotonic_ns() < until_ns)
		;
}

static void sleep_for(uint64_t ns)
{
	const struct timespec time = clock_timespec(ns);

	nanosleep(&time, NULL);
}

/* ---- convoy ---- */

__attribute__((noinline)) static void convoy_step(void)
{
	pthread_mutex_lock(&lock);
	spin(hold_us * 1000);
	pthread_mutex_unlock(&lock);
}

static void *convoy(void *unused)
{
	for (;;)
		convoy_step();
	return unused;
}

/* ---- storm ---- */

static unsigned long long storm_tasks;

__attribute__((noinline)) static void storm_wait(void)
{
	pthread_mutex_lock(&mutex);
	while (!storm_tasks)
		pthread_cond_wait(&has_work, &mutex);
	storm_tasks--;
	pthread_mutex_unlock(&mutex);
}

static void *storm(void *unused)
{
	for (;;) {
		storm_wait();
		spin(hold_us * 1000);
	}
	return unused;
}

__attribute__((noinline)) static void storm_give(void)
{
	pthread_mutex_lock(&mutex);
	storm_tasks += tasks;
	pthread_mutex_unlock(&mutex);
	if (wakes_one)
		pthread_cond_signal(&has_work);
	else
		pthread_cond_broadcast(&has_work);
}

static void *timer(void *unused)
{
	for (;;)
		sleep_for(every_ms * 1000000);
	return unused;
}

/* ---- pool ---- */

static struct request {
	struct request *next;
	bool is_done;
	pthread_cond_t done;
} * queue, **queue_end = &queue;

__attribute__((noinline)) static void pool_task(void)
{
	if (!strcmp(task, "lock")) {
		convoy_step();
		return;
	}
	(!strcmp(task, "spin") ? spin : sleep_for)(hold_us * 1000);
}

static void *pool_work(void *unused)
{
	pthread_setname_np(pthread_self(), "worker");
	pthread_mutex_lock(&mutex);
	for (;;) {
		struct request *request;

		while (!queue)
			pthread_cond_wait(&has_work, &mutex);
		request = queue;
		queue = request->next;
		if (!queue)
			queue_end = &queue;
		pthread_mutex_unlock(&mutex);
		pool_task();
		pthread_mutex_lock(&mutex);
		request->is_done = true;
		pthread_cond_signal(&request->done);
	}
	return unused;
}

__attribute__((noinline)) static void pool_ask(struct request *request)
{
	pthread_mutex_lock(&mutex);
	request->next = NULL;
	request->is_done = false;
	*queue_end = request;
	queue_end = &request->next;
	pthread_cond_signal(&has_work);
	while (!request->is_done)
		pthread_cond_wait(&request->done, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void *pool_client(void *unused)
{
	struct request request = { .done = PTHREAD_COND_INITIALIZER };

	pthread_setname_np(pthread_self(), "client");
	for (;;) {
		for (unsigned long long i = 0; i < batch; i++) {
			if (every_ms)
				sleep_for(every_ms * 1000000);
			pool_ask(&request);
		}
		pthread_barrier_wait(&batch_done);
	}
	return unused;
}

/* ---- the program ---- */

static void start(unsigned long long count, void *(*run)(void *))
{
	pthread_t thread;

	for (unsigned long long i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, run, NULL)) {
			log_error("cannot start a thread");
			_exit(EXIT_FAILED);
		}
}

static void make_lock(void)
{
	pthread_mutexattr_t fair;

	pthread_mutexattr_init(&fair);
	pthread_mutexattr_setprotocol(&fair, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lock, &fair);
}

int main(int argc, char **argv)
{
	const char *how = "convoy", *threads_text = "8", *clients_text = "8", *hold = "10", *every = "10",
		   *batch_text = "20", *tasks_text = "1", *one = NULL;
	const struct option_spec options[] = {
		{ "how", "WORD", "convoy, storm, timers or pool (convoy)", &how },
		{ "threads", "N", "that want the lock, wait for tasks, or do them (8)", &threads_text },
		{ "clients", "N", "that wait for tasks to be done (8)", &clients_text },
		{ "hold", "US", "how long the lock is held, or a task takes (10)", &hold },
		{ "every", "MS", "pause before each task; 0: none (10)", &every },
		{ "batch", "N", "requests of each client, until they wait for each other (20)", &batch_text },
		{ "tasks", "N", "of a storm: that come at once (1)", &tasks_text },
		{ "task", "WORD", "of a pool: lock, sleep or spin (sleep)", &task },
		{ "one", NULL, "of a storm: each task wakes one thread", &one },
	};
	const struct command_spec command = { "teams",
					      "[--how WORD] [--threads N] [OPTION...]",
					      "Threads that work together badly.",
					      "teams --how storm --threads 32",
					      options,
					      ARRAY_SIZE(options) };
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(threads_text, 1, 1024, &threads) ||
	    options_number(clients_text, 1, 1024, &clients) || options_number(hold, 0, 1000000, &hold_us) ||
	    options_number(every, 0, 1000, &every_ms) || options_number(batch_text, 1, 1000000, &batch) ||
	    options_number(tasks_text, 1, 1024, &tasks)) {
		log_error("takes numbers, and no argument: see --help");
		return EXIT_USAGE;
	}
	wakes_one = one != NULL;
	make_lock();
	pthread_barrier_init(&batch_done, NULL, (unsigned int)clients);
	start(threads, !strcmp(how, "convoy")   ? convoy
		       : !strcmp(how, "storm")  ? storm
		       : !strcmp(how, "timers") ? timer
						: pool_work);
	if (!strcmp(how, "pool"))
		start(clients, pool_client);
	puts("ready");
	fflush(stdout);
	for (;;) {
		sleep_for(every_ms ? every_ms * 1000000 : SECOND_NS);
		if (!strcmp(how, "storm"))
			storm_give();
	}
}
