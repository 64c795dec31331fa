/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h owns the control socket: whoever connects gets the daemon's status, and the connection's end. It
 * takes nothing: there is no command. One client at a time; a slow one makes nobody wait but the next.
 */
#ifndef BOURDON_CONSUMER_CONTROL_H
#define BOURDON_CONSUMER_CONTROL_H

#include <stdint.h>
#include <stdio.h>

struct control_socket;

/*
 * Listens at DIRECTORY/bourdond.sock, mode 0660. `describe` writes the status. Logs what failed; 0 or -errno.
 */
int control_open(struct control_socket **ret_control, const char *directory, int epoll,
		 void (*describe)(void *user, FILE *out), void *user);
void control_close(struct control_socket *control);

/* epoll says that somebody connects (SOURCE_CONTROL), or that the client takes more (SOURCE_CLIENT). */
void control_accept(struct control_socket *control, uint64_t now_ns);
void control_send(struct control_socket *control);

/*
 * Once a second: a client that takes nothing for too long goes, and who could not be accepted may try again.
 */
void control_tick(struct control_socket *control, uint64_t now_ns);

#endif
