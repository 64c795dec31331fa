/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notify.h owns what the service manager hears from the daemon: the protocol of sd_notify(3), which is one
 * datagram a message, without libsystemd. Nothing here waits: what the manager's socket does not take at once
 * is sent again by notify_tick(), unless something newer has to be said by then.
 */
#ifndef BOURDON_CONSUMER_PROCESS_NOTIFY_H
#define BOURDON_CONSUMER_PROCESS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_BYTES_MAX 512

struct notify {
	int fd;                     /* connected; negative: nobody wants to hear */
	uint64_t watchdog_every_ns; /* 0: nobody watches */
	uint64_t watchdog_due_ns;
	char unsent[NOTIFY_BYTES_MAX];
};

/*
 * Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, and connects, which it has to
 * do before confinement. Without a socket, or where it cannot be reached, which is logged, there is nobody to
 * tell, and all that follows does nothing. A watchdog that is meant for another process is none.
 */
void notify_open(struct notify *ret_notify);
void notify_close(struct notify *notify);

/* Whether a service manager started this process and listens. */
bool notify_is_heard(const struct notify *notify);

struct notify_state {
	unsigned int rules, targets, watches;
	const char *mistake; /* of the configuration that is not in force for it; "" for none */
};

/* It records, and this is what, in one line for people: after the start, and after each reload. */
void notify_ready(struct notify *notify, const struct notify_state *state);

/* The configuration is read again, and notify_ready() follows. */
void notify_reloading(struct notify *notify, uint64_t now_ns);

/* It ends by itself. */
void notify_stopping(struct notify *notify);

/* At least once a second: says that the caller lives, at twice the pace that the manager asks for. */
void notify_tick(struct notify *notify, uint64_t now_ns);

#endif
