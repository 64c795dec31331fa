/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/event_loop.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"

#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>

int event_loop_add(const struct event_loop *loop, int fd, uint32_t events, struct event_source *source)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	int result = fd < 0 ? -EBADF : 0;

	if (!result && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event))
		result = -errno;
	if (result < 0)
		log_error("cannot set up the event loop: %s", strerror(-result));
	return result;
}

void event_loop_remove(const struct event_loop *loop, int fd)
{
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
}

int event_loop_open(struct event_loop *loop, const char *pin_directory)
{
	sigset_t signals;
	int result;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	*loop = (struct event_loop){ .epoll = epoll_create1(EPOLL_CLOEXEC),
				     .signals = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC),
				     .inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC),
				     .signals_source = { SOURCE_SIGNALS },
				     .pins_source = { SOURCE_PINS } };
	if (inotify_add_watch(loop->inotify, pin_directory, IN_MOVE_SELF | IN_DELETE_SELF | IN_DELETE) < 0) {
		result = -errno;
		return log_failed(result, "cannot watch %s: %s", pin_directory, strerror(-result));
	}
	result = event_loop_add(loop, loop->signals, EPOLLIN, &loop->signals_source);
	return result ? result : event_loop_add(loop, loop->inotify, EPOLLIN, &loop->pins_source);
}

void event_loop_close(struct event_loop *loop)
{
	cleanup_close(&loop->inotify);
	cleanup_close(&loop->signals);
	cleanup_close(&loop->epoll);
}

int event_loop_wait(const struct event_loop *loop, uint64_t patience_ns, struct epoll_event *ret_events,
		    int room)
{
	const struct timespec patience = clock_timespec(patience_ns);
	int count = epoll_pwait2(loop->epoll, ret_events, room, &patience, NULL);

	return count >= 0 ? count : errno == EINTR ? 0 : -errno;
}

int event_loop_signal(const struct event_loop *loop)
{
	struct signalfd_siginfo signal;

	return read(loop->signals, &signal, sizeof(signal)) == sizeof(signal) ? (int)signal.ssi_signo : 0;
}

bool event_loop_pins_changed(const struct event_loop *loop)
{
	char events[4096] __attribute__((aligned(8)));

	return read(loop->inotify, events, sizeof(events)) > 0;
}
