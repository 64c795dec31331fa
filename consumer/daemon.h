/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon.h owns the draining thread. The thread sleeps until a process matches, pressure crosses a threshold
 * or a second has passed. It never blocks on anything else.
 *
 * Room: the draining thread ties the rooms below together. main() calls it; whatever may block it hands to the
 * worker thread.
 */
#ifndef BOURDON_CONSUMER_DAEMON_H
#define BOURDON_CONSUMER_DAEMON_H

#include "consumer/process/kernel_objects.h"
#include "consumer/process/notify.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/own_usage.h"
#include "consumer/rules/configuration.h"
#include "consumer/worker/worker.h"

struct daemon;

struct daemon_settings {
	const struct clock *clock;
	const struct settings *where; /* all of these outlive the daemon */
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	struct notify *notify;
	const char *cgroup_mount; /* of cgroup2 */
	const struct own_usage *own_usage;
	int spawner_socket;
	const struct confinement *confinement; /* becomes true during the daemon's start */
};

/*
 * Opens what the loop needs and confinement would forbid: ring buffers, signals, the watches on the
 * pin directory and the configuration. Blocks the signals that the loop handles, for all threads that start
 * later. Takes ownership of the configuration, even when it fails. Logs a failure. Returns 0 or -errno.
 */
int daemon_open(struct daemon **ret_daemon, const struct daemon_settings *settings,
		struct configuration *configuration);
void daemon_close(struct daemon *daemon);

/*
 * Call it once all privileges are dropped and the state directory is locked. Starts the thread that closes
 * triggers, and opens the control socket. Logs a failure. Returns 0 or -errno.
 */
int daemon_start_services(struct daemon *daemon);

/*
 * Publishes the patterns, finds the processes that run already, arms the watches and reports readiness. Then
 * takes turns until a signal comes, the pins are replaced, or the spawner is dead and no capture has been under
 * way for 30 s (at most 10 min). Hands captures that are under way to the worker thread as interrupted. Returns
 * the exit status.
 */
int daemon_run(struct daemon *daemon, struct worker *worker);

/*
 * The parts of daemon_run(), for tests, where time passes between two turns: the beginning, which returns 0 or -errno; a turn, which
 * sleeps for `patience_ns` at the longest, does what events and the time call for, and returns whether there were events; when
 * the next turn is due; whether the daemon is to end; and the end.
 */
int daemon_begin(struct daemon *daemon, struct worker *worker);
bool daemon_turn(struct daemon *daemon, uint64_t patience_ns);
uint64_t daemon_due_ns(const struct daemon *daemon);
bool daemon_has_ended(const struct daemon *daemon);
int daemon_end(struct daemon *daemon);

#endif
