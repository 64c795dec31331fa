/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/closer.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/thread.h"

#include <stdbool.h>
#include <string.h>

#define STACK_BYTES (64UL << 10)
#define THREADS 8U

struct closer {
	pthread_t threads[THREADS];
	unsigned int started;
	bool stopping;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int *fds;
	size_t count, room;
	uint32_t closing; /* taken from `fds`, and not closed yet */
};

/*
 * Closes all descriptors, at the end of the daemon, too: the exit of the process would wait for each just as
 * long.
 */
static void *run(void *user)
{
	struct closer *closer = user;

	pthread_mutex_lock(&closer->lock);
	for (;;) {
		int fd;

		while (!closer->count && !closer->stopping)
			pthread_cond_wait(&closer->changed, &closer->lock);
		if (!closer->count)
			break;
		fd = closer->fds[--closer->count];
		closer->closing++;
		pthread_mutex_unlock(&closer->lock);
		close(fd);
		pthread_mutex_lock(&closer->lock);
		closer->closing--;
	}
	pthread_mutex_unlock(&closer->lock);
	return NULL;
}

int closer_start(struct closer **ret_closer)
{
	struct closer *closer = calloc(1, sizeof(*closer));
	int result = 0;

	if (!closer)
		return -ENOMEM;
	pthread_mutex_init(&closer->lock, NULL);
	thread_condition_init(&closer->changed);
	while (closer->started < THREADS && !result) {
		result = thread_start(&closer->threads[closer->started], STACK_BYTES, run, closer);
		closer->started += !result;
	}
	if (result < 0) {
		log_error("cannot start the threads that close triggers: %s", strerror(-result));
		closer_stop(closer);
		return result;
	}
	*ret_closer = closer;
	return 0;
}

void closer_close(struct closer *closer, int fd)
{
	bool accepted;

	if (fd < 0)
		return;
	pthread_mutex_lock(&closer->lock);
	accepted = !array_make_room(closer->fds, closer->count, closer->room, 1U);
	if (accepted)
		closer->fds[closer->count++] = fd;
	pthread_cond_signal(&closer->changed);
	pthread_mutex_unlock(&closer->lock);
	if (!accepted)
		close(fd);
}

uint32_t closer_pending(struct closer *closer)
{
	if (!closer)
		return 0;
	HOLD_LOCK(&closer->lock);
	return (uint32_t)closer->count + closer->closing;
}

void closer_stop(struct closer *closer)
{
	if (!closer)
		return;
	pthread_mutex_lock(&closer->lock);
	closer->stopping = true;
	pthread_cond_broadcast(&closer->changed);
	pthread_mutex_unlock(&closer->lock);
	for (unsigned int i = 0; i < closer->started; i++)
		pthread_join(closer->threads[i], NULL);
	pthread_mutex_destroy(&closer->lock);
	pthread_cond_destroy(&closer->changed);
	free(closer->fds);
	free(closer);
}
