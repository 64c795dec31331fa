/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crowd is many threads of many processes, as a busy host has them: most wait, each in one of four system calls, every tenth
 * wakes ten times a second, and some run all the time. The processes are called crowd-0, crowd-1 and so on, and die with it.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (64UL << 10)
#define WAKES_EVERY 10L /* threads */
#define THREADS_MOST 10000

/* A thread is told its number by the address of an element. */
static char numbers[THREADS_MOST];

static int pipe_fds[2];
static uint32_t lock;

static void wait_in_futex(void)
{
	syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wait_in_poll(void)
{
	struct pollfd polled = { .fd = pipe_fds[0], .events = POLLIN };

	poll(&polled, 1, -1);
}

static void wait_in_read(void)
{
	char byte;

	if (read(pipe_fds[0], &byte, 1) < 0)
		pause();
}

static void sleep_for(long ns)
{
	const struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&time, NULL);
}

static void *wait_forever(void *number)
{
	long thread = (const char *)number - numbers;

	for (;;) {
		if (thread % WAKES_EVERY == 0)
			sleep_for(100000000);
		else if (thread % 4 == 0)
			wait_in_futex();
		else if (thread % 4 == 1)
			wait_in_poll();
		else if (thread % 4 == 2)
			wait_in_read();
		else
			sleep_for(3600000000000L);
	}
	return NULL;
}

static void run_forever(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

/* Does not return in the child. */
static int start_process(unsigned long long number, unsigned long long threads, bool runs, int ready_fd)
{
	pid_t parent = getpid(), child = fork();
	pthread_attr_t attributes;
	pthread_t started;
	char name[32]; /* the kernel keeps 15 characters */
	int error;

	if (child)
		return child < 0 ? -errno : 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(name, sizeof(name), "crowd-%llu", number);
	prctl(PR_SET_NAME, name);
	error = pthread_attr_init(&attributes);
	if (!error)
		error = pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (unsigned long long i = 1; i < threads && !error; i++)
		error = pthread_create(&started, &attributes, wait_forever, &numbers[i]);
	/* the parent may have died before that call of prctl() */
	if (error || getppid() != parent || write(ready_fd, "", 1) != 1)
		_exit(EXIT_FAILED);
	if (runs)
		run_forever();
	wait_forever(&numbers[1]);
	_exit(EXIT_DONE);
}

/* Starts the processes, and waits until each has its threads. 0 or -errno. */
static int start_all(unsigned long long processes, unsigned long long threads, unsigned long long running)
{
	int ready_fds[2], error = 0;
	char byte;

	if (pipe(pipe_fds) || pipe(ready_fds))
		return -errno;
	for (unsigned long long i = 0; i < processes && !error; i++)
		error = start_process(i, threads, i < running, ready_fds[1]);
	close(ready_fds[1]);
	for (unsigned long long i = 0; i < processes && !error; i++)
		if (read(ready_fds[0], &byte, 1) != 1)
			error = -EAGAIN; /* a process could not start its threads */
	return error;
}

int main(int argc, char **argv)
{
	const char *running_text = "1";
	const struct option_spec options[] = {
		{ "running", "N", "processes whose first thread runs all the time (1)", &running_text },
	};
	const struct command_spec command = { "crowd",
					      "[OPTION...] PROCESSES THREADS",
					      "Starts so many processes of so many threads each.",
					      "crowd --running 2 50 100",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long processes, threads, running;
	int words, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 2 || options_number(argv[1], 1, 1000, &processes) < 0 ||
	    options_number(argv[2], 1, THREADS_MOST, &threads) < 0 ||
	    options_number(running_text, 0, processes, &running) < 0) {
		log_error("takes 1 to 1000 processes and 1 to 10000 threads: see --help");
		return EXIT_USAGE;
	}
	error = start_all(processes, threads, running);
	if (error < 0) {
		log_error("cannot start %llu processes of %llu threads: %s", processes, threads,
			  strerror(-error));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
