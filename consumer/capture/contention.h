/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * contention.h tells who ran on the CPUs that the targets used or waited for. A process that ran elsewhere took nothing from
 * targets that are bound to some CPUs. It goes by the samples' CPUs: a share, not a time.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CONTENTION_H
#define BOURDON_CONSUMER_CAPTURE_CONTENTION_H

#include "consumer/capture/capture.h"
#include "consumer/capture/usage_groups.h"

struct contention_samples {
	uint64_t all;           /* on CPU */
	uint32_t placed, there; /* of these, on a CPU that is known; on the targets' CPUs */
};

/* Begins as zeros: nothing is known. */
struct contention {
	const struct capture *capture;
	struct contention_samples *of_processes; /* by position in the capture; NULL: nothing is known */
};

/* Refers to the capture. Without memory, and with few samples of targets, nothing is known. */
struct contention contention_find(const struct capture *capture);
void contention_free(struct contention *contention);

/*
 * Of the CPU time of a group, the part on the targets' CPUs: 0 to 1; 1 where that is not known. The span of CPU times may begin
 * long before the capture: of what a group used then, it has no samples.
 */
double contention_share(const struct contention *contention, const struct usage_group *group);

#endif
