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
 * How a symbolizer competes for the CPUs of a host that is short of them.
 * Later: after everybody else, at nice 19. Names come when the capture is over, and nobody waits but a
 * reader. SCHED_IDLE would be later still: the weight is 3 there and 15 here, of 1024 that others have. Soon:
 * at nice 5, not before who is under pressure, and not never. The samples of the next capture depend on the
 * unwind tables; and names that have not come by then would not come before their deadline.
 */
enum symbolizer_priority { SYMBOLIZER_LATER = 's', SYMBOLIZER_SOON = 't' };

/*
 * CONSUMER: forks the spawner, and returns when it is confined. *ret_socket is the daemon's end; closing it
 * ends the spawner. Logs what failed; 0 or -errno.
 */
int spawner_start(int *ret_socket);

/*
 * CONSUMER: asks for a new symbolizer, until `deadline_ns` (CLOCK_MONOTONIC). Returns the socket to it, which
 * ends it when closed, or -errno.
 */
int spawner_request(int socket, enum symbolizer_priority priority, uint64_t deadline_ns);

#endif
