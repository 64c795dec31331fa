/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h owns one pressure file that one trigger of a rule watches: read once a second (sampled), or with a
 * kernel trigger, where this process may arm one or bourdon-grant opens the file for it.
 */
#ifndef BOURDON_CONSUMER_WATCH_WATCH_H
#define BOURDON_CONSUMER_WATCH_WATCH_H

#include "consumer/process/event_source.h"
#include "consumer/rules/rules.h"
#include "consumer/rules/trigger_mode.h"
#include "consumer/watch/closer.h"

struct grant_call;

enum watch_wish {
	WISH_NONE,  /* what it has is what it gets */
	WISH_GRANT, /* a kernel trigger, as soon as somebody grants it */
	WISH_ASKED, /* and is being asked */
};

struct watch {
	struct event_source source;
	const struct rule *rule;
	const struct trigger *trigger; /* of that rule */
	uint64_t cgroup_id;            /* 0: the whole system */
	char *cgroup;                  /* its path; NULL: the whole system */
	enum trigger_mode mode;
	enum watch_wish wish;
	struct grant_call *call; /* while WISH_ASKED */
	char *refusal; /* why it has no kernel trigger, or cannot be read; NULL: not known, or not refused */
	int fd;        /* negative: the file cannot be read, and that was said */
	bool gone;     /* its cgroup was removed, or its rule: freed by watches_sweep() */
	struct psi_window window;
	uint32_t walk;           /* the last walk that found a target for it */
	uint64_t quiet_until_ns; /* cooldown, CLOCK_MONOTONIC */
	uint64_t fired_ns;       /* sampled: when it fired last */
	uint64_t fired, suppressed_all;
	uint64_t suppressed; /* times it fired in vain since its last capture */
};

/* A window that only CAP_SYS_RESOURCE arms: it costs the kernel a real-time thread. */
bool watch_is_privileged(const struct watch *watch);

/*
 * Opens its pressure file below `mount`. On the system's files a trigger is armed at once where the kernel
 * takes one, and the descriptor added to `epoll`. 0 or -errno, -ENOTSUP where the file has no such line.
 */
int watch_open(struct watch *watch, const char *mount, int epoll);

/*
 * Arms a trigger on a descriptor that was granted, and watches by it from then on. Takes `fd` over. 0 or
 * -errno: then it goes on as before.
 */
int watch_upgrade(struct watch *watch, int fd, int epoll, struct closer *closer);

/* Out of the epoll set; the descriptor goes to the closer. */
void watch_close(struct watch *watch, int epoll, struct closer *closer);

/* Whether it cools down: what crosses the threshold now calls for no capture. */
bool watch_is_quiet(const struct watch *watch, uint64_t now_ns);

/* It fired, and no capture began. */
void watch_suppress(struct watch *watch);

/* It fired, and a capture began at `now_ns`: it cools down until that is over, and the rule's cooldown, too. */
void watch_cool_down(struct watch *watch, uint64_t now_ns);

/* Reads the total. 0 or -errno: the cgroup is gone, or PSI was switched off for it. */
int watch_read(const struct watch *watch, uint64_t *ret_total_us);

#endif
