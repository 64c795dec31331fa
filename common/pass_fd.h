/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pass_fd.h owns messages with a file descriptor beside them (SCM_RIGHTS, unix(7)).
 */
#ifndef BOURDON_PASS_FD_H
#define BOURDON_PASS_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sends one message, with `fd` unless that is negative. 0 or -errno; -EPIPE where the peer is gone. */
int pass_fd_send(int socket, const void *bytes, size_t length, int fd);

/* The same to a peer that is to read each message before the next one is sent; -EBADMSG where it has not. */
int pass_fd_send_now(int socket, const void *bytes, size_t length, int fd);

/*
 * Receives one message. *ret_fd is its descriptor (the caller closes it) or negative; more than one, or one
 * that was cut off for lack of descriptors, is -EBADMSG. Returns its length, 0 at the end, or -errno.
 */
ssize_t pass_fd_receive(int socket, void *bytes, size_t room, int *ret_fd);

/* Waits for a message until `deadline_ns` (CLOCK_MONOTONIC). 0, -ETIMEDOUT or -errno. */
int pass_fd_wait(int socket, uint64_t deadline_ns);

#endif
