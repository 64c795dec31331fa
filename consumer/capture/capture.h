/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture.h owns one capture while it is recorded: the history that the rings hold, then what follows, summed
 * by process, thread, stack and second. The draining thread fills it (capture_samples.h, capture_looks.h); when it has ended, the
 * worker thread owns it.
 *
 * Room: what a capture gathers. The draining thread until it hands the capture over; then whoever owns it. It
 * reads rings and maps, and never waits.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_H

#include "consumer/capture/accounts.h"
#include "consumer/capture/asking.h"
#include "consumer/capture/capture_usage.h"
#include "consumer/capture/cgroup_memory.h"
#include "consumer/capture/growths.h"
#include "consumer/capture/kernel_stats.h"
#include "consumer/capture/latency.h"
#include "consumer/capture/pressure.h"
#include "consumer/capture/ring.h"
#include "consumer/capture/stacks.h"
#include "consumer/capture/thread_states.h"
#include "consumer/capture/wakes.h"
#include "consumer/host/looks.h"
#include "consumer/rules/rules.h"

/*
 * The reasons of the loss ledger. Counts marked "meanwhile" are those of the whole host during the capture.
 */
enum loss {
	LOSS_OVERWRITTEN,       /* samples overwritten before they were read */
	LOSS_TORN,              /* samples overwritten while they were read */
	LOSS_KERNEL_STACK,      /* samples without a kernel stack, because the kernel returned an error */
	LOSS_USER_STACK,        /* samples without a user stack, because the kernel returned an error */
	LOSS_NOT_TAKEN,         /* ticks skipped because the heartbeat was too old, meanwhile */
	LOSS_TRUNCATED,         /* samples with more frames than a slot holds */
	LOSS_NOT_WHOLE,         /* samples whose user stack does not reach the thread's first function */
	LOSS_CAPTURE_FULL,      /* samples beyond the limits of a capture */
	LOSS_OTHERS_FULL,       /* samples of others than targets, beyond the limits for those */
	LOSS_GROWTH,            /* stacks of growing memory for which the capture had no room */
	LOSS_WAKERS,            /* intervals off CPU without their waker, or its stack: no room for it */
	LOSS_LOOKS,             /* threads at which a look saw more than the capture has room for */
	LOSS_TARGETS_FULL,      /* processes that did not fit the targets map, meanwhile */
	LOSS_EVENTS,            /* process events lost, meanwhile */
	LOSS_STALE_EVENTS,      /* process events of patterns no longer in force, meanwhile */
	LOSS_OFFCPU_UNSTACKED,  /* intervals off CPU without a stack, because the budget was used up */
	LOSS_OFFCPU_UNTRACKED,  /* threads whose intervals off CPU could not be tracked, meanwhile */
	LOSS_UNKNOWN_PROCESS,   /* samples of processes that the consumer does not know */
	LOSS_MISSING,           /* samples on CPU that the CPU time calls for and no other reason explains */
	LOSS_WATCH_SUPPRESSED,  /* triggers since the last capture that the cooldown suppressed */
	LOSS_CGROUPS_UNWATCHED, /* the largest number of cgroups that the rule did not watch at a time */
	LOSS_CPUS_UNSAMPLED,    /* the largest number of CPUs that were online and not sampled */
	LOSS_UNRESOLVED_FRAMES, /* distinct frames without a function name */
	LOSS_SYMBOLIZER,        /* symbolizers that died, or could not be started */
	LOSS_MAPPINGS_CUT,      /* processes with more executable mappings than get names and unwind tables */
	LOSS_PROGRAM_RUNS,      /* runs of kernel programs that the kernel left out, meanwhile */
	LOSS_OFFCPU_JOINED, /* intervals off CPU without a slot, whose time a later one of their thread has, meanwhile */
	LOSS_REASONS,
};

struct loss_reason {
	const char *name;
	const char *unit; /* the unit of the count (schema.sql, table loss) */
};

extern const struct loss_reason loss_reasons[LOSS_REASONS];

/* The word for STALL_* bits. */
const char *capture_stall_name(uint8_t stall);

/*
 * A process in one cgroup, and while it runs one program. A process that moves to another cgroup, or executes
 * another program, gets a second entry, because the rule may apply to only one of them.
 */
struct capture_process {
	uint32_t tgid;
	uint64_t started_ns;
	uint64_t cgroup_id;
	uint32_t program; /* sample.program */
	uint32_t uid;
	char comm[ABI_COMM_BYTES]; /* of the group leader */
	const char *cgroup;        /* path, of shared_text.h, or NULL */
	uint32_t epoch, epochs; /* of the last sample (abi.h), and how often it was another one than before */
	/* USAGE_TARGET: the rule applies to it. Else USAGE_OTHER or USAGE_KERNEL: it has samples on CPU alone */
	enum usage_role role;
};

/* A process in one cgroup, to which the rule does not apply, and of which there was no sample on CPU yet. */
struct capture_other {
	uint64_t started_ns, cgroup_id;
	uint32_t tgid, program;
};

/* At a time; the others are looked up again. */
#define CAPTURE_OTHERS 256U

/* Rows are one whose members before `thread` are the same. */
struct capture_row {
	uint32_t process, stack, tid;
	uint32_t epoch; /* of the address space (abi.h); 0: not known, or of several */
	int32_t second; /* relative to the trigger */
	uint8_t kind, stall;
	char thread[ABI_COMM_BYTES];
	uint32_t samples; /* samples, or intervals that ended in that second */
	uint64_t weight_ns;
};

/* After so many changes of a process's epoch its rows have none: they would be as many as its samples. */
#define CAPTURE_EPOCHS 64U

/*
 * When a sample of a row was, on which CPU; or when an interval off CPU began and ended. Milliseconds from the begin of
 * the row's second.
 */
struct capture_event {
	uint32_t row;
	int32_t begin_ms; /* of an interval */
	int16_t at_ms;    /* of a sample, or the end of an interval */
	uint16_t cpu;     /* CAPTURE_NO_CPU: not known */
};

#define CAPTURE_STACKS_MAX 16384U /* distinct stacks of one capture */
#define CAPTURE_NO_CPU UINT16_MAX
#define CAPTURE_NO_UID UINT32_MAX

/* What fired, as it was at that moment; or who asked. */
struct capture_trigger {
	/* NULL: a rule fired, or it is a rule's baseline. Else nothing fired: rule_id is 0, and rule means nothing. Owned */
	struct asking *asking;
	uint32_t rule_id;
	char rule[64];
	struct trigger psi;      /* of a kill or a latency: the nearest resource, and nothing else */
	struct kill_record kill; /* of TRIGGER_KILL */
	/* of TRIGGER_LATENCY, with the quantile that was seen */
	struct latency_trigger latency;
	uint64_t latency_observed_ns;
	enum trigger_mode mode;
	char *cgroup; /* NULL: the whole system. Owned by this structure. */
	uint64_t observed_us;
	uint64_t triggered_ns; /* CLOCK_MONOTONIC */
	int64_t triggered_at;  /* Unix ns */
	/* when the stall began (psi_window_onset()), or the window of a latency, or the time of the kill, CLOCK_MONOTONIC; 0: not known */
	uint64_t onset_ns;
	uint32_t incident; /* its number within the run (incident.h) */
	uint64_t wanted_history_ns, capture_ns;
	uint32_t hz;
};

/* A moment of CLOCK_MONOTONIC in Unix ns. */
static inline int64_t capture_wall_ns(const struct capture_trigger *trigger, uint64_t monotonic_ns)
{
	return trigger->triggered_at + (int64_t)(monotonic_ns - trigger->triggered_ns);
}

/*
 * The number of samples on CPU to expect, for the span between two walks over all processes, between which
 * the CPU time of each process is known.
 */
struct expectation {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC; 0 until the walk is done */
	uint64_t cpu_ns_before;  /* CPU time of the capture's processes from usage.before to from_ns */
	uint64_t cpu_ns;         /* CPU time of the capture's processes in the span */
	uint64_t received;       /* samples on CPU received in the span */
};

struct capture {
	struct capture_trigger trigger;
	uint64_t covered_from_ns;    /* start of the samples on CPU */
	uint64_t offcpu_from_ns;     /* start of the intervals off CPU */
	uint64_t planned_end_ns;     /* capture_shorten() brings it forward */
	uint64_t ended_ns;           /* 0 while it is recorded */
	uint64_t taken;              /* samples of targets so far */
	bool interrupted;            /* the daemon ended before the capture did */
	struct ring_reader *readers; /* of the on-CPU rings, then of the off-CPU rings */
	uint32_t readers_count, cpus;
	/* of the last capture_drain(): slots of the CPU that had most of them, by SAMPLE_ON_CPU and SAMPLE_OFF_CPU */
	uint64_t unread[2];
	struct capture_process *processes;
	uint32_t processes_count, processes_room;
	struct hash_index processes_index;
	struct capture_other others[CAPTURE_OTHERS]; /* those seen last, each in the place of its hash */
	struct stacks stacks;
	/* of these, what others than targets have: they have limits of their own */
	struct {
		uint32_t processes, stacks, frames, rows;
	} of_others;
	struct capture_row *rows;
	uint32_t rows_count, rows_room;
	struct hash_index rows_index;
	struct capture_event *events;
	uint32_t events_count, events_room;
	struct wakes wakes;
	struct growths growths;
	struct thread_states thread_states;
	uint32_t look_stacks; /* how many stacks looks have added */
	struct pressure pressure;
	struct capture_usage usage;
	struct kernel_stats kernel_stats;
	struct cgroup_memory cgroup_memory;
	struct accounts accounts;
	struct latency latency;
	struct expectation expected;
	uint64_t losses[LOSS_REASONS];
	int64_t capture_id; /* set by the worker thread: the row in the database, or 0 */
	bool has_moved; /* a target's samples have another epoch than those before; the recorder takes it off */
	size_t bytes_most; /* of capture_bytes(): beyond, only what is there grows. The recorder sets it */
};

/*
 * Called for a process at its first sample, and perhaps again if the rule does not apply to it: stores uid
 * (CAPTURE_NO_UID: not known), comm, cgroup, which is copied, and role (the other members are set), or returns false where
 * the process is unknown.
 */
typedef bool (*capture_describe)(void *user, const struct sample *sample, struct capture_process *process);

struct rings {
	const struct sample *slots;
	uint32_t slots_per_cpu, cpus;
	uint64_t armed_ns;                 /* every sample since then was written (CLOCK_MONOTONIC) */
	const struct sample *offcpu_slots; /* the same number of slots, for intervals off CPU; or NULL */
};

/* Opens the readers at `wanted_ns` or later. Returns the time from which the rings hold every sample. */
uint64_t rings_begin(struct ring_reader *readers, const struct rings *rings, const struct sample *slots,
		     uint64_t wanted_ns);

/*
 * Starts a capture. Takes ownership of trigger->cgroup and trigger->asking. NULL without memory; then the caller still
 * owns them.
 */
struct capture *capture_begin(const struct capture_trigger *trigger, const struct rings *rings);

/*
 * Starts a capture of what `before`, which has ended, has not read of the same rings, whenever that was. Otherwise as
 * capture_begin().
 */
struct capture *capture_follow(const struct capture_trigger *trigger, const struct capture *before);
void capture_free(struct capture *capture);

/* The memory of what samples and looks have added, and of the accounts. */
size_t capture_bytes(const struct capture *capture);

/* Whether that is the most that it may be. Others than targets leave half of it to targets. */
bool capture_is_full(const struct capture *capture, bool of_other);

/* Whether it is of samples of this kind (SAMPLE_*): all are, unless somebody asked for one kind. */
bool capture_takes(const struct capture *capture, uint32_t kind);

/* Ends the capture's time at `now_ns`, or leaves it if that is later. */
void capture_shorten(struct capture *capture, uint64_t now_ns);

/* Whether pressure fired. Without that, psi and observed_us mean nothing. */
static inline bool capture_is_of_pressure(const struct capture_trigger *trigger)
{
	return trigger->mode == TRIGGER_KERNEL || trigger->mode == TRIGGER_SAMPLED;
}

/* Whether a rule fired. Without that, onset_ns and incident mean nothing, and there is no cause. */
static inline bool capture_was_triggered(const struct capture_trigger *trigger)
{
	return capture_is_of_pressure(trigger) || trigger->mode == TRIGGER_KILL ||
	       trigger->mode == TRIGGER_LATENCY;
}

/* Whose capture it is, for the log: "rule web", or "alice (uid 1000)". */
const char *capture_whose(const struct capture_trigger *trigger, char *into, size_t into_bytes);
#define CAPTURE_WHOSE_BYTES 96

/* Whether the capture's time is over at `now_ns`. */
bool capture_is_over(const struct capture *capture, uint64_t now_ns);

/* The number of samples on CPU to expect in the span of `expected`. */
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

/* Closes the ledger of losses, and gives back the memory that adding needs. Add nothing after that. */
void capture_end(struct capture *capture, uint64_t now_ns, bool interrupted);

/*
 * The history that the rings held, of samples on CPU and of intervals off CPU, in ns. At most what the rule
 * wants.
 */
uint64_t capture_available_history_ns(const struct capture *capture);
uint64_t capture_available_offcpu_history_ns(const struct capture *capture);

#endif
