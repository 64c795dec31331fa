/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/closer.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "common/thread.h"

#include <stdbool.h>
#include <string.h>

#define STACK_BYTES (64UL << 10)

struct closer {
	pthread_t thread;
	bool started, stopping;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int *fds;
	size_t count, room;
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
		pthread_mutex_unlock(&closer->lock);
		close(fd);
		pthread_mutex_lock(&closer->lock);
	}
	pthread_mutex_unlock(&closer->lock);
	return NULL;
}

int closer_start(struct closer **ret_closer)
{
	struct closer *closer = calloc(1, sizeof(*closer));
	int result;

	if (!closer)
		return -ENOMEM;
	pthread_mutex_init(&closer->lock, NULL);
	thread_condition_init(&closer->changed);
	result = thread_start(&closer->thread, STACK_BYTES, run, closer);
	if (result < 0) {
		log_error("cannot start the thread that closes triggers: %s", strerror(-result));
		closer_stop(closer);
		return result;
	}
	closer->started = true;
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

void closer_stop(struct closer *closer)
{
	if (!closer)
		return;
	if (closer->started) {
		pthread_mutex_lock(&closer->lock);
		closer->stopping = true;
		pthread_cond_signal(&closer->changed);
		pthread_mutex_unlock(&closer->lock);
		pthread_join(closer->thread, NULL);
	}
	pthread_mutex_destroy(&closer->lock);
	pthread_cond_destroy(&closer->changed);
	free(closer->fds);
	free(closer);
}
