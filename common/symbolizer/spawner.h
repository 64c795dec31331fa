/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spawner.h starts the two kinds of confined children. The daemon forks the spawner before it opens anything
 * and confines itself; the spawner can only fork symbolizers and pass their sockets back. A symbolizer parses
 * the files of possibly hostile programs, serves one capture and exits.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_SPAWNER_H
#define BOURDON_COMMON_SYMBOLIZER_SPAWNER_H

#include <stdint.h>

/*
 * How a symbolizer competes on a host that is short of CPU time. SYMBOLIZER_LATER: nice 19, below all other
 * processes; a finished capture's names are not urgent. SCHED_IDLE would be lower still: weight 3, where nice
 * 19 has 15 and a default process 1024. SYMBOLIZER_SOON: nice 5, below the processes under pressure, but not
 * starved. SYMBOLIZER_NOW: the daemon's own priority, for what the pressure at hand needs, within a budget
 * (cpu_budget.h): unwind tables, on which the samples of the next second depend, and names that would otherwise miss
 * their deadline.
 */
enum symbolizer_priority { SYMBOLIZER_LATER = 's', SYMBOLIZER_SOON = 't', SYMBOLIZER_NOW = 'n' };

/*
 * CONSUMER: forks the spawner and returns when it is confined. *ret_socket is the daemon's end; closing it
 * ends the spawner. Returns 0, or -errno after logging what failed.
 */
int spawner_start(int *ret_socket);

/*
 * CONSUMER: requests a new symbolizer, waiting until `deadline_ns` (CLOCK_MONOTONIC). Returns a socket to it,
 * or -errno. Closing the socket ends the symbolizer.
 */
int spawner_request(int socket, enum symbolizer_priority priority, uint64_t deadline_ns);

#endif
