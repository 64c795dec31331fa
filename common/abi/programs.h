/* SPDX-License-Identifier: GPL-2.0-only */
/* abi/programs.h defines what the programs tell of themselves: a part of common/abi/abi.h. */
#ifndef BOURDON_ABI_PROGRAMS_H
#define BOURDON_ABI_PROGRAMS_H

#include "common/abi/base.h"

/* ---- what the kernel counts of the programs ---- */

#define OWN_PROGRAMS_MAX 64U

struct program_name {
	char text[32]; /* ends with a NUL */
};

/* Of all CPUs, since the load. Runs, and their time, count only while the kernel's statistics of BPF programs are on. */
struct program_cost {
	struct record_header header;
	__u32 reserved;
	struct program_name name;
	__u64 runs;
	__u64 run_ns;
	__u64 missed; /* runs that the kernel left out, because the program ran on that CPU already: counted always */
};

ABI_SIZE(program_cost, 64);
ABI_CHECK(program_cost, name, 8);
ABI_CHECK(program_cost, runs, 40);

#endif
