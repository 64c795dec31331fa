/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * coverage.h owns the list of CPUs that are online and not sampled: those that came online after the load,
 * and those that went offline and came back (bpf/cpus.bpf.c). Only a new load gives them a clock.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_COVERAGE_H
#define BOURDON_CONSUMER_CAPTURE_COVERAGE_H

#include "consumer/process/kernel_objects.h"

#include <stdbool.h>

struct coverage;

/* Before confinement: keeps the kernel's list of online CPUs open. 0 or -errno. */
int coverage_open(struct coverage **ret_coverage, const struct kernel_objects *kernel);
void coverage_free(struct coverage *coverage);

/*
 * Checks again, with two system calls. Returns the number of CPUs that are online and not sampled.
 * *ret_changed says whether the set differs from the last check.
 */
unsigned int coverage_look(struct coverage *coverage, bool *ret_changed);

/* The CPUs that are not sampled, as a list: "1,4-7". */
const char *coverage_text(const struct coverage *coverage);

#endif
