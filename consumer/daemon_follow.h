/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon_follow.h owns what follows from a configuration: patterns in the kernel, watches, budgets, intervals and baselines. daemon.c
 * calls it, on the draining thread.
 */
#ifndef BOURDON_CONSUMER_DAEMON_FOLLOW_H
#define BOURDON_CONSUMER_DAEMON_FOLLOW_H

#include "consumer/daemon_state.h"

/* Takes ownership of the configuration, which is in force. */
void daemon_follow_init(struct daemon *daemon, struct configuration *configuration);

/* Follows the first configuration, and reports readiness. Logs a failure. Returns 0 or -errno. */
int daemon_follow_first(struct daemon *daemon);

/* The worker thread has read the configuration again: follows it, or keeps the one in force. */
void daemon_finish_reload(struct daemon *daemon);

#endif
