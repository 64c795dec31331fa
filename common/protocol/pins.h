/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pins.h lists all pinned objects: the loader creates them from this table, and the consumer checks them by it.
 * Room: what the programs say to each other. Each calls its half, which checks what comes in.
 */
#ifndef BOURDON_COMMON_PROTOCOL_PINS_H
#define BOURDON_COMMON_PROTOCOL_PINS_H

#include <linux/bpf.h>
#include <sys/types.h>

#define PIN_DIRECTORY_DEFAULT "/sys/fs/bpf/bourdon"
#define DAEMON_USER "bourdon"
/* Of the daemon alone: who may open the pins may write what the programs read. */
#define PINS_GROUP "bourdon-pins"
#define RUN_DIRECTORY_DEFAULT "/run/bourdon"
/* Below the run directory: a BPF file system with second pins of `threads` and `stacks`, for readers who can open no other one */
#define READERS_DIRECTORY "bpf"
#define READERS_GROUP "bourdon-read"
#define PIN_LOADING "_loading" /* at the end of a name: not yet in place; bpffs refuses dots */

/* Files that the loader writes to the run directory. */
#define MANIFEST_FILE "manifest"
#define KERNEL_SYMBOLS_FILE "kernel-symbols"

enum pin_map {
	PIN_POLICY,
	PIN_PATTERNS_A,
	PIN_PATTERNS_B,
	PIN_TARGETS,
	PIN_BYSTANDERS,
	PIN_ONCPU,
	PIN_OFFCPU,
	PIN_OFFCPU_OPEN,
	PIN_TOTALS,
	PIN_VICTIMS,
	PIN_BLAME,
	PIN_ENDED,
	PIN_INTERRUPTS,
	PIN_IRQ_NAMES,
	PIN_CLOCKS,
	PIN_ACTIVITY,
	PIN_UNWIND_PROCS,
	PIN_UNWIND_MAPS,
	PIN_UNWIND_PAGES,
	PIN_UNWIND_ROWS,
	PIN_UNWIND_RULES,
	PIN_UNWIND_HOTSPOT,
	PIN_WANTED,
	PIN_CONTROL,
	PIN_CGROUPS_KNOWN,
	PIN_CGROUP_PATHS,
	PIN_EVENTS,
	PIN_ERRORS,
	PIN_COUNTERS,
	PIN_HISTOGRAMS,
	PIN_HISTOGRAM_TALLIES,
	PIN_MAPS,
};

struct pin_map_spec {
	const char *name;
	enum bpf_map_type type;
	/*
	 * 0660: the consumer writes or maps it; mapping needs a read-write descriptor. 0440: the consumer
	 * only looks up.
	 */
	mode_t mode;
};

extern const struct pin_map_spec pin_maps[PIN_MAPS];

enum pin_iterator {
	PIN_TASKS,
	PIN_MAPPINGS,
	PIN_STATES,
	PIN_LOOKS,
	PIN_AWAY,
	PIN_PROGRAMS,
	PIN_REQUESTS, /* it yields nothing: it ends exchanges. Missing where LATENCY_REQUEST is not loaded */
	PIN_THREADS,  /* from here on: text, and pinned for readers, too */
	PIN_STACKS,
	PIN_ITERATORS,
};

/* read(2) yields binary records, or text; mode 0440. */
extern const char *const pin_iterators[PIN_ITERATORS];

/* The loader writes 1 to it when another load takes its place: bpf/maps.h. One __u32, for root alone. */
#define PIN_RETIRED "retired"

#define PIN_ITERATOR_MODE 0440
#define PIN_PRIVATE_MODE 0600 /* links and programs: a process with a writable link can detach it */
#define PIN_DIRECTORY_MODE 0750

#endif
