/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.h owns the in-kernel programs from their object file to their pins: it sizes them for this
 * machine, passes them through the verifier, and attaches them.
 */
#ifndef BOURDON_LOADER_PROGRAMS_H
#define BOURDON_LOADER_PROGRAMS_H

#include "common/policy/policy.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct programs_settings {
	unsigned int hz;       /* on-CPU samples per second and CPU */
	uint64_t ring_bytes;   /* per CPU */
	uint64_t unwind_bytes; /* of all unwind tables; 0: no tables */
	unsigned int targets;
	uint64_t quiet_after_ns;
	uint32_t probes; /* groups of latencies that can be measured: a bit for each LATENCY_* */
	struct policy policy;
};

struct programs {
	struct bourdon_bpf *bpf;
	unsigned int *cpus; /* online, ascending */
	size_t cpus_count;
	uint32_t rings; /* CPUs from this number on have no ring */
	uint32_t slots_per_cpu;
	bool walks_mappings; /* the kernel can walk the mappings of one process */
};

/*
 * Sizes the programs for this machine, and chooses those that its kernel has a use for; the verifier has not seen them
 * yet. Logs what failed. 0 or -errno; the caller calls programs_close() in either case.
 */
int programs_open(struct programs *programs, const struct programs_settings *settings);

/*
 * Opens and loads the programs, and stamps the ABI into `control`. Logs what failed, after the verifier's log. 0 or
 * -errno; the caller calls programs_close() in either case.
 */
int programs_load(struct programs *programs, const struct programs_settings *settings);

/* The iterator over mappings that this kernel can run. */
struct bpf_program *programs_mappings(const struct programs *programs);

/* Detaches what is attached and not pinned, and unloads the programs. */
void programs_close(struct programs *programs);

/*
 * Attaches all tracepoints, and the clock to every CPU. Passes each link with its name to `add`, which then
 * owns it. Logs what failed. 0, -errno, or what `add` returned.
 */
typedef int programs_link_add(void *user, const char *name, struct bpf_link *link);
int programs_attach(const struct programs *programs, unsigned int hz, programs_link_add *add, void *user);

#endif
