/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cause_facts.h owns what the verdicts on a capture are made from: sums of its usage, the groups that matter, the growth of
 * the kernel's statistics, and the words for them. cause_cpu.c, cause_memory.c and cause_io.c judge by it.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAUSE_FACTS_H
#define BOURDON_CONSUMER_CAPTURE_CAUSE_FACTS_H

#include "consumer/capture/capture.h"
#include "consumer/capture/contention.h"
#include "consumer/capture/onset.h"
#include "consumer/capture/usage_groups.h"

#define CAUSE_THROTTLED "throttled by its own quota"
#define CAUSE_COMPETING "competing processes"
#define CAUSE_OWN_THREADS "its own threads"
#define CAUSE_OWN_LIMIT "reclaim at its own limit"
#define CAUSE_SHORTAGE "global memory shortage"
#define CAUSE_DEVICE "slow or busy device"
#define CAUSE_OWN_IO "its own I/O"
#define CAUSE_INTERRUPTS "interrupts"
#define CAUSE_STEAL "the hypervisor took it"
#define CAUSE_KILL "kill"
#define CAUSE_NEGLIGIBLE "negligible"
#define CAUSE_UNDETERMINED "undetermined"

#define FACTS_GROUP_BYTES 320U

/*
 * Names of processes and cgroups in its texts are not escaped. The culprit is the group that is to blame, as
 * usage_group_text() writes it, or "".
 */
struct cause {
	const char *verdict;
	struct onset onset;
	char because[768];
	char culprit[FACTS_GROUP_BYTES];
};

/* Bytes of a function's name in `because`. */
#define CAUSE_FUNCTION_BYTES 64

/*
 * Writes the function in which the group's samples on CPU ended most often, with its share, or returns false where that
 * is not known.
 */
typedef bool (*cause_hottest)(void *user, const struct usage_group *group, char *into, size_t into_bytes);

#define FACTS_MILLISECOND_NS 1000000U
#define FACTS_PAGE_BYTES 4096U
#define FACTS_MEBIBYTE (1ULL << 20)
/* One program of many is the reason if the others' part of the waiting is at least 1 / FACTS_VICTIMS_PART. */
#define FACTS_VICTIMS_PART 5

struct facts {
	const struct capture *capture;
	uint64_t stalled_ns; /* PSI's total of the resource that fired, since the trigger */
	struct usage_sums own, others;
	/* span of the two sums above: since the last walk before the trigger */
	uint64_t usage_ns;
	struct usage_groups groups;
	struct contention contention; /* for pressure on the CPU; else nothing is known */
	/* CPU time of others on the CPUs that the targets used or waited for; for pressure on the CPU alone */
	uint64_t competing_ns;
	/*
	 * The groups that used most of the resource, of others and of targets; or NULL. Of others' CPU time, that on the
	 * targets' CPUs counts.
	 */
	const struct usage_group *first_other, *first_target;
	const struct usage_group *first_victim; /* the group of targets that waited longest for it, or NULL */
	const struct usage_group *first_grown;  /* whose memory grew most, of all; or NULL */
	uint32_t target_groups;
	cause_hottest hottest;
	void *user;
};

/* Free them with facts_free(). They refer to the capture. */
struct facts facts_gather(const struct capture *capture, cause_hottest hottest, void *user);
void facts_free(struct facts *facts);

/* What a function returns that judges by the facts: a verdict, or this where it does not apply. */
extern const struct cause facts_no_verdict;
struct cause facts_verdict(const char *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The verdict, with this group to blame; NULL: nobody. */
struct cause facts_blame(struct cause cause, const struct usage_group *culprit);

/* ---- sums ---- */

/* Bytes read and written. */
uint64_t facts_moved_bytes(const struct usage_sums *sums);
/* How much of the resource was used: CPU time in ns, bytes moved, or bytes of memory. */
uint64_t facts_consumed(const struct usage_sums *sums, enum psi_resource resource);
/* Time that threads waited for the resource. */
uint64_t facts_waited(const struct usage_sums *sums, enum psi_resource resource);
/* Of the time that they would have run. */
double facts_waited_percent(uint64_t queued_ns, uint64_t ran_ns);

/* ---- statistics of the kernel ---- */

/* 0 for a statistic that shrank, or that did not exist at both times. */
uint64_t facts_growth(const struct kernel_stat *stat);
/* The summed growth of the statistics with this prefix; with `scope` 0, of the cgroup that fired. */
uint64_t facts_grown(const struct facts *facts, int scope, const char *source, const char *name);
/* The statistic that has grown most, in any cgroup; NULL where none has grown. */
const struct kernel_stat *facts_most_grown(const struct facts *facts, const char *source, const char *name);
/* A limit of the cgroup at `scope`; 0: none, or not known. */
uint64_t facts_limit(const struct facts *facts, int scope, const char *source, const char *name);
/* Whether there is any statistic of this source. */
bool facts_has_stat(const struct facts *facts, const char *source);
/* Of the statistics: from the trigger on. */
uint64_t facts_span_ns(const struct facts *facts);
/* Arguments for "%.*s": the path of the cgroup that a statistic belongs to. */
#define FACTS_SCOPE(facts, stat)                                                                             \
	kernel_stat_scope_length(stat, (facts)->capture->trigger.cgroup), (facts)->capture->trigger.cgroup

/* ---- words ---- */

#define FACTS_VICTIMS_BYTES (FACTS_GROUP_BYTES + 64U)
#define FACTS_HOTTEST_BYTES (CAUSE_FUNCTION_BYTES + 64U) /* of the sentence's part */

/* ", mostly in burn_cpu (83 % of its samples)", or "" */
const char *facts_hottest_text(const struct facts *facts, const struct usage_group *group, char *into,
			       size_t into_bytes);
/* "nginx ×4 in nginx.service", or with several programs "the targets, most of all nginx ×4 in nginx.service," */
const char *facts_victims_text(const struct facts *facts, char *into, size_t into_bytes);
/* "its" or "their" */
const char *facts_whose_time(const struct facts *facts);

static inline double facts_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static inline double facts_mebibytes(uint64_t bytes)
{
	return (double)bytes / (double)FACTS_MEBIBYTE;
}

/* Of what is in `all`, that which is not in `part`. */
static inline uint64_t facts_without(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

#endif
