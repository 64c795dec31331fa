/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * states has threads and processes each in one state, for as long as it runs, under names that say which: in a named
 * system call, stopped, traced, ended, and two that run. Its line "ready" has the pids of the processes and the descriptors.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipe_fds[2], epoll_fd;
static uint32_t lock, other_lock;

static void in_read(void)
{
	char byte;

	while (read(pipe_fds[0], &byte, 1) >= 0)
		;
}

static void in_poll(void)
{
	struct pollfd polled = { .fd = pipe_fds[0], .events = POLLIN };

	while (poll(&polled, 1, -1) >= 0)
		;
}

static void in_epoll(void)
{
	struct epoll_event event;

	/* by its number: the C library may use another call */
	while (syscall(SYS_epoll_pwait, epoll_fd, &event, 1, -1, NULL, 8) >= 0)
		;
}

static void in_sleep(void)
{
	const struct timespec hour = { .tv_sec = 3600 };

	while (!syscall(SYS_nanosleep, &hour, NULL))
		;
}

static void wait_for(uint32_t *word)
{
	while (!syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0))
		;
}

static void in_futex(void)
{
	wait_for(&lock);
}

static void in_other_futex(void)
{
	wait_for(&other_lock);
}

/* The kernel holds a thread in state D while the child that it made by vfork(2) lives. */
static void in_vfork(void)
{
	/* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): that the parent waits is its use */
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	/* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
}

static void run(void)
{
	for (;;)
		__asm__ volatile(""); /* a loop without any effect may be left out */
}

static const struct kind {
	const char *name;
	void (*stay)(void);
	char state; /* in which it stays (proc(5)) */
} kinds[] = {
	{ "in-read", in_read, 'S' },        { "in-poll", in_poll, 'S' },   { "in-epoll", in_epoll, 'S' },
	{ "in-sleep", in_sleep, 'S' },      { "in-futex", in_futex, 'S' }, { "in-futex-too", in_futex, 'S' },
	{ "in-lock", in_other_futex, 'S' }, { "in-vfork", in_vfork, 'D' }, { "runs-one", run, 'R' },
	{ "runs-two", run, 'R' },
};

static pid_t tids[ARRAY_SIZE(kinds)];
static sem_t begun;

static void *begin(void *argument)
{
	const struct kind *kind = argument;

	prctl(PR_SET_NAME, kind->name);
	tids[kind - kinds] = gettid();
	sem_post(&begun);
	kind->stay();
	return NULL;
}

/* A thread that has begun may still be in sem_post(3), beside other programs for long. */
static bool stays(const struct kind *kind)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tids[kind - kinds]);
	file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(file);
	}
	return state == kind->state;
}

/* Makes a process that has the name and then does one thing. */
static pid_t start_child(const char *name, bool traced, bool ends)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	if (getppid() != parent || (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL)))
		_exit(EXIT_FAILED);
	if (ends)
		_exit(EXIT_DONE);
	raise(SIGSTOP);
	_exit(EXIT_DONE);
}

/* Waits until the child has stopped or ended, and leaves it as it is. */
static bool reached(pid_t child, bool ends)
{
	siginfo_t info;

	return child > 0 && !waitid(P_PID, (id_t)child, &info, (ends ? WEXITED : WSTOPPED) | WNOWAIT);
}

int main(int argc, char **argv)
{
	const struct timespec pause_for = { .tv_nsec = 1000000 };
	const struct command_spec command = { "states", "",   "Has threads and processes in known states.",
					      "states", NULL, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	pid_t stopped, traced, ended;
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || pipe(pipe_fds) || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_fds[0], &event) ||
	    sem_init(&begun, 0, 0)) {
		log_error("cannot prepare: %s", strerror(errno));
		return EXIT_FAILED;
	}
	stopped = start_child("is-stopped", false, false);
	traced = start_child("is-traced", true, false);
	ended = start_child("has-ended", false, true);
	if (!reached(stopped, false) || !reached(traced, false) || !reached(ended, true)) {
		log_error("cannot start the children: %s", strerror(errno));
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, begin, (void *)&kinds[i])) {
			log_error("cannot start a thread");
			return EXIT_FAILED;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		while (sem_wait(&begun))
			;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		while (!stays(&kinds[i]))
			nanosleep(&pause_for, NULL);
	printf("ready stopped=%d traced=%d ended=%d pipe=%d epoll=%d\n", stopped, traced, ended, pipe_fds[0],
	       epoll_fd);
	fflush(stdout);
	for (;;)
		pause();
}
