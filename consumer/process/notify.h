/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notify.h owns the messages to the service manager, in the protocol of sd_notify(3) (one datagram a
 * message), without libsystemd. Nothing here blocks: notify_tick() sends again what the manager's socket did
 * not accept, unless a newer message replaced it.
 */
#ifndef BOURDON_CONSUMER_PROCESS_NOTIFY_H
#define BOURDON_CONSUMER_PROCESS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_BYTES_MAX 512

struct notify {
	int fd;                     /* connected socket; negative where there is no service manager */
	uint64_t watchdog_every_ns; /* 0: no watchdog */
	uint64_t watchdog_due_ns;
	char unsent[NOTIFY_BYTES_MAX];
};

/*
 * Removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment and connects; call it before
 * confinement. Without a socket, or where connecting fails (logged), all functions below do nothing. A
 * watchdog for another pid is ignored.
 */
void notify_open(struct notify *ret_notify);
void notify_close(struct notify *notify);

/* Whether a service manager started this process and listens. */
bool notify_is_heard(const struct notify *notify);

struct notify_state {
	unsigned int rules, targets, watches;
	const char *mistake; /* the mistake for which a reload was refused; "" where there is none */
};

/*
 * Reports that the daemon is ready, with its state in one line. Call it after the start and after each
 * reload.
 */
void notify_ready(struct notify *notify, const struct notify_state *state);

/* Reports that the configuration is being read again; notify_ready() must follow. */
void notify_reloading(struct notify *notify, uint64_t now_ns);

/* Reports that the daemon is about to end. */
void notify_stopping(struct notify *notify);

/* Call it at least once a second. Sends the watchdog's sign of life, twice per watchdog interval. */
void notify_tick(struct notify *notify, uint64_t now_ns);

#endif
