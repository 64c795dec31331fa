/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closer.h owns the threads that close PSI triggers. The kernel waits for an RCU grace period in each close
 * (9 ms where it was measured), and the draining thread must not block. Several threads wait for one grace
 * period together: eight close 4,000 triggers of different cgroups in 8 s, as the daemon has to when it ends.
 */
#ifndef BOURDON_CONSUMER_WATCH_CLOSER_H
#define BOURDON_CONSUMER_WATCH_CLOSER_H

#include <stdint.h>

struct closer;

/* Starts the threads. Call it before confinement. Returns 0 or -errno. */
int closer_start(struct closer **ret_closer);

/* Takes ownership of the descriptor and closes it soon; without memory for the queue, closes it now. */
void closer_close(struct closer *closer, int fd);

/* The number of descriptors that are not closed yet. Accepts NULL. */
uint32_t closer_pending(struct closer *closer);

/* Closes all queued descriptors and ends the threads. Accepts NULL. */
void closer_stop(struct closer *closer);

#endif
