/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/notify.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/escape.h"
#include "common/text/plural.h"

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Connects to the socket. "@NAME" is an abstract address: a NUL byte replaces the '@', and no NUL ends the
 * name. Returns a descriptor or -errno.
 */
static int connect_to(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -EBADF;
	size_t bytes = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || bytes < 2)
		return -EAFNOSUPPORT;
	if (bytes >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, name, bytes);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes)))
		return -errno;
	return TAKE_FD(fd);
}

/* Half of the manager's watchdog interval; 0 where the manager sets no watchdog for this process. */
static uint64_t read_watchdog(void)
{
	const char *every = getenv("WATCHDOG_USEC"), *watched = getenv("WATCHDOG_PID");
	unsigned long long every_us, pid;

	if (!every || options_number(every, 1, UINT64_MAX / 1000, &every_us))
		return 0;
	if (watched && (options_number(watched, 1, INT_MAX, &pid) || (pid_t)pid != getpid()))
		return 0;
	return every_us * 1000 / 2;
}

void notify_open(struct notify *ret_notify)
{
	struct notify notify = { .fd = -EBADF };
	const char *name = getenv("NOTIFY_SOCKET");

	if (name) {
		notify.fd = connect_to(name);
		notify.watchdog_every_ns = read_watchdog();
		if (notify.fd < 0)
			log_warning(
				"cannot tell the service manager that bourdond is ready: connecting to NOTIFY_SOCKET=%s: %s",
				name, strerror(-notify.fd));
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	*ret_notify = notify;
}

bool notify_is_heard(const struct notify *notify)
{
	return notify->fd >= 0;
}

void notify_close(struct notify *notify)
{
	cleanup_close(&notify->fd);
	notify->fd = -EBADF;
}

/* 0 or -errno. A restarted manager keeps its socket, so only -EAGAIN is worth another try. */
static int send_text(const struct notify *notify, const char *text)
{
	if (notify->fd < 0)
		return 0;
	return send(notify->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Each message states the whole state, so a newer one replaces one that waits to be sent. */
static void __attribute__((format(printf, 2, 3))) say(struct notify *notify, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(notify->unsent, sizeof(notify->unsent), format, arguments);
	va_end(arguments);
	if (send_text(notify, notify->unsent) != -EAGAIN)
		notify->unsent[0] = '\0';
}

void notify_ready(struct notify *notify, const struct notify_state *state)
{
	char mistake[NOTIFY_BYTES_MAX / 2]; /* it quotes a file, and must not add a line */

	escape_terminal(state->mistake, mistake, sizeof(mistake));
	say(notify, "READY=1\nSTATUS=%u %s, %u %s, %u %s%s%s\n", state->rules,
	    plural(state->rules, "rule", "rules"), state->targets,
	    plural(state->targets, "target", "targets"), state->watches,
	    plural(state->watches, "watch", "watches"), *mistake ? "; not in force: " : "", mistake);
}

/* MONOTONIC_USEC lets systemd 253 and later tell this reload from an earlier one. */
void notify_reloading(struct notify *notify, uint64_t now_ns)
{
	say(notify, "RELOADING=1\nMONOTONIC_USEC=%llu\n", (unsigned long long)now_ns / 1000);
}

void notify_stopping(struct notify *notify)
{
	say(notify, "STOPPING=1\n");
}

void notify_tick(struct notify *notify, uint64_t now_ns)
{
	if (notify->unsent[0] && send_text(notify, notify->unsent) != -EAGAIN)
		notify->unsent[0] = '\0';
	if (!notify->watchdog_every_ns || now_ns < notify->watchdog_due_ns)
		return;
	if (!send_text(notify, "WATCHDOG=1\n"))
		notify->watchdog_due_ns = now_ns + notify->watchdog_every_ns;
}
