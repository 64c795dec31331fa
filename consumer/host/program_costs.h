/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program_costs.h reads what the kernel counts of the in-kernel programs (bpf/costs.bpf.c). It counts runs and their time only
 * while its statistics of BPF programs are on: kernel.bpf_stats_enabled, or a process that holds BPF_ENABLE_STATS.
 */
#ifndef BOURDON_CONSUMER_HOST_PROGRAM_COSTS_H
#define BOURDON_CONSUMER_HOST_PROGRAM_COSTS_H

#include "common/abi/abi.h"
#include "consumer/process/kernel_objects.h"

#include <stdbool.h>
#include <stdint.h>

struct program_costs {
	struct program_cost each[OWN_PROGRAMS_MAX];
	uint32_t count;
	bool are_counted; /* the statistics are on; else `runs` and `run_ns` say nothing */
};

/* 0 or -errno; then there are none. */
int program_costs_read(struct program_costs *ret_costs, const struct kernel_objects *kernel);

/* The sum of what the kernel left out, of all programs. */
uint64_t program_costs_missed(const struct program_costs *costs);

/* Adds whole records; returns their bytes, or -EBADMSG. For program_costs_read(), and tests. */
long program_costs_add(struct program_costs *costs, const char *records, size_t bytes);

#endif
