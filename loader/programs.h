/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.h owns the in-kernel programs between their object and their pins: sized for this machine, through
 * the verifier, attached.
 */
#ifndef BOURDON_LOADER_PROGRAMS_H
#define BOURDON_LOADER_PROGRAMS_H

#include "common/policy.h"

#include <bpf/libbpf.h>
#include <stddef.h>
#include <stdint.h>

struct programs_settings {
	unsigned int hz;       /* on-CPU samples a second and CPU */
	uint64_t ring_bytes;   /* a CPU */
	uint64_t unwind_bytes; /* of all tables; 0: there are none */
	unsigned int targets;
	uint64_t quiet_after_ns;
	struct policy policy;
};

struct programs {
	struct bourdon_bpf *bpf;
	unsigned int *cpus; /* online, ascending */
	size_t cpus_count;
	uint32_t rings; /* CPUs from this number on have none */
	uint32_t slots_per_cpu;
};

/*
 * Loads them, with the ABI stamped into `control`. Logs what failed, the verifier's log before it. 0 or
 * -errno; the caller ends with programs_close() in either case.
 */
int programs_load(struct programs *programs, const struct programs_settings *settings);

/* Detaches what is attached and not pinned, and unloads. */
void programs_close(struct programs *programs);

/*
 * Attaches everything that observes: the tracepoints, and the clock to every CPU. Each link goes to `take`
 * with its name, and is its to destroy from then on. Logs what failed. 0, -errno, or what `take` returned.
 */
typedef int programs_link_add(void *user, const char *name, struct bpf_link *link);
int programs_attach(const struct programs *programs, unsigned int hz, programs_link_add *take, void *user);

#endif
