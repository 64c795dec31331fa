/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h owns the control socket. A client that connects gets the daemon's status; then the connection
 * ends. The socket reads nothing: there are no commands. It serves one client at a time; a slow client delays
 * only the clients behind it.
 */
#ifndef BOURDON_CONSUMER_CONTROL_H
#define BOURDON_CONSUMER_CONTROL_H

#include <stdint.h>
#include <stdio.h>

struct control_socket;

/*
 * Listens at DIRECTORY/bourdond.sock, mode 0660. `describe` writes the status. Logs a failure. Returns 0 or
 * -errno.
 */
int control_open(struct control_socket **ret_control, const char *directory, int epoll,
		 void (*describe)(void *user, FILE *out), void *user);
void control_close(struct control_socket *control);

/*
 * Call them when epoll reports a client that connects (SOURCE_CONTROL), or that the client's socket has room
 * (SOURCE_CLIENT).
 */
void control_accept(struct control_socket *control, uint64_t now_ns);
void control_send(struct control_socket *control);

/*
 * Call it once a second: drops a client that has not read its answer in time, and accepts again after a
 * failure.
 */
void control_tick(struct control_socket *control, uint64_t now_ns);

#endif
