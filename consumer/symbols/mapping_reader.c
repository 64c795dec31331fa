/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapping_reader.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES (64UL << 10)
/* The kernel's buffer has 32 KiB (8 pages), and a record at most 4.1. */
#define BUFFER_BYTES 65536U
/* time that mapping_reader_free() waits for a read that is about to end */
#define END_NS (CLOCK_SECOND_NS / 2)

/* A pass over the iterator. It stays open between two calls, and the kernel goes on where it was. */
struct pass {
	int fd; /* negative: none has begun */
	/* `buffer` belongs to the thread while it reads into it, else to the caller */
	bool there;  /* the thread has read something */
	ssize_t got; /* bytes behind those in use; 0: end of the pass; or -errno */
	size_t used;
	char *buffer; /* BUFFER_BYTES; NULL: no pass has begun */
};

struct mapping_reader {
	const struct kernel_objects *kernel;
	pthread_t thread;
	bool started;

	/* protects the rest, but see `buffer` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping;
	struct pass *reading; /* what the thread reads or is to read; NULL: it is idle */
	struct pass passes[MAPPINGS_KINDS];
};

/* ---- the thread ---- */

static ssize_t read_once(struct mapping_reader *reader, struct pass *pass)
{
	ssize_t got;

	if (pass->fd < 0)
		pass->fd = kernel_objects_open_iterator(reader->kernel, PIN_MAPPINGS);
	if (pass->fd < 0)
		return pass->fd;
	do
		got = read(pass->fd, pass->buffer + pass->used, BUFFER_BYTES - pass->used);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static void *run(void *user)
{
	struct mapping_reader *reader = user;

	pthread_mutex_lock(&reader->lock);
	while (!reader->stopping) {
		struct pass *pass = reader->reading;
		ssize_t got;

		if (!pass) {
			pthread_cond_wait(&reader->changed, &reader->lock);
			continue;
		}
		pthread_mutex_unlock(&reader->lock);
		got = read_once(reader, pass);
		pthread_mutex_lock(&reader->lock);
		pass->got = got;
		pass->there = true;
		reader->reading = NULL;
		pthread_cond_broadcast(&reader->changed);
	}
	reader->reading = NULL;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

/* ---- the caller ---- */

/* Waits until `there` holds or the deadline passes. Needs the lock. */
#define AWAIT(reader, there, deadline_ns)                                                                    \
	for (int waited = 0; !(there) && !waited;)                                                           \
	waited = thread_condition_wait_until(&(reader)->changed, &(reader)->lock, deadline_ns)

/* Tells the kernel program what to list (abi.h, struct control). The thread is idle. */
static void ask_for(const struct mapping_reader *reader, const struct mapping_request *request)
{
	struct control *control = reader->kernel->control;

	if (!control)
		return;
	__atomic_store_n(&control->mappings_of, request->of, __ATOMIC_RELAXED);
	__atomic_store_n(&control->mappings_scan, request->scan, __ATOMIC_RELAXED);
}

/* Has the thread read something, unless it has. Returns 0, -EBUSY, or -ETIMEDOUT. */
static int await_bytes(struct mapping_reader *reader, struct pass *pass,
		       const struct mapping_request *request, uint64_t deadline_ns)
{
	HOLD_LOCK(&reader->lock);

	if (!pass->there && reader->reading)
		return -EBUSY;
	if (!pass->there) {
		ask_for(reader, request);
		reader->reading = pass;
		pthread_cond_broadcast(&reader->changed);
		AWAIT(reader, pass->there, deadline_ns);
	}
	if (!pass->there)
		return -ETIMEDOUT;
	pass->there = false;
	return 0;
}

static void end_pass(struct pass *pass)
{
	if (pass->fd >= 0)
		close(TAKE_FD(pass->fd));
	free(TAKE_PTR(pass->buffer));
	pass->used = 0;
}

/* Passes on what the thread has read. Returns -EAGAIN if more follows, else the result of the pass. */
static int consume_bytes(struct pass *pass, long (*consume)(void *user, const char *records, size_t bytes),
			 void *user)
{
	long consumed;

	if (pass->got <= 0)
		return pass->got ? (int)pass->got : pass->used ? -EBADMSG : 0;
	pass->used += (size_t)pass->got;
	consumed = consume(user, pass->buffer, pass->used);
	if (consumed < 0)
		return (int)consumed;
	pass->used -= (size_t)consumed;
	memmove(pass->buffer, pass->buffer + consumed, pass->used);
	return pass->used == BUFFER_BYTES ? -EBADMSG : -EAGAIN;
}

int mapping_reader_read(struct mapping_reader *reader, const struct mapping_request *request,
			uint64_t deadline_ns, long (*consume)(void *user, const char *records, size_t bytes),
			void *user)
{
	struct pass *pass = &reader->passes[request->of];
	bool delivers = false;
	int result;

	if (!pass->buffer)
		pass->buffer = malloc(BUFFER_BYTES);
	if (!pass->buffer)
		return -ENOMEM;
	do {
		result = await_bytes(reader, pass, request, deadline_ns);
		if (result == -ETIMEDOUT && delivers)
			return -EINPROGRESS;
		if (result < 0)
			return result;
		/* -EAGAIN of read(2): the program has skipped many mappings in a row */
		result = consume_bytes(pass, consume, user);
		delivers = true;
	} while (result == -EAGAIN && clock_monotonic_ns() < deadline_ns);
	if (result == -EAGAIN)
		return -EINPROGRESS;
	end_pass(pass);
	return result;
}

uint64_t mapping_reader_cpu_ns(const struct mapping_reader *reader)
{
	struct timespec at;
	clockid_t clock;

	if (!reader->started || pthread_getcpuclockid(reader->thread, &clock) || clock_gettime(clock, &at))
		return 0;
	return (uint64_t)at.tv_sec * CLOCK_SECOND_NS + (uint64_t)at.tv_nsec;
}

/* ---- creation and end ---- */

int mapping_reader_start(struct mapping_reader **ret_reader, const struct kernel_objects *kernel)
{
	struct mapping_reader *reader = calloc(1, sizeof(*reader));
	int result;

	if (!reader)
		return -ENOMEM;
	reader->kernel = kernel;
	for (size_t i = 0; i < ARRAY_SIZE(reader->passes); i++)
		reader->passes[i].fd = -EBADF;
	pthread_mutex_init(&reader->lock, NULL);
	thread_condition_init(&reader->changed);
	result = thread_start(&reader->thread, STACK_BYTES, run, reader);
	reader->started = !result;
	if (result < 0) {
		log_error("cannot start the mapping reader thread: %s", strerror(-result));
		mapping_reader_free(reader);
		return result;
	}
	*ret_reader = reader;
	return 0;
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
		AWAIT(reader, !reader->reading, deadline_ns);
		has_ended = !reader->reading;
		pthread_mutex_unlock(&reader->lock);
		if (has_ended)
			pthread_join(reader->thread, NULL);
	}
	if (!has_ended)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(reader->passes); i++)
		end_pass(&reader->passes[i]);
	pthread_mutex_destroy(&reader->lock);
	pthread_cond_destroy(&reader->changed);
	free(reader);
}
