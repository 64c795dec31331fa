/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/control.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/status_line.h"
#include "consumer/process/event_source.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define CLIENT_PATIENCE_NS (2 * CLOCK_SECOND_NS)
#define BACKLOG 16

struct control_socket {
	struct event_source source, client_source;
	int epoll, listener, client;
	int reserve; /* a descriptor for the next client, when watches have taken all others; or negative */
	bool listening; /* the listener is in the epoll set */
	void (*describe)(void *user, FILE *out);
	void *user;
	char *text; /* the answer to the client */
	size_t bytes, sent;
	uint64_t deadline_ns;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/*
 * The listener leaves the epoll set while a client is connected and after a failed accept: otherwise it would
 * be reported as readable again and again. The next tick retries what fails here.
 */
static void listen_again(struct control_socket *control)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &control->source };

	if (!control->listening)
		control->listening = !epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->listener, &event);
}

static void listen_no_more(struct control_socket *control)
{
	if (control->listening)
		control->listening = epoll_ctl(control->epoll, EPOLL_CTL_DEL, control->listener, NULL) != 0;
}

/* Without a free descriptor the next tick tries again. */
static void keep_reserve(struct control_socket *control)
{
	if (control->reserve < 0)
		control->reserve = fcntl(control->listener, F_DUPFD_CLOEXEC, 0);
}

/*
 * Removes the socket that a crashed daemon may have left. No other daemon uses it: this one holds the lock on
 * the state directory.
 */
static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || chmod(path, 0660) ||
	    listen(fd, BACKLOG))
		return -errno;
	return TAKE_FD(fd);
}

int control_open(struct control_socket **ret_control, const char *directory, int epoll,
		 void (*describe)(void *user, FILE *out), void *user)
{
	struct control_socket *control = calloc(1, sizeof(*control));
	int result = 0;

	if (!control)
		return -ENOMEM;
	*control = (struct control_socket){ .source = { SOURCE_CONTROL },
					    .client_source = { SOURCE_CLIENT },
					    .epoll = epoll,
					    .listener = -EBADF,
					    .client = -EBADF,
					    .reserve = -EBADF,
					    .describe = describe,
					    .user = user };
	if ((size_t)snprintf(control->path, sizeof(control->path), "%s/" CONTROL_SOCKET_FILE, directory) >=
	    sizeof(control->path))
		result = -ENAMETOOLONG;
	if (!result) {
		control->listener = listen_at(control->path);
		result = control->listener < 0 ? control->listener : 0;
	}
	if (!result)
		listen_again(control);
	if (!result && !control->listening)
		result = -errno;
	if (result < 0) {
		log_error("cannot listen at %s/" CONTROL_SOCKET_FILE ": %s", directory, strerror(-result));
		control_close(control);
		return result;
	}
	keep_reserve(control);
	*ret_control = control;
	return 0;
}

static void end_client(struct control_socket *control)
{
	cleanup_close(&control->client);
	control->client = -EBADF;
	free(TAKE_PTR(control->text));
	keep_reserve(control);
}

void control_close(struct control_socket *control)
{
	if (!control)
		return;
	end_client(control);
	cleanup_close(&control->reserve);
	if (control->listener >= 0) {
		close(control->listener);
		unlink(control->path);
	}
	free(control);
}

void control_accept(struct control_socket *control, uint64_t now_ns)
{
	struct epoll_event event = { .events = EPOLLOUT, .data.ptr = &control->client_source };
	FILE *out;

	if (control->client >= 0)
		return; /* an earlier event of the same batch accepted a client; the next one waits */
	cleanup_close(&control->reserve);
	control->reserve = -EBADF;
	control->client = accept4(control->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (control->client < 0) {
		/* perhaps out of descriptors: clients wait in the backlog until the next tick */
		keep_reserve(control);
		listen_no_more(control);
		return;
	}
	out = open_memstream(&control->text, &control->bytes);
	if (out) {
		control->describe(control->user, out);
		fclose(out);
	}
	control->sent = 0;
	control->deadline_ns = now_ns + CLIENT_PATIENCE_NS;
	if (!control->text || epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->client, &event)) {
		end_client(control);
		return;
	}
	listen_no_more(control);
}

/* Lets the next client connect. */
static void dismiss(struct control_socket *control)
{
	end_client(control);
	listen_again(control);
}

void control_send(struct control_socket *control)
{
	ssize_t sent;

	if (control->client < 0)
		return;
	sent = send(control->client, control->text + control->sent, control->bytes - control->sent,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (sent > 0)
		control->sent += (size_t)sent;
	if (sent <= 0 || control->sent == control->bytes)
		dismiss(control);
}

void control_tick(struct control_socket *control, uint64_t now_ns)
{
	if (control->client < 0) {
		keep_reserve(control);
		listen_again(control);
	} else if (now_ns >= control->deadline_ns) {
		dismiss(control);
	}
}
