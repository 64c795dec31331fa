/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h owns one pressure file, watched for one trigger of a rule. The file is either read once a second
 * (sampled) or has a kernel trigger, which this process arms itself or on a descriptor from bourdon-grant.
 */
#ifndef BOURDON_CONSUMER_WATCH_WATCH_H
#define BOURDON_CONSUMER_WATCH_WATCH_H

#include "consumer/process/event_source.h"
#include "consumer/rules/rules.h"
#include "consumer/watch/closer.h"

struct grant_call;

enum watch_wish {
	WISH_NONE,  /* nothing: its mode does not change any more */
	WISH_GRANT, /* a kernel trigger, once bourdon-grant is free */
	WISH_ASKED, /* a kernel trigger; waiting for the answer of bourdon-grant */
};

struct watch {
	struct event_source source;
	const struct rule *rule;
	const struct trigger
		*trigger; /* one of rule->triggers; NULL: of kills or a latency (event_watches.h) */
	const struct latency_trigger *latency; /* one of rule->latencies; NULL: it is of none */
	uint64_t cgroup_id;                    /* 0: the whole system */
	char *cgroup;                          /* its path; NULL: the whole system */
	uint32_t cost;                         /* the room that it takes (watch_room.h) */
	bool by_user;                          /* a user other than root made the cgroup */
	enum trigger_mode mode;
	enum watch_wish wish;
	struct grant_call *call; /* while WISH_ASKED */
	/* why there is no kernel trigger, or why the file cannot be read; NULL: not refused, or not known */
	char *refusal;
	int fd;    /* negative: the file cannot be read, which was logged */
	bool gone; /* its cgroup or its rule was removed: watches_sweep() frees it */
	struct psi_window window;
	uint32_t walk;           /* number of the last walk that found a target for it */
	uint64_t quiet_until_ns; /* end of the cooldown, CLOCK_MONOTONIC */
	/* of its last capture: when that ends, and the largest stall in a window that it sees */
	uint64_t covered_until_ns, peak_us;
	uint64_t own_peak_us; /* the same of what its targets waited; WATCH_NOT_KNOWN */
	uint32_t extensions;  /* captures that began within a cooldown, since the last that did not */
	uint32_t of_others;   /* captures in a row in which its targets had little part */
	/* how many reads in a row were above its threshold; with a kernel trigger, since its last event */
	uint32_t over_reads;
	enum trigger_mode fired_by; /* its last firing: TRIGGER_SAMPLED where a kernel trigger was late */
	uint64_t fired_ns;          /* when a read last fired */
	uint64_t fired, suppressed_all;
	uint64_t suppressed; /* triggers without a capture since its last capture */
};

/* Whether arming this window needs CAP_SYS_RESOURCE; such a trigger costs the kernel a real-time thread. */
bool watch_is_privileged(const struct watch *watch);

/*
 * Opens the pressure file below `mount`. On the system's own files it arms a trigger at once if the kernel
 * accepts it, and adds the descriptor to `epoll`. Returns 0 or -errno: -ENOTSUP if the file has no line for
 * the trigger.
 */
int watch_open(struct watch *watch, const char *mount, int epoll, uint64_t now_ns);

/*
 * Arms a trigger on a descriptor from bourdon-grant and switches the watch to it. Takes ownership of `fd`.
 * Returns 0, or -errno: then the watch stays as it was.
 */
int watch_upgrade(struct watch *watch, int fd, int epoll, struct closer *closer);

/* Removes the descriptor from the epoll set and gives it to the closer. */
void watch_close(struct watch *watch, int epoll, struct closer *closer);

/*
 * A cooldown does not hide worse pressure: where the watch's targets wait so many times as long as in the worst window of the
 * last capture, a capture begins within the cooldown, which then starts anew. The time is that of all their threads, by the
 * kernel's accounts (waits.c): what strangers in the same cgroup wait is no measure. Where it is not known, the stall is. That
 * happens so often at most before a cooldown has passed without a capture, because whoever makes the pressure could go on
 * doubling it.
 */
#define WATCH_WORSE_TIMES 2U
#define WATCH_EXTENSIONS_MAX 3U
#define WATCH_NOT_KNOWN UINT64_MAX

/*
 * A capture whose targets waited for less than 1 / WATCH_LITTLE of the stall that fired is about strangers: the cooldown that
 * follows is an eighth of the rule's. It doubles with each such capture that follows within a cooldown, up to the whole,
 * because strangers could have captures made without end.
 */
#define WATCH_LITTLE 4U
#define WATCH_SHORTER_BITS 3U

/* Whether the watch is in its cooldown: a crossed threshold then begins no capture, unless the stall is worse. */
bool watch_is_quiet(const struct watch *watch, uint64_t now_ns);

/* Whether its last capture is under way. */
bool watch_is_captured(const struct watch *watch, uint64_t now_ns);

/*
 * Whether this stall, in the window that ends now, begins a capture within the cooldown. `own_us` is what the targets waited
 * meanwhile, or WATCH_NOT_KNOWN.
 */
bool watch_is_worse(const struct watch *watch, uint64_t observed_us, uint64_t own_us, uint64_t now_ns);

/* Notes what the targets waited in a window that the last capture sees. WATCH_NOT_KNOWN changes nothing. */
void watch_note_own(struct watch *watch, uint64_t own_us);

/*
 * Call it when its capture has ended, perhaps before its time. `own_us` is what the targets waited in all of it, or
 * WATCH_NOT_KNOWN; `observed_us` is the stall that had fired.
 */
void watch_note_end(struct watch *watch, uint64_t observed_us, uint64_t own_us, uint64_t now_ns);

/* Notes the stall in the window that ends now, or the part of it that the last capture has seen. Call it before watch_is_worse(). */
void watch_note_stall(struct watch *watch, uint64_t observed_us, uint64_t now_ns);

/* Notes why there is no kernel trigger, or why the file cannot be read. Without memory that is not shown; the watch works. */
void watch_note_refusal(struct watch *watch, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Counts a trigger that began no capture. */
void watch_suppress(struct watch *watch);

/*
 * Starts the cooldown at `now_ns`, when a capture has begun: the time of the capture and then the rule's cooldown.
 * `observed_us` is the stall that fired, `own_us` what the targets waited meanwhile, or WATCH_NOT_KNOWN.
 */
void watch_cool_down(struct watch *watch, uint64_t observed_us, uint64_t own_us, uint64_t now_ns);

/* Reads the stall total. Returns 0, or -errno: the cgroup is gone, or PSI was switched off for it. */
int watch_read(const struct watch *watch, uint64_t *ret_total_us);

#endif
