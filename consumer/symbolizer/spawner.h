/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spawner.h owns the two confined children. The spawner is forked while the daemon still may, before it has
 * opened anything, and can do no more than fork a symbolizer and pass a socket to it back. A symbolizer
 * parses what hostile programs are made of, serves one capture, and is gone.
 */
#ifndef BOURDON_SYMBOLIZER_SPAWNER_H
#define BOURDON_SYMBOLIZER_SPAWNER_H

#include <stdint.h>

/*
 * CONSUMER: forks the spawner. *ret_socket is the daemon's end; closing it ends the spawner. Logs what
 * failed; 0 or -errno.
 */
int spawner_start(int *ret_socket);

/*
 * CONSUMER: asks for a new symbolizer, until `deadline_ns` (CLOCK_MONOTONIC). Returns the socket to it, which
 * ends it when closed, or -errno.
 */
int spawner_request(int socket, uint64_t deadline_ns);

#endif
