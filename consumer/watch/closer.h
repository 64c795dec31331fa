/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closer.h owns the thread that closes PSI triggers. The kernel waits for an RCU grace period in each close
 * (9 ms where it was measured), and the draining thread must not block.
 */
#ifndef BOURDON_CONSUMER_WATCH_CLOSER_H
#define BOURDON_CONSUMER_WATCH_CLOSER_H

struct closer;

/* Starts the thread. Call it before confinement. Returns 0 or -errno. */
int closer_start(struct closer **ret_closer);

/* Takes ownership of the descriptor and closes it soon; without memory for the queue, closes it now. */
void closer_close(struct closer *closer, int fd);

/* Closes all queued descriptors and ends the thread. Accepts NULL. */
void closer_stop(struct closer *closer);

#endif
