/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/table_workers.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/pass_fd.h"
#include "consumer/symbols/files_read.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

struct worker {
	int socket; /* of its symbolizer; negative: it has none */
	enum symbolizer_priority priority;
	void *of; /* NULL: no work */
	struct unwind_reception *reception;
	struct kept_bytes bytes;
	bool is_kept;           /* all of its messages are in `bytes`, for other daemons */
	struct files_read read; /* by its symbolizer */
	uint64_t began_ns;
};

struct table_workers {
	struct unwind_space *space;
	struct cpu_budget *budget;
	int (*spawn)(void *user, enum symbolizer_priority priority);
	void *user;
	struct worker workers[TABLE_WORKERS];
	struct table_message message;
};

struct table_workers *table_workers_new(struct unwind_space *space, struct cpu_budget *budget,
					int (*spawn)(void *user, enum symbolizer_priority priority),
					void *user)
{
	struct table_workers *workers = calloc(1, sizeof(*workers));

	if (!workers)
		return NULL;
	workers->space = space;
	workers->budget = budget;
	workers->spawn = spawn;
	workers->user = user;
	for (size_t i = 0; i < TABLE_WORKERS; i++)
		workers->workers[i].socket = -EBADF;
	return workers;
}

static void end_work(struct worker *worker)
{
	unwind_reception_end(worker->reception, NULL);
	worker->reception = NULL;
	kept_bytes_free(&worker->bytes);
	worker->of = NULL;
}

void table_workers_free(struct table_workers *workers)
{
	if (!workers)
		return;
	table_workers_cancel(workers, NULL);
	table_workers_rest(workers);
	free(workers);
}

bool table_workers_idle(const struct table_workers *workers)
{
	return table_workers_busy(workers) < TABLE_WORKERS;
}

uint32_t table_workers_busy(const struct table_workers *workers)
{
	uint32_t busy = 0;

	for (size_t i = 0; i < TABLE_WORKERS; i++)
		busy += workers->workers[i].of != NULL;
	return busy;
}

/* ---- beginning ---- */

/* Returns an idle worker, one whose symbolizer has the priority if there is one; NULL if all are busy. */
static struct worker *find_idle(struct table_workers *workers, enum symbolizer_priority priority)
{
	struct worker *found = NULL;

	for (size_t i = 0; i < TABLE_WORKERS; i++) {
		struct worker *worker = &workers->workers[i];

		if (!worker->of && (!found || (worker->socket >= 0 && worker->priority == priority)))
			found = worker;
	}
	return found;
}

static void end_symbolizer(struct worker *worker)
{
	cleanup_close(&worker->socket);
	worker->read = (struct files_read){ 0 };
}

int table_workers_begin(struct table_workers *workers, int elf_fd, bool later, void *of)
{
	uint64_t now_ns = clock_monotonic_ns();
	enum symbolizer_priority priority = later                                          ? SYMBOLIZER_LATER
					    : cpu_budget_has_time(workers->budget, now_ns) ? SYMBOLIZER_NOW
											   : SYMBOLIZER_SOON;
	struct worker *worker = find_idle(workers, priority);
	struct stat file;
	int result;

	if (!worker)
		return -EAGAIN;
	if (fstat(elf_fd, &file))
		return -EAGAIN;
	if (worker->socket >= 0 &&
	    (worker->priority != priority || files_read_is_unfit(&worker->read, &file)))
		end_symbolizer(worker);
	if (worker->socket < 0) {
		worker->socket = workers->spawn(workers->user, priority);
		worker->priority = priority;
	}
	if (worker->socket < 0)
		return -EAGAIN;
	worker->reception = unwind_reception_new(workers->space);
	result = worker->reception ? table_ask(worker->socket, elf_fd) : -ENOMEM;
	if (result < 0) {
		end_work(worker);
		end_symbolizer(worker);
		/* it died before it had the file */
		return result == -ENOMEM ? result : -EAGAIN;
	}
	files_read_note(&worker->read, &file);
	worker->of = of;
	worker->is_kept = files_read_is_credible(&worker->read, &file);
	worker->began_ns = now_ns;
	return 0;
}

/* ---- receiving ---- */

/* Receives one message. Returns as table_take(). */
static int receive(struct table_workers *workers, struct worker *worker)
{
	_cleanup_close_ int unexpected = -EBADF;
	ssize_t got =
		pass_fd_receive(worker->socket, &workers->message, sizeof(workers->message), &unexpected);

	if (got <= 0)
		return got < 0 ? (int)got : -EPIPE;
	/* before the message is changed; without memory the table is used, and not kept */
	worker->is_kept = worker->is_kept &&
			  !table_cache_add_message(&worker->bytes, &workers->message, (size_t)got);
	return unwind_reception_take(worker->reception, &workers->message, (size_t)got);
}

static void end_with(struct table_workers *workers, struct worker *worker, int result,
		     struct table_outcome *ret_outcome)
{
	const struct table_stream *stream = unwind_reception_stream(worker->reception);
	uint64_t spent_ns = clock_monotonic_ns() - worker->began_ns;
	bool is_answer = table_is_answer(stream, result);

	*ret_outcome = (struct table_outcome){ .of = worker->of,
					       .result = result,
					       .runtime = unwind_reception_runtime(worker->reception),
					       .spent_ns = spent_ns };
	/* one that says less than it used can have its own priority at most */
	if (worker->priority == SYMBOLIZER_NOW)
		cpu_budget_take(workers->budget,
				is_answer && stream->head.cpu_ns < spent_ns ? stream->head.cpu_ns : spent_ns);
	if (is_answer && worker->is_kept) {
		ret_outcome->bytes = worker->bytes;
		worker->bytes = (struct kept_bytes){ 0 };
	}
	if (!result) {
		unwind_reception_end(worker->reception, &ret_outcome->place);
		worker->reception = NULL;
	}
	end_work(worker);
	/* what it still sends of a table that nobody wants would be taken for the next one's */
	if (!is_answer)
		end_symbolizer(worker);
}

/* Receives what is there. Returns true with the outcome of one. */
static bool receive_some(struct table_workers *workers, const struct pollfd polled[TABLE_WORKERS],
			 struct table_outcome *ret_outcome)
{
	for (size_t i = 0; i < TABLE_WORKERS; i++) {
		struct worker *worker = &workers->workers[i];
		int result;

		if (!worker->of || !polled[i].revents)
			continue;
		result = receive(workers, worker);
		if (result == 1)
			continue;
		end_with(workers, worker, result, ret_outcome);
		return true;
	}
	return false;
}

static bool end_overdue(struct table_workers *workers, struct table_outcome *ret_outcome)
{
	for (size_t i = 0; i < TABLE_WORKERS; i++) {
		struct worker *worker = &workers->workers[i];

		if (!worker->of || clock_monotonic_ns() < worker->began_ns + TABLE_WORKER_NS)
			continue;
		end_with(workers, worker, -ETIMEDOUT, ret_outcome);
		return true;
	}
	return false;
}

bool table_workers_wait(struct table_workers *workers, uint64_t until_ns, struct table_outcome *ret_outcome)
{
	while (table_workers_busy(workers)) {
		struct pollfd polled[TABLE_WORKERS];
		uint64_t now_ns = clock_monotonic_ns();
		struct timespec left = clock_timespec(now_ns < until_ns ? until_ns - now_ns : 0);
		int ready;

		for (size_t i = 0; i < TABLE_WORKERS; i++)
			polled[i] = (struct pollfd){ .fd = workers->workers[i].of ? workers->workers[i].socket
										  : -1,
						     .events = POLLIN };
		ready = ppoll(polled, TABLE_WORKERS, &left, NULL);
		if (ready > 0 && receive_some(workers, polled, ret_outcome))
			return true;
		if (ready <= 0 || clock_monotonic_ns() >= until_ns)
			return end_overdue(workers, ret_outcome);
	}
	return false;
}

/* ---- ending ---- */

void table_workers_cancel(struct table_workers *workers, const void *of)
{
	for (size_t i = 0; i < TABLE_WORKERS; i++) {
		struct worker *worker = &workers->workers[i];

		if (!worker->of || (of && worker->of != of))
			continue;
		end_work(worker);
		end_symbolizer(worker);
	}
}

void table_workers_rest(struct table_workers *workers)
{
	for (size_t i = 0; i < TABLE_WORKERS; i++)
		if (!workers->workers[i].of)
			end_symbolizer(&workers->workers[i]);
}
