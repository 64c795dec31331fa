/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/spawner.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/confine/landlock.h"
#include "common/confine/privilege.h"
#include "common/confine/seccomp.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "policy/spawner.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define SPAWNER_FD 3
#define NICE_LATER 19
#define NICE_SOON 5
#define START_NS (10 * CLOCK_SECOND_NS)

/*
 * SPAWNER: forks one symbolizer and passes its socket, or reports that it cannot. Returns -errno if the
 * daemon is gone.
 */
static int spawn(int control, char priority)
{
	int pair[2], result;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return pass_fd_send(control, "-", 1, -1);
	child = fork();
	if (!child) {
		close(control);
		close(pair[0]);
		if (priority != SYMBOLIZER_NOW)
			setpriority(PRIO_PROCESS, 0, priority == SYMBOLIZER_SOON ? NICE_SOON : NICE_LATER);
		symbolizer_run(pair[1]);
	}
	/* "-": the fork failed, but may succeed for the next capture */
	result = pass_fd_send(control, child < 0 ? "-" : "s", 1, child < 0 ? -1 : pair[0]);
	close(pair[0]);
	close(pair[1]);
	return result;
}

/*
 * SPAWNER: keeps no descriptor of the daemon but its socket. Ignores SIGTERM, SIGINT and SIGHUP, which reach
 * all processes of a unit or terminal, so that it ends only with the daemon.
 */
static void __attribute__((noreturn)) run(int control)
{
	static const struct sigaction reap = { .sa_handler = SIG_IGN, .sa_flags = SA_NOCLDWAIT };
	char byte = 0;
	int fd, result;

	if (dup2(control, SPAWNER_FD) < 0 || syscall(SYS_close_range, SPAWNER_FD + 1, ~0U, 0))
		_exit(EXIT_FAILED);
	sigaction(SIGCHLD, &reap, NULL);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	hash_choose_key();
	privilege_offer_to_die();
	if (privilege_drop_all())
		_exit(EXIT_FAILED);
	result = landlock_confine(NULL, 0);
	if (result >= 0)
		result = seccomp_install(&spawner_policy, false);
	if (result < 0) {
		log_error("cannot confine the spawner: %s", strerror(-result));
		_exit(EXIT_FAILED);
	}
	if (pass_fd_send(SPAWNER_FD, "c", 1, -1) < 0)
		_exit(EXIT_FAILED);
	while (pass_fd_receive(SPAWNER_FD, &byte, 1, &fd) == 1)
		if (spawn(SPAWNER_FD, byte) < 0)
			break;
	_exit(EXIT_DONE);
}

/* Waits until the spawner reports that it is confined; if it cannot be confined, it exits. */
static int await_confined(int socket)
{
	int fd = -EBADF, result = pass_fd_wait(socket, clock_monotonic_ns() + START_NS);
	char byte;

	if (!result)
		result = pass_fd_receive(socket, &byte, 1, &fd) == 1 ? 0 : -EPIPE;
	if (result < 0)
		log_error("the symbolizer spawner did not start: %s", strerror(-result));
	return result;
}

int spawner_start(int *ret_socket)
{
	int pair[2], result;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return log_failed(-errno, "cannot create the spawner's socket: %s", strerror(errno));
	child = fork();
	if (!child)
		run(pair[1]);
	close(pair[1]);
	if (child < 0) {
		result = -errno;
		log_error("cannot fork the spawner: %s", strerror(-result));
		close(pair[0]);
		return result;
	}
	result = await_confined(pair[0]);
	if (result < 0)
		close(pair[0]);
	else
		*ret_socket = pair[0];
	return result;
}

int spawner_request(int socket, enum symbolizer_priority priority, uint64_t deadline_ns)
{
	char byte = 0;
	int fd = -EBADF, result;
	ssize_t got;

	/* discard late answers to requests that timed out */
	while (!pass_fd_wait(socket, 0) && pass_fd_receive(socket, &byte, 1, &fd) > 0)
		cleanup_close(&fd);
	byte = (char)priority;
	fd = -EBADF;
	result = pass_fd_send_now(socket, &byte, 1, -1);
	if (!result)
		result = pass_fd_wait(socket, deadline_ns);
	if (result < 0)
		return result;
	got = pass_fd_receive(socket, &byte, 1, &fd);
	if (got <= 0)
		return got < 0 ? (int)got : -EPIPE;
	return fd >= 0 ? fd : -EAGAIN;
}
