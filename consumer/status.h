/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status.h owns the status that the daemon sends over the control socket (common/protocol/status_line.h): what is in
 * force, its watches, its counters, and each problem with its remedy.
 */
#ifndef BOURDON_CONSUMER_STATUS_H
#define BOURDON_CONSUMER_STATUS_H

#include "consumer/confine.h"
#include "consumer/host/cgroups.h"
#include "consumer/host/program_costs.h"
#include "consumer/host/targets.h"
#include "consumer/measuring.h"
#include "consumer/process/kernel_objects.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/own_usage.h"
#include "consumer/recorder.h"
#include "consumer/reload.h"
#include "consumer/unwind/unwind_tables.h"
#include "consumer/watch/watches.h"

#include <stdio.h>

struct status {
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	const struct confinement *confinement;
	const struct targets *targets;
	struct cgroups_gauges cgroups;
	const struct watches *watches;
	const struct recorder *recorder;
	const struct measuring *latencies;
	const struct reload *reload;
	const struct unwind_gauges *unwind;
	const struct own_usage *own_usage;
	const char *unsampled_cpus;
	uint64_t started_ns, now_ns; /* CLOCK_MONOTONIC */
};

/* Writes the whole status, except that it shows only the first WATCHES_SHOWN watches. */
#define WATCHES_SHOWN 1000
#define MISTAKES_SHOWN 8
#define RULES_SHOWN 8 /* that do not watch all cgroups of their targets */
void status_write(const struct status *status, FILE *out);

/*
 * Writes the part of it that tells which files have no unwind table, and why. `now_ns` is of CLOCK_MONOTONIC. Where the list has
 * no room for all of them, a line has the number of the others.
 */
void status_write_tables(const struct unwind_gauges *unwind, uint64_t now_ns, FILE *out);

/* Writes the part of it that tells what the kernel counts of the in-kernel programs. */
void status_write_programs(const struct program_costs *costs, FILE *out);

#endif
