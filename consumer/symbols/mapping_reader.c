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
/* time that mapping_reader_free() waits for a scan that is about to end */
#define END_NS (CLOCK_SECOND_NS / 2)

enum scan {
	SCAN_NONE,
	SCAN_WANTED,
	SCAN_READING,
	SCAN_LEFT, /* still reading, but the caller has given up */
};

struct mapping_reader {
	const struct kernel_objects *kernel;
	pthread_t thread;
	bool started;

	/*
	 * Protected by the lock. Exception: chunk[] belongs to the thread until chunk_there, and then to the
	 * caller.
	 */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum scan scan;
	bool stopping;
	bool chunk_there;
	ssize_t chunk_bytes; /* 0: end of stream; negative: -errno */
	size_t chunk_used;
	char chunk[CHUNK_BYTES];
};

/* ---- the thread ---- */

static ssize_t read_chunk(struct mapping_reader *reader, int fd)
{
	ssize_t got;

	if (fd < 0)
		return fd;
	do
		got = read(fd, reader->chunk, sizeof(reader->chunk));
	while (got < 0 && (errno == EINTR || errno == EAGAIN)); /* EAGAIN: see iterator_stream_read() */
	return got < 0 ? -errno : got;
}

/* Hands one chunk to the caller. Returns false if the caller has given up. */
static bool hand_over(struct mapping_reader *reader, ssize_t got)
{
	bool goes_on;

	pthread_mutex_lock(&reader->lock);
	reader->chunk_bytes = got;
	reader->chunk_used = 0;
	reader->chunk_there = true;
	pthread_cond_broadcast(&reader->changed);
	while (reader->chunk_there && reader->scan == SCAN_READING)
		pthread_cond_wait(&reader->changed, &reader->lock);
	goes_on = reader->scan == SCAN_READING;
	pthread_mutex_unlock(&reader->lock);
	return goes_on;
}

static void scan_once(struct mapping_reader *reader)
{
	_cleanup_close_ int fd = kernel_objects_open_iterator(reader->kernel, PIN_MAPPINGS);
	ssize_t got;

	do
		got = read_chunk(reader, fd);
	while (hand_over(reader, got) && got > 0);
}

static void *run(void *user)
{
	struct mapping_reader *reader = user;

	pthread_mutex_lock(&reader->lock);
	while (!reader->stopping) {
		if (reader->scan == SCAN_WANTED) {
			reader->scan = SCAN_READING;
			pthread_mutex_unlock(&reader->lock);
			scan_once(reader);
			pthread_mutex_lock(&reader->lock);
		}
		/* a scan may be abandoned before it began */
		if (reader->scan != SCAN_NONE) {
			reader->scan = SCAN_NONE;
			reader->chunk_there = false;
			pthread_cond_broadcast(&reader->changed);
		}
		if (!reader->stopping)
			pthread_cond_wait(&reader->changed, &reader->lock);
	}
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

/* ---- the caller ---- */

struct reading {
	struct mapping_reader *reader;
	uint64_t deadline_ns;
};

/* Waits until `there` holds or the deadline passes. Needs the lock. */
#define AWAIT(reader, there, deadline_ns)                                                                    \
	for (int waited = 0; !(there) && !waited;)                                                           \
	waited = thread_condition_wait_until(&(reader)->changed, &(reader)->lock, deadline_ns)

/* Like read(2), but of bytes that the thread has read. */
static ssize_t next_bytes(void *user, char *buffer, size_t room)
{
	const struct reading *reading = user;
	struct mapping_reader *reader = reading->reader;
	ssize_t got = -ETIMEDOUT;

	/* needed if the thread delivers faster than the caller consumes */
	if (clock_monotonic_ns() >= reading->deadline_ns)
		return got;
	pthread_mutex_lock(&reader->lock);
	AWAIT(reader, reader->chunk_there, reading->deadline_ns);
	if (reader->chunk_there) {
		got = reader->chunk_bytes;
		if (got > 0) {
			size_t left = (size_t)got - reader->chunk_used;

			got = (ssize_t)(left < room ? left : room);
			memcpy(buffer, reader->chunk + reader->chunk_used, (size_t)got);
			reader->chunk_used += (size_t)got;
		}
		reader->chunk_there = got > 0 && reader->chunk_used < (size_t)reader->chunk_bytes;
		pthread_cond_broadcast(&reader->changed);
	}
	pthread_mutex_unlock(&reader->lock);
	return got;
}

int mapping_reader_read(struct mapping_reader *reader, uint64_t deadline_ns,
			long (*consume)(void *user, const char *records, size_t bytes), void *user)
{
	struct reading reading = { reader, deadline_ns };
	bool is_free;
	int result;

	pthread_mutex_lock(&reader->lock);
	/* a scan that was read to its end is about to finish */
	AWAIT(reader, reader->scan == SCAN_NONE || reader->scan == SCAN_LEFT, deadline_ns);
	is_free = reader->scan == SCAN_NONE;
	if (is_free) {
		reader->scan = SCAN_WANTED;
		pthread_cond_broadcast(&reader->changed);
	}
	pthread_mutex_unlock(&reader->lock);
	if (!is_free)
		return -EBUSY;
	result = iterator_stream_read_by(next_bytes, &reading, consume, user);
	pthread_mutex_lock(&reader->lock);
	if (result < 0 && reader->scan != SCAN_NONE) {
		reader->scan = SCAN_LEFT;
		pthread_cond_broadcast(&reader->changed);
	}
	pthread_mutex_unlock(&reader->lock);
	return result;
}

/* ---- creation and end ---- */

int mapping_reader_open(struct mapping_reader **ret_reader, const struct kernel_objects *kernel)
{
	struct mapping_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->kernel = kernel;
	pthread_mutex_init(&reader->lock, NULL);
	thread_condition_init(&reader->changed);
	*ret_reader = reader;
	return 0;
}

int mapping_reader_start(struct mapping_reader *reader)
{
	int result = thread_start(&reader->thread, STACK_BYTES, run, reader);

	if (result < 0)
		log_error("cannot start the mapping reader thread: %s", strerror(-result));
	reader->started = !result;
	return result;
}

void mapping_reader_free(struct mapping_reader *reader)
{
	bool has_ended = true;

	if (!reader)
		return;
	if (reader->started) {
		uint64_t deadline_ns = clock_monotonic_ns() + END_NS;

		pthread_mutex_lock(&reader->lock);
		reader->stopping = true;
		pthread_cond_broadcast(&reader->changed);
		AWAIT(reader, reader->scan == SCAN_NONE, deadline_ns);
		has_ended = reader->scan == SCAN_NONE;
		pthread_mutex_unlock(&reader->lock);
		if (has_ended)
			pthread_join(reader->thread, NULL);
	}
	if (!has_ended)
		return;
	pthread_mutex_destroy(&reader->lock);
	pthread_cond_destroy(&reader->changed);
	free(reader);
}
