/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapping_reader.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/thread.h"
#include "consumer/target/iterator_stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define STACK_BYTES (64UL << 10)
#define CHUNK_BYTES 65536U
#define END_NS (CLOCK_SECOND_NS / 2) /* what a walk that is about to end may take when all ends */

enum walk {
	WALK_NONE,
	WALK_WANTED,
	WALK_READING,
	WALK_LEFT, /* the same, and nobody waits for it any more */
};

struct walker {
	const struct pinned *pinned;
	pthread_t thread;
	bool started;

	/*
	 * under the lock, but for the chunk's bytes, which are the thread's until it is there, and then the
	 * reader's /
	 */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum walk walk;
	bool stopping;
	bool chunk_there;
	ssize_t chunk_bytes; /* 0: the end; or -errno */
	size_t chunk_used;
	char chunk[CHUNK_BYTES];
};

/* ---- the thread ---- */

static ssize_t read_chunk(struct walker *walker, int fd)
{
	ssize_t got;

	if (fd < 0)
		return fd;
	do
		got = read(fd, walker->chunk, sizeof(walker->chunk));
	while (got < 0 && (errno == EINTR || errno == EAGAIN)); /* EAGAIN: see records_read() */
	return got < 0 ? -errno : got;
}

/* Hands one chunk over. False where nobody takes it. */
static bool hand_over(struct walker *walker, ssize_t got)
{
	bool goes_on;

	pthread_mutex_lock(&walker->lock);
	walker->chunk_bytes = got;
	walker->chunk_used = 0;
	walker->chunk_there = true;
	pthread_cond_broadcast(&walker->changed);
	while (walker->chunk_there && walker->walk == WALK_READING)
		pthread_cond_wait(&walker->changed, &walker->lock);
	goes_on = walker->walk == WALK_READING;
	pthread_mutex_unlock(&walker->lock);
	return goes_on;
}

static void walk_once(struct walker *walker)
{
	_cleanup_close_ int fd = pinned_open_iterator(walker->pinned, PIN_MAPPINGS);
	ssize_t got;

	do
		got = read_chunk(walker, fd);
	while (hand_over(walker, got) && got > 0);
}

static void *run(void *user)
{
	struct walker *walker = user;

	pthread_mutex_lock(&walker->lock);
	while (!walker->stopping) {
		if (walker->walk == WALK_WANTED) {
			walker->walk = WALK_READING;
			pthread_mutex_unlock(&walker->lock);
			walk_once(walker);
			pthread_mutex_lock(&walker->lock);
		}
		/* or it was left before it began */
		if (walker->walk != WALK_NONE) {
			walker->walk = WALK_NONE;
			walker->chunk_there = false;
			pthread_cond_broadcast(&walker->changed);
		}
		if (!walker->stopping)
			pthread_cond_wait(&walker->changed, &walker->lock);
	}
	pthread_mutex_unlock(&walker->lock);
	return NULL;
}

/* ---- the reader ---- */

struct reading {
	struct walker *walker;
	uint64_t deadline_ns;
};

/* Until `there` is so, or the deadline. Under the lock. */
#define AWAIT(walker, there, deadline_ns)                                                                    \
	for (int waited = 0; !(there) && !waited;)                                                           \
	waited = thread_condition_wait_until(&(walker)->changed, &(walker)->lock, deadline_ns)

/* As read(2), from the thread. */
static ssize_t next_bytes(void *user, char *buffer, size_t room)
{
	const struct reading *reading = user;
	struct walker *walker = reading->walker;
	ssize_t got = -ETIMEDOUT;

	/* also where the thread is faster than what is made of it */
	if (clock_monotonic_ns() >= reading->deadline_ns)
		return got;
	pthread_mutex_lock(&walker->lock);
	AWAIT(walker, walker->chunk_there, reading->deadline_ns);
	if (walker->chunk_there) {
		got = walker->chunk_bytes;
		if (got > 0) {
			size_t left = (size_t)got - walker->chunk_used;

			got = (ssize_t)(left < room ? left : room);
			memcpy(buffer, walker->chunk + walker->chunk_used, (size_t)got);
			walker->chunk_used += (size_t)got;
		}
		walker->chunk_there = got > 0 && walker->chunk_used < (size_t)walker->chunk_bytes;
		pthread_cond_broadcast(&walker->changed);
	}
	pthread_mutex_unlock(&walker->lock);
	return got;
}

int walker_read(struct walker *walker, uint64_t deadline_ns,
		long (*take)(void *user, const char *records, size_t bytes), void *user)
{
	struct reading reading = { walker, deadline_ns };
	bool is_free;
	int result;

	pthread_mutex_lock(&walker->lock);
	/* one that has been read to its end is about to end */
	AWAIT(walker, walker->walk == WALK_NONE || walker->walk == WALK_LEFT, deadline_ns);
	is_free = walker->walk == WALK_NONE;
	if (is_free) {
		walker->walk = WALK_WANTED;
		pthread_cond_broadcast(&walker->changed);
	}
	pthread_mutex_unlock(&walker->lock);
	if (!is_free)
		return -EBUSY;
	result = records_read_by(next_bytes, &reading, take, user);
	pthread_mutex_lock(&walker->lock);
	if (result < 0 && walker->walk != WALK_NONE) {
		walker->walk = WALK_LEFT;
		pthread_cond_broadcast(&walker->changed);
	}
	pthread_mutex_unlock(&walker->lock);
	return result;
}

/* ---- both ends of its life ---- */

int walker_open(struct walker **ret_walker, const struct pinned *pinned)
{
	struct walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return -ENOMEM;
	walker->pinned = pinned;
	pthread_mutex_init(&walker->lock, NULL);
	thread_condition_init(&walker->changed);
	*ret_walker = walker;
	return 0;
}

int walker_start(struct walker *walker)
{
	int result = thread_start(&walker->thread, STACK_BYTES, run, walker);

	if (result < 0)
		log_error("cannot start the thread that reads mappings: %s", strerror(-result));
	walker->started = !result;
	return result;
}

void walker_free(struct walker *walker)
{
	bool has_ended = true;

	if (!walker)
		return;
	if (walker->started) {
		uint64_t deadline_ns = clock_monotonic_ns() + END_NS;

		pthread_mutex_lock(&walker->lock);
		walker->stopping = true;
		pthread_cond_broadcast(&walker->changed);
		AWAIT(walker, walker->walk == WALK_NONE, deadline_ns);
		has_ended = walker->walk == WALK_NONE;
		pthread_mutex_unlock(&walker->lock);
		if (has_ended)
			pthread_join(walker->thread, NULL);
	}
	if (!has_ended)
		return;
	pthread_mutex_destroy(&walker->lock);
	pthread_cond_destroy(&walker->changed);
	free(walker);
}
