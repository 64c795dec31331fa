/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/thread.h"

#include "common/base/clock.h"

#include <errno.h>
#include <semaphore.h>

/* Valid until the thread has signalled that it runs. */
struct start {
	sem_t running;
	void *(*run)(void *user);
	void *user;
};

static void *begin(void *user)
{
	struct start *start = user;
	void *(*run)(void *user) = start->run;
	void *own = start->user;

	sem_post(&start->running);
	return run(own);
}

int thread_start(pthread_t *ret_thread, size_t stack_bytes, void *(*run)(void *user), void *user)
{
	struct start start = { .run = run, .user = user };
	pthread_attr_t attributes;
	int result = pthread_attr_init(&attributes);

	if (result)
		return -result;
	sem_init(&start.running, 0, 0);
	result = pthread_attr_setstacksize(&attributes, stack_bytes);
	if (!result)
		result = pthread_create(ret_thread, &attributes, begin, &start);
	pthread_attr_destroy(&attributes);
	while (!result && sem_wait(&start.running) && errno == EINTR)
		;
	sem_destroy(&start.running);
	return -result;
}

/* These calls cannot fail on Linux: they only write to the object. */
void thread_condition_init(pthread_cond_t *ret_condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(ret_condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

int thread_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);

	return -pthread_cond_timedwait(condition, lock, &until);
}
