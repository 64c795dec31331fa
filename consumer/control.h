/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h owns the control socket and its clients. A client sends one line (status_line.h): "status" is answered with
 * the daemon's status, after which the connection ends; "capture" with the lines of a capture on demand, for as long as that
 * takes; "live" with those of each second, "latencies" with those of each interval; "who" and "end" are about captures on demand. A
 * client that is slow delays nobody: its lines wait in a buffer of fixed size. Each user has a share of the connections, and a budget
 * of requests.
 */
#ifndef BOURDON_CONSUMER_CONTROL_H
#define BOURDON_CONSUMER_CONTROL_H

#include "common/protocol/status_line.h"
#include "consumer/peer.h"
#include "consumer/process/event_source.h"
#include "consumer/process/own_counters.h"

#include <stdint.h>
#include <stdio.h>

struct control_socket;

/* At once. For a further one, the oldest of the user with most makes way, of those that do not wait for what they asked. */
#define CONTROL_CLIENTS 16U

/* The numbers of clients begin with 1 and are not used again. */
struct control_handlers {
	void (*describe)(void *user, FILE *out); /* writes the status */
	/* The client asks for what the line's kind says. It stays connected until control_dismiss(). */
	void (*ask)(void *user, uint64_t client, const struct peer *peer, const struct status_line *line);
	/* It sends no more, or has gone: what it asked for may end. What is said to it may still reach it. */
	void (*leave)(void *user, uint64_t client);
	void *user;
};

/* Listens at DIRECTORY/bourdond.sock, mode 0660. Logs a failure. Returns 0 or -errno. */
int control_open(struct control_socket **ret_control, const char *directory, int epoll,
		 const struct control_handlers *handlers, struct own_counters *own_counters);
void control_close(struct control_socket *control);

/* Call them when epoll reports a client that connects (SOURCE_CONTROL), or events of a client (SOURCE_CLIENT). */
void control_accept(struct control_socket *control, uint64_t now_ns);
void control_event(struct control_socket *control, struct event_source *source, uint32_t events,
		   uint64_t now_ns);

/*
 * Sends a whole line to the client, if that is still there. A client that does not read loses lines, and each is counted
 * (OWN_LINES_UNREAD).
 */
void control_say(struct control_socket *control, uint64_t client, const char *line);

/* The same of its last line: the connection ends when the client has read it, or has not done so in time. */
void control_dismiss(struct control_socket *control, uint64_t client, const char *line, uint64_t now_ns);

/* Whether the client has yet to read some of what was said to it. */
bool control_is_behind(struct control_socket *control, uint64_t client);

/* Says many lines to a client that is not behind. */
void control_say_much(struct control_socket *control, uint64_t client, const char *lines);

/*
 * Dismisses the client with the line that its request is refused, and counts it (OWN_ASKED_REFUSED). `pid`: the process
 * because of which it is; 0: another reason.
 */
void control_refuse(struct control_socket *control, uint64_t client, uint32_t pid, const char *why,
		    uint64_t now_ns);

/*
 * Call it once a second: drops clients that have not sent their line or read their answer in time, and accepts again
 * after a failure.
 */
void control_tick(struct control_socket *control, uint64_t now_ns);

#endif
