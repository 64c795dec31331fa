/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture.h owns one capture while it is taken: the history that the rings still have, then what comes, both
 * added up by process, thread, stack and second. The draining thread fills it; when it has ended, the store
 * thread owns it.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_H

#include "consumer/capture/capture_usage.h"
#include "consumer/capture/kernel_stats.h"
#include "consumer/capture/pressure.h"
#include "consumer/capture/ring.h"
#include "consumer/capture/stacks.h"
#include "consumer/rules/rules.h"

/* The ledger's reasons. */
enum loss {
	LOSS_OVERWRITTEN,       /* slots that the kernel overwrote before they were read */
	LOSS_TORN,              /* slots that were overwritten while they were read */
	LOSS_KERNEL_STACK,      /* samples whose kernel stack could not be had */
	LOSS_USER_STACK,        /* samples whose user stack could not be had */
	LOSS_NOT_TAKEN,         /* ticks of targets that found the heartbeat too old, meanwhile */
	LOSS_TRUNCATED,         /* samples with more frames than a slot holds */
	LOSS_NOT_WHOLE,         /* samples whose user stack does not reach the thread's first function */
	LOSS_CAPTURE_FULL,      /* samples beyond what a capture may hold */
	LOSS_TARGETS_FULL,      /* processes that found the targets map full, meanwhile */
	LOSS_EVENTS,            /* process events lost, meanwhile */
	LOSS_STALE_EVENTS,      /* process events of patterns that are no more, meanwhile */
	LOSS_OFFCPU_UNSTACKED,  /* intervals off CPU without a stack, over a budget */
	LOSS_OFFCPU_UNTRACKED,  /* threads whose intervals off CPU are not known, meanwhile */
	LOSS_UNKNOWN_PROCESS,   /* samples of processes that nobody announced */
	LOSS_MISSING,           /* samples on CPU that did not come, by the CPU time, and nobody knows why */
	LOSS_WATCH_SUPPRESSED,  /* triggers since the last capture that cooldown kept from one */
	LOSS_CPUS_UNSAMPLED,    /* CPUs that were online without a clock, at the most */
	LOSS_UNRESOLVED_FRAMES, /* distinct frames without a function name */
	LOSS_SYMBOLIZER,        /* symbolizers that ended early, or that were not to be had */
	LOSS_REASONS,
};

struct loss_reason {
	const char *name;
	const char *unit; /* what one event is: schema.sql, table loss */
};

extern const struct loss_reason loss_reasons[LOSS_REASONS];

enum trigger_mode { TRIGGER_KERNEL, TRIGGER_SAMPLED, TRIGGER_MODES };
extern const char *const trigger_mode_names[TRIGGER_MODES];

/* A process in a cgroup: one that moves becomes another, because the rule may apply to it in one only. */
struct capture_process {
	uint32_t tgid;
	uint64_t started_ns;
	uint64_t cgroup_id;
	uint32_t uid;
	char comm[ABI_COMM_BYTES]; /* of the group leader */
	char *cgroup;              /* path, or NULL */
	bool included;             /* the rule applies to it */
};

struct capture_row {
	uint32_t process, stack, tid;
	char thread[ABI_COMM_BYTES];
	uint8_t kind, stall;
	int32_t second;   /* relative to the trigger */
	uint32_t samples; /* or intervals that ended in that second */
	uint64_t weight_ns;
};

/* What fired, fixed when it did. */
struct capture_trigger {
	uint32_t rule_id;
	char rule[64];
	struct trigger psi;
	enum trigger_mode mode;
	char *cgroup; /* NULL: the whole system. Owned. */
	uint64_t observed_us;
	uint64_t triggered_ns; /* CLOCK_MONOTONIC */
	int64_t triggered_at;  /* Unix ns */
	uint64_t wanted_history_ns, capture_ns;
	uint32_t hz;
};

/*
 * How many samples on CPU there should be: of the span between two walks over all processes, where the CPU
 * time of each is known.
 */
struct expectation {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC; 0 while nobody knows */
	uint64_t cpu_ns_before;  /* what the capture's processes had used at from_ns, since usage.before */
	uint64_t cpu_ns;         /* what they used in the span */
	uint64_t received;       /* samples on CPU of it */
};

struct capture {
	struct capture_trigger trigger;
	uint64_t covered_from_ns;    /* from here on there are samples on CPU */
	uint64_t offcpu_from_ns;     /* from here on there are intervals off CPU */
	uint64_t ended_ns;           /* 0 while it is taken */
	bool interrupted;            /* the daemon ended before the capture did */
	struct ring_reader *readers; /* of the rings of samples on CPU, then of intervals off it */
	uint32_t readers_count;
	struct capture_process *processes;
	uint32_t processes_count, processes_room;
	struct hash_index processes_index;
	struct stacks stacks;
	struct capture_row *rows;
	uint32_t rows_count, rows_room;
	struct hash_index rows_index;
	struct pressure pressure;
	struct capture_usage usage;
	struct kernel_stats kernel_stats;
	struct expectation expected;
	uint64_t losses[LOSS_REASONS];
	uint64_t seed;
	int64_t capture_id; /* the store thread's: the row in the database, 0 without */
};

/*
 * What the capture is told of a process that it meets for the first time: stores uid, comm, cgroup and
 * included (the rest is there), or returns false where nobody knows it.
 */
typedef bool (*capture_describe)(void *user, const struct sample *sample, struct capture_process *process);

struct rings {
	const struct sample *slots;
	uint32_t slots_per_cpu, cpus;
	uint64_t armed_ns;                 /* since then every sample was taken (CLOCK_MONOTONIC) */
	const struct sample *offcpu_slots; /* as many, of intervals off CPU; or NULL */
};

/* Takes `trigger` over. NULL without memory; then `trigger` is still the caller's. */
struct capture *capture_begin(const struct capture_trigger *trigger, const struct rings *rings,
			      uint64_t seed);
void capture_free(struct capture *capture);

/* Takes from the rings what belongs to the capture, up to now. */
void capture_drain(struct capture *capture, capture_describe describe, void *user);

/* Whether its time is over at `now_ns`. */
bool capture_is_over(const struct capture *capture, uint64_t now_ns);

/* Takes an interval off CPU that has not ended (offcpu_open), as far as it lies within the capture. */
void capture_add_open(struct capture *capture, const struct sample *sample, uint64_t now_ns,
		      capture_describe describe, void *user);

/* How many samples on CPU there should be of the span of `expected`. */
uint64_t capture_expected_samples(const struct capture *capture);

/*
 * After a walk over all processes at `walked_ns`: by then the capture's processes had used `cpu_ns` since
 * usage.before. The first walk within the capture begins the span of `expected`, and the last ends it.
 */
void capture_expect_from(struct capture *capture, uint64_t walked_ns, uint64_t cpu_ns);
void capture_expect_until(struct capture *capture, uint64_t walked_ns, uint64_t cpu_ns);

/* Enters in the ledger what others count: so much in all, or at the most so much at a time. */
void capture_note_loss(struct capture *capture, enum loss loss, uint64_t events);
void capture_note_worst(struct capture *capture, enum loss loss, uint64_t events);

/* Closes the ledger. Nothing is drained after that. */
void capture_end(struct capture *capture, uint64_t now_ns, bool interrupted);

/* How much history there really was, of samples on CPU and off it, in ns: at most what the rule asks for. */
uint64_t capture_available_history_ns(const struct capture *capture);
uint64_t capture_available_offcpu_history_ns(const struct capture *capture);

#endif
