/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon.h owns the draining thread: it sleeps until a process matches, a threshold is crossed or a second
 * has passed, and does nothing that can block.
 */
#ifndef BOURDON_CONSUMER_DAEMON_H
#define BOURDON_CONSUMER_DAEMON_H

#include "consumer/pinned.h"
#include "consumer/rules.h"
#include "consumer/store_thread.h"

struct daemon;

/*
 * Opens what the loop needs, while it still may: ring buffers, clock, signals, the watch on the pin
 * directory. Blocks the signals that end the daemon, for all threads that come. Logs what failed; 0 or
 * -errno.
 */
int daemon_open(struct daemon **ret_daemon, const struct pinned *pinned, const struct rule_set *rules,
		const char *pin_dir);
void daemon_close(struct daemon *daemon);

/*
 * Publishes the patterns, finds who runs already, arms the watches, and loops until a signal comes or the
 * pins are replaced. Captures that are under way are handed over as interrupted. Returns an exit status.
 */
int daemon_run(struct daemon *daemon, struct store_thread *store);

#endif
