/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watches.h owns the pressure files that rules watch: a kernel trigger where the kernel grants one, else
 * the running total, read once a second.
 */
#ifndef BOURDON_CONSUMER_WATCHES_H
#define BOURDON_CONSUMER_WATCHES_H

#include "consumer/capture.h"
#include "consumer/rules.h"

struct watch {
	const struct rule *rule;
	const struct trigger *trigger;
	uint64_t cgroup_id; /* 0: the whole system */
	char *cgroup;       /* its path; NULL: the whole system */
	enum trigger_mode mode;
	int fd;
	bool gone; /* its cgroup was removed: swept by watches_sweep() */
	struct psi_window window;
	uint64_t quiet_until_ns; /* cooldown, CLOCK_MONOTONIC */
	uint64_t suppressed;     /* times it fired in vain since its last capture */
};

/* What a watch that fired is passed to; `observed_us` is the stall in the window that ends now. */
typedef void (*watch_fired)(void *user, struct watch *watch, uint64_t observed_us);

struct watches {
	struct watch **watches;
	size_t count, room;
	int epoll; /* kernel triggers are in it, with their watch as data */
	const char *mount;
	bool any_gone;
	uint64_t spurious; /* kernel events without the stall that they were armed for */
};

void watches_init(struct watches *watches, int epoll, const char *mount);
void watches_free(struct watches *watches);

/*
 * Makes sure that the triggers of `rule` are watched on this cgroup, or on the whole system (id 0, path
 * NULL). Logs what cannot be watched, once a watch. 0 or -ENOMEM.
 */
int watches_add(struct watches *watches, const struct rule *rule, uint64_t cgroup_id, const char *cgroup);

/* Reads all totals, once a second; calls back for each sampled watch that is over its threshold. */
void watches_tick(struct watches *watches, uint64_t now_ns, watch_fired fired, void *user);

/*
 * Frees the watches whose cgroups are gone. Between two batches of events only: a batch may still name one
 * that its earlier events, or a tick, found gone.
 */
void watches_sweep(struct watches *watches);

/* epoll says that the kernel trigger of this watch fired. */
void watches_event(struct watches *watches, struct watch *watch, uint32_t events, uint64_t now_ns,
		   watch_fired fired, void *user);

#endif
