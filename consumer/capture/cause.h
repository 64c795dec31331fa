/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cause.h owns the verdict on a capture: why the resource that fired was short, with the numbers that show
 * it. docs/SCHEMA.md lists the rules. Where the numbers do not decide, the verdict is "undetermined".
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAUSE_H
#define BOURDON_CONSUMER_CAPTURE_CAUSE_H

#include "consumer/capture/capture.h"
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
#define CAUSE_NEGLIGIBLE "negligible"
#define CAUSE_UNDETERMINED "undetermined"

struct cause {
	const char *verdict;
	struct onset onset;
	char because[768]; /* names of processes and cgroups in it are not escaped */
};

/* Bytes of a function's name in `because`. */
#define CAUSE_FUNCTION_BYTES 64

/*
 * Writes the function in which the group's samples on CPU ended most often, with its share, or returns false where that
 * is not known.
 */
typedef bool (*cause_hottest)(void *user, const struct usage_group *group, char *into, size_t into_bytes);

/* Judges a capture that has ended. NULL for `hottest`: no function is named. */
struct cause cause_find(const struct capture *capture, cause_hottest hottest, void *user);

#endif
