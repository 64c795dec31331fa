/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon.h owns the draining thread: it sleeps until a process matches, a threshold is crossed or a second
 * has passed, and does nothing that can block.
 */
#ifndef BOURDON_CONSUMER_DAEMON_H
#define BOURDON_CONSUMER_DAEMON_H

#include "consumer/process/kernel_objects.h"
#include "consumer/process/notify.h"
#include "consumer/process/own_counters.h"
#include "consumer/rules/configuration.h"
#include "consumer/store/store_thread.h"

struct daemon;

struct daemon_settings {
	const struct settings *where; /* where everything is; all of these outlive the daemon */
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	struct notify *notify;
	int spawner_socket;
	const struct confinement *confinement; /* becomes true while the daemon starts */
};

/*
 * Opens what the loop needs, while it still may: ring buffers, clock, signals, the watches on the pin
 * directory and the configuration. Blocks the signals that it takes, for all threads that come. Takes the
 * configuration over, even when it fails. Logs what failed; 0 or -errno.
 */
int daemon_open(struct daemon **ret_daemon, const struct daemon_settings *settings,
		struct configuration *configuration);
void daemon_close(struct daemon *daemon);

/* Where cgroup2 is mounted. */
const char *daemon_cgroup_mount(const struct daemon *daemon);

/*
 * Once no privilege is left and the state directory is locked: the thread that closes what takes long to
 * close, and the control socket. Logs what failed; 0 or -errno.
 */
int daemon_start_services(struct daemon *daemon);

/*
 * Publishes the patterns, finds who runs already, arms the watches, says that it is ready, and loops until a
 * signal comes, the pins are replaced or the spawner is gone. Captures that are under way are handed over as
 * interrupted; of the last it ends when there has been none for half a minute. Returns an exit status.
 */
int daemon_run(struct daemon *daemon, struct store_thread *store);

#endif
