/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closer.h owns closing PSI triggers: the kernel waits for an RCU grace period in each (9 ms where it was
 * measured), which the draining thread must not.
 */
#ifndef BOURDON_CONSUMER_WATCH_CLOSER_H
#define BOURDON_CONSUMER_WATCH_CLOSER_H

struct closer;

/* Starts the thread, before confinement. 0 or -errno. */
int closer_start(struct closer **ret_closer);

/* Takes the descriptor over and closes it soon; where there is no memory to remember it, now. */
void closer_close(struct closer *closer, int fd);

/* Closes what waits and ends the thread. Accepts NULL. */
void closer_stop(struct closer *closer);

#endif
