/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/control.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/capture_request.h"
#include "common/protocol/latency_line.h"
#include "common/protocol/live_line.h"
#include "common/system/log.h"
#include "consumer/ask_limit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define CLIENT_PATIENCE_NS (2 * CLOCK_SECOND_NS)
#define BACKLOG 64

/*
 * Of one user, requests of any kind, also those that say nothing or are refused: bourdond answers one in some 0.1 ms, with
 * many watches in 1 ms. Root has no such limit.
 */
#define REQUESTS_BURST 64U
#define REQUESTS_EVERY_NS (CLOCK_SECOND_NS / 16)

#define LINES_BYTES_MAX 4096U /* of lines that a client has yet to read: some forty */

enum client_state {
	CLIENT_ASKS,  /* its line is not complete */
	CLIENT_WAITS, /* for what it asked for: until it is dismissed */
	CLIENT_LEAVES /* when it has read what is left for it */
};

struct client {
	struct event_source source; /* first: dispatch finds the client by it */
	int fd;                     /* negative: a free place */
	uint64_t number;
	enum client_state state;
	bool has_left; /* it sends no more */
	struct peer peer;
	char *line; /* CLIENT_ASKS: what it has sent so far */
	size_t line_bytes;
	char *text; /* what it has yet to read, from `sent` on */
	size_t bytes, sent;
	uint64_t deadline_ns; /* 0: none */
};

struct control_socket {
	struct event_source source;
	int epoll, listener;
	int reserve; /* a descriptor for the next client, when watches have taken all others; or negative */
	bool listening; /* the listener is in the epoll set */
	struct control_handlers handlers;
	struct own_counters *own_counters;
	gid_t group;
	uint64_t clients_so_far;
	struct ask_limit requests;
	struct log_limit too_often;
	struct shares places; /* by the numbers of clients; those that wait make no way */
	struct client clients[CONTROL_CLIENTS];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* ---- the listener ---- */

/*
 * The listener leaves the epoll set after a failed accept: otherwise it would be reported as readable again and again. The next
 * tick retries what fails here.
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
		 const struct control_handlers *handlers, struct own_counters *own_counters)
{
	struct control_socket *control = calloc(1, sizeof(*control));
	int result = 0;

	if (!control)
		return -ENOMEM;
	*control = (struct control_socket){
		.source = { SOURCE_CONTROL },
		.epoll = epoll,
		.listener = -EBADF,
		.reserve = -EBADF,
		.handlers = *handlers,
		.own_counters = own_counters,
		.requests = { .burst = REQUESTS_BURST, .every_ns = REQUESTS_EVERY_NS },
		.places = { .total = CONTROL_CLIENTS, .at_once = true, .oldest_first = true },
		.group = getegid()
	};
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		control->clients[i] = (struct client){ .source = { SOURCE_CLIENT }, .fd = -EBADF };
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

/* ---- a client ---- */

static struct client *find(struct control_socket *control, uint64_t number)
{
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (control->clients[i].fd >= 0 && control->clients[i].number == number)
			return &control->clients[i];
	return NULL;
}

static struct client *find_place(struct control_socket *control)
{
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (control->clients[i].fd < 0)
			return &control->clients[i];
	return NULL;
}

/* Frees its place, for the next client. */
static void end_client(struct control_socket *control, struct client *client)
{
	shares_give(&control->places, client->number);
	cleanup_close(&client->fd);
	free(client->line);
	free(client->text);
	*client = (struct client){ .source = { SOURCE_CLIENT }, .fd = -EBADF };
	keep_reserve(control);
}

/* That somebody leaves who waits is told once. */
static void note_left(struct control_socket *control, struct client *client)
{
	if (client->has_left)
		return;
	client->has_left = true;
	if (client->state == CLIENT_WAITS)
		control->handlers.leave(control->handlers.user, client->number);
}

static void drop(struct control_socket *control, struct client *client)
{
	note_left(control, client);
	end_client(control, client);
}

/* Waits for what the client may do next. */
static void await(struct control_socket *control, struct client *client)
{
	struct epoll_event event = { .data.ptr = &client->source };

	if (client->state != CLIENT_LEAVES && !client->has_left)
		event.events |= EPOLLIN;
	if (client->sent < client->bytes)
		event.events |= EPOLLOUT;
	if (epoll_ctl(control->epoll, EPOLL_CTL_MOD, client->fd, &event))
		drop(control, client);
}

/* Returns false if the client is gone. */
static bool send_text(struct control_socket *control, struct client *client)
{
	while (client->sent < client->bytes) {
		ssize_t sent = send(client->fd, client->text + client->sent, client->bytes - client->sent,
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (sent <= 0) {
			drop(control, client);
			return false;
		}
		client->sent += (size_t)sent;
	}
	if (client->state == CLIENT_LEAVES) {
		drop(control, client);
		return false;
	}
	return true;
}

/* Adds to what the client has yet to read. Returns false without room for it. */
static bool add_text(struct client *client, const char *text, size_t most)
{
	size_t left = client->bytes - client->sent, bytes = strlen(text);
	char *all;

	if (left + bytes > most)
		return false;
	all = malloc(left + bytes + 1);
	if (!all)
		return false;
	if (left)
		memcpy(all, client->text + client->sent, left);
	memcpy(all + left, text, bytes + 1);
	free(client->text);
	client->text = all;
	client->bytes = left + bytes;
	client->sent = 0;
	return true;
}

static void say(struct control_socket *control, uint64_t number, const char *text, size_t most)
{
	struct client *client = find(control, number);

	if (!client)
		return;
	if (!add_text(client, text, most))
		own_count(control->own_counters, OWN_LINES_UNREAD);
	if (send_text(control, client))
		await(control, client);
}

void control_say(struct control_socket *control, uint64_t number, const char *line)
{
	say(control, number, line, LINES_BYTES_MAX);
}

bool control_is_behind(struct control_socket *control, uint64_t number)
{
	const struct client *client = find(control, number);

	return client && client->sent < client->bytes;
}

void control_say_much(struct control_socket *control, uint64_t number, const char *lines)
{
	say(control, number, lines, SIZE_MAX);
}

void control_dismiss(struct control_socket *control, uint64_t number, const char *line, uint64_t now_ns)
{
	struct client *client = find(control, number);

	if (!client)
		return;
	client->state = CLIENT_LEAVES;
	client->deadline_ns = now_ns + CLIENT_PATIENCE_NS;
	if (!add_text(client, line, 2UL * LINES_BYTES_MAX))
		own_count(control->own_counters, OWN_LINES_UNREAD);
	if (send_text(control, client))
		await(control, client);
}

void control_refuse(struct control_socket *control, uint64_t number, uint32_t pid, const char *why,
		    uint64_t now_ns)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out) {
		status_line_begin(out, "refused");
		if (pid)
			status_line_field(out, "pid", "%" PRIu32, pid);
		status_line_field(out, "why", "%s", why);
		status_line_end(out);
		fclose(out);
	}
	own_count(control->own_counters, OWN_ASKED_REFUSED);
	control_dismiss(control, number, text ? text : "", now_ns);
	free(text);
}

void control_close(struct control_socket *control)
{
	if (!control)
		return;
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		cleanup_close(&control->clients[i].fd);
		free(control->clients[i].line);
		free(control->clients[i].text);
	}
	cleanup_close(&control->reserve);
	if (control->listener >= 0) {
		close(control->listener);
		unlink(control->path);
	}
	free(control);
}

/* A client of a user who asks too often reads why, if it reads at once. */
static void turn_away(struct control_socket *control, int fd, const struct peer *peer)
{
	static const char answer[] = "refused\twhy=" CONTROL_TOO_OFTEN "\n";

	send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	own_count(control->own_counters, OWN_ASKED_TOO_OFTEN);
	if (log_allowed(&control->too_often, 1))
		log_warning("uid %u asks on the control socket too often: its connections are closed",
			    (unsigned int)peer->uid);
}

/* Returns a place for a client of this user, perhaps that of one which makes way; or NULL. */
static struct client *make_place(struct control_socket *control, const struct share_owner *owner)
{
	uint64_t loser;

	if (!shares_allow(&control->places, owner, &loser))
		return NULL;
	if (loser)
		end_client(control, find(control, loser));
	return find_place(control);
}

/* Takes ownership of `fd`. */
static void admit(struct control_socket *control, int fd, uint64_t now_ns)
{
	_cleanup_close_ int connection = fd;
	struct epoll_event event = { .events = EPOLLIN };
	struct client *client;
	struct share_owner owner;
	struct peer peer;

	if (peer_of(connection, control->group, &peer) < 0)
		return;
	owner = peer_owner(&peer);
	if (owner.kind != SHARE_OF_ROOT && !ask_allowed(&control->requests, peer.uid, now_ns)) {
		turn_away(control, connection, &peer);
		return;
	}
	client = make_place(control, &owner);
	if (!client)
		return;
	*client = (struct client){ .source = { SOURCE_CLIENT },
				   .fd = TAKE_FD(connection),
				   .number = ++control->clients_so_far,
				   .peer = peer,
				   .deadline_ns = now_ns + CLIENT_PATIENCE_NS };
	shares_take(&control->places, &owner, client->number);
	event.data.ptr = &client->source;
	if (epoll_ctl(control->epoll, EPOLL_CTL_ADD, client->fd, &event))
		end_client(control, client);
}

void control_accept(struct control_socket *control, uint64_t now_ns)
{
	int fd;

	cleanup_close(&control->reserve);
	control->reserve = -EBADF;
	fd = accept4(control->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		admit(control, fd, now_ns);
	else
		listen_no_more(control); /* perhaps out of descriptors: clients wait until the next tick */
	keep_reserve(control);
}

/* ---- its line ---- */

static void refuse(struct control_socket *control, const struct client *client, const char *why,
		   uint64_t now_ns)
{
	control_refuse(control, client->number, 0, why, now_ns);
}

static void answer_status(struct control_socket *control, struct client *client, uint64_t now_ns)
{
	FILE *out = open_memstream(&client->text, &client->bytes);

	client->state = CLIENT_LEAVES;
	client->deadline_ns = now_ns + CLIENT_PATIENCE_NS;
	if (out) {
		control->handlers.describe(control->handlers.user, out);
		fclose(out);
	}
	if (!client->text)
		drop(control, client);
	else
		await(control, client);
}

static bool is_known(const char *kind)
{
	static const char *const kinds[] = { "capture", LIVE_REQUEST, LATENCY_WATCH, CAPTURE_WHO,
					     CAPTURE_END };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

static void obey(struct control_socket *control, struct client *client, uint64_t now_ns)
{
	_cleanup_free_ char *text = TAKE_PTR(client->line);
	const struct peer peer = client->peer; /* the client may be dropped meanwhile */
	struct status_line line;

	if (status_line_parse(text, &line) < 0) {
		refuse(control, client, "the request is damaged", now_ns);
	} else if (!strcmp(line.kind, "status")) {
		answer_status(control, client, now_ns);
	} else if (!is_known(line.kind)) {
		refuse(control, client, "this bourdond does not know such a request", now_ns);
	} else {
		client->state = CLIENT_WAITS;
		client->deadline_ns = 0;
		shares_fix(&control->places, client->number);
		control->handlers.ask(control->handlers.user, client->number, &peer, &line);
	}
}

/* Reads more of its line. */
static void read_line(struct control_socket *control, struct client *client, uint64_t now_ns)
{
	char *end;
	ssize_t got;

	if (!client->line)
		client->line = malloc(CAPTURE_REQUEST_BYTES_MAX + 1);
	if (!client->line) {
		drop(control, client);
		return;
	}
	got = read(client->fd, client->line + client->line_bytes,
		   CAPTURE_REQUEST_BYTES_MAX - client->line_bytes);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		drop(control, client);
		return;
	}
	client->line_bytes += (size_t)got;
	end = memchr(client->line, '\n', client->line_bytes);
	if (end && memchr(client->line, '\0', (size_t)(end - client->line))) {
		refuse(control, client, "the request is damaged", now_ns);
	} else if (end) {
		*end = '\0';
		obey(control, client, now_ns);
	} else if (client->line_bytes == CAPTURE_REQUEST_BYTES_MAX) {
		refuse(control, client, "the request is too long", now_ns);
	}
}

/* A client that waits has nothing more to say, and is dropped if it does: its end alone is of interest. */
static void read_end(struct control_socket *control, struct client *client)
{
	char more;
	ssize_t got = read(client->fd, &more, 1);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		own_count(control->own_counters, OWN_ASKED_REFUSED);
		drop(control, client);
		return;
	}
	note_left(control, client);
	if (client->fd >= 0)
		await(control, client);
}

void control_event(struct control_socket *control, struct event_source *source, uint32_t events,
		   uint64_t now_ns)
{
	struct client *client = (struct client *)source;

	if (client->fd < 0)
		return; /* an earlier event of the same batch ended it */
	/*
	 * The event may be of the client before, whose place another has got within the same batch: that one asks, and reading
	 * tells whether it is gone.
	 */
	if (client->state == CLIENT_ASKS) {
		read_line(control, client, now_ns);
	} else if (events & EPOLLIN && client->state == CLIENT_WAITS && !client->has_left) {
		read_end(control, client);
	} else if (events & EPOLLOUT) {
		if (send_text(control, client))
			await(control, client);
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		drop(control, client);
	}
}

void control_tick(struct control_socket *control, uint64_t now_ns)
{
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		struct client *client = &control->clients[i];

		if (client->fd >= 0 && client->deadline_ns && now_ns >= client->deadline_ns)
			drop(control, client);
	}
	keep_reserve(control);
	listen_again(control);
}
