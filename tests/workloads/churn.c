/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * churn changes what a recorder follows, as fast as it can: processes begin and end (fork), execute programs
 * (exec), rename themselves (comm), and have threads that begin, rename themselves and end (thread). Each of
 * its workers takes the given names in turn. It prints how often that happened.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_AT_ONCE 8U
#define CHILDREN_AT_ONCE 32U
#define COUNTER_FD "CHURN_COUNTER" /* in the environment: what a program that was executed counts in */

/* Of all workers; in memory that they share. */
static _Atomic uint64_t *rounds;

struct work {
	char **names;
	unsigned int count;
};

static void rename_self(const struct work *work, uint64_t round)
{
	prctl(PR_SET_NAME, work->names[round % work->count]);
}

static void churn_comm(const struct work *work)
{
	for (;;)
		rename_self(work, atomic_fetch_add(rounds, 1));
}

static void churn_fork(const struct work *work)
{
	unsigned int alive = 0;

	for (;;) {
		pid_t child = alive < CHILDREN_AT_ONCE ? fork() : -1;

		if (!child) {
			rename_self(work, atomic_fetch_add(rounds, 1));
			_exit(0);
		}
		if (child > 0)
			alive++;
		else if (waitpid(-1, NULL, 0) > 0)
			alive--;
	}
}

struct thread_work {
	const struct work *work;
	uint64_t round;
};

static void *churn_in_thread(void *argument)
{
	const struct thread_work *thread = argument;

	for (unsigned int i = 0; i < thread->work->count; i++)
		rename_self(thread->work, thread->round + i);
	return NULL;
}

static void churn_thread(const struct work *work)
{
	for (;;) {
		pthread_t threads[THREADS_AT_ONCE];
		struct thread_work own[THREADS_AT_ONCE];
		unsigned int started = 0;

		for (unsigned int i = 0; i < THREADS_AT_ONCE; i++) {
			own[started] = (struct thread_work){ work, atomic_fetch_add(rounds, 1) };
			started += !pthread_create(&threads[started], NULL, churn_in_thread, &own[started]);
		}
		for (unsigned int i = 0; i < started; i++)
			pthread_join(threads[i], NULL);
	}
}

/* The names are paths of this program: the last part of one becomes the comm. */
static void churn_exec(const struct work *work)
{
	const char *path = work->names[atomic_fetch_add(rounds, 1) % work->count];
	char *arguments[work->count + 5];

	arguments[0] = (char *)path;
	arguments[1] = (char *)"--kind";
	arguments[2] = (char *)"exec";
	arguments[3] = (char *)"--";
	memcpy(&arguments[4], work->names, work->count * sizeof(*work->names));
	arguments[work->count + 4] = NULL;
	execv(path, arguments);
	log_error("cannot execute %s: %s", path, strerror(errno));
}

static const struct {
	const char *name;
	void (*churn)(const struct work *work); /* returns only after an error */
} kinds[] = {
	{ "fork", churn_fork },
	{ "exec", churn_exec },
	{ "comm", churn_comm },
	{ "thread", churn_thread },
};

static int map_counter(int fd)
{
	void *memory = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	rounds = memory;
	return 0;
}

/* It stays open in programs that are executed. Returns 0 or -errno. */
static int make_counter(void)
{
	int fd = memfd_create("churn", 0);
	char text[16];

	if (fd < 0 || ftruncate(fd, sizeof(*rounds)))
		return -errno;
	snprintf(text, sizeof(text), "%d", fd);
	if (setenv(COUNTER_FD, text, true))
		return -errno;
	return map_counter(fd);
}

static int start_workers(size_t kind, const struct work *work, unsigned long long workers)
{
	for (unsigned long long i = 0; i < workers; i++) {
		pid_t child = fork();

		if (child < 0)
			return -errno;
		if (!child) {
			sigset_t none;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sigemptyset(&none);
			sigprocmask(SIG_SETMASK, &none, NULL);
			kinds[kind].churn(work);
			_exit(EXIT_FAILED);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *kind_name = "fork", *workers_text = "1";
	const struct option_spec options[] = {
		{ "kind", "K", "fork, exec, comm or thread (fork)", &kind_name },
		{ "workers", "N", "processes that do it (1)", &workers_text },
	};
	const struct command_spec command = { "churn",
					      "[--kind K] [--workers N] NAME...",
					      "Begins, renames and ends processes or threads until SIGTERM.",
					      "churn --kind comm --workers 2 one two\n"
					      "With --kind exec each NAME is a path of this program.",
					      options,
					      ARRAY_SIZE(options) };
	const char *counter = getenv(COUNTER_FD);
	unsigned long long workers, counter_fd;
	int words, parsed, number, error;
	struct work work;
	sigset_t signals;
	size_t kind = 0;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	while (kind < ARRAY_SIZE(kinds) && strcmp(kinds[kind].name, kind_name) != 0)
		kind++;
	if (kind == ARRAY_SIZE(kinds) || words < 1 || options_number(workers_text, 1, 4096, &workers)) {
		log_error("takes a kind, 1 to 4096 workers, and names: see --help");
		return EXIT_USAGE;
	}
	work = (struct work){ argv + 1, (unsigned int)words };
	if (counter) {
		if (!options_number(counter, 0, INT32_MAX, &counter_fd) && !map_counter((int)counter_fd))
			kinds[kind].churn(&work);
		return EXIT_FAILED;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	error = make_counter();
	if (!error)
		error = start_workers(kind, &work, workers);
	if (error) {
		log_error("cannot start %llu workers: %s", workers, strerror(-error));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	sigwait(&signals, &number);
	printf("rounds=%" PRIu64 "\n", atomic_load(rounds));
	return EXIT_DONE;
}
