/* SPDX-License-Identifier: GPL-2.0-only */
/* pass_fd.h sends and receives messages with a file descriptor attached (SCM_RIGHTS, unix(7)). */
#ifndef BOURDON_COMMON_SYSTEM_PASS_FD_H
#define BOURDON_COMMON_SYSTEM_PASS_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sends one message, with `fd` unless it is negative. Returns 0 or -errno; -EPIPE if the peer is gone. */
int pass_fd_send(int socket, const void *bytes, size_t length, int fd);

/*
 * As pass_fd_send(), for a peer that must read each message before the next is sent: returns -EBADMSG if it
 * has not.
 */
int pass_fd_send_now(int socket, const void *bytes, size_t length, int fd);

/*
 * Receives one message. *ret_fd is its descriptor, which the caller closes, or negative. Returns the
 * message's length, 0 at end of stream, or -errno; -EBADMSG if it has more than one descriptor, or lost it
 * because no descriptor was free.
 */
ssize_t pass_fd_receive(int socket, void *bytes, size_t room, int *ret_fd);

/* Waits for a message until `deadline_ns` (CLOCK_MONOTONIC). Returns 0, -ETIMEDOUT or -errno. */
int pass_fd_wait(int socket, uint64_t deadline_ns);

#endif
