/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pins.h owns the table of what is pinned: the loader makes pins from it, the consumer checks them by it.
 */
#ifndef BOURDON_PINS_H
#define BOURDON_PINS_H

#include <linux/bpf.h>
#include <stddef.h>
#include <sys/types.h>

#define PIN_DIRECTORY_DEFAULT "/sys/fs/bpf/bourdon"
#define RUN_DIRECTORY_DEFAULT "/run/bourdon"

/* Files of the loader in the run directory. */
#define MANIFEST_FILE "manifest"
#define KERNEL_SYMBOLS_FILE "kernel-symbols"

enum pin_map {
	PIN_POLICY,
	PIN_PATTERNS_A,
	PIN_PATTERNS_B,
	PIN_TARGETS,
	PIN_ONCPU,
	PIN_OFFCPU,
	PIN_OFFCPU_OPEN,
	PIN_TOTALS,
	PIN_CLOCKS,
	PIN_UNWIND_PROCS,
	PIN_UNWIND_MAPS,
	PIN_UNWIND_PAGES,
	PIN_UNWIND_ROWS,
	PIN_UNWIND_RULES,
	PIN_CONTROL,
	PIN_EVENTS,
	PIN_ERRORS,
	PIN_COUNTERS,
	PIN_MAPS,
};

struct pin_map_spec {
	const char *name;
	enum bpf_map_type type;
	__u32 key_bytes;
	__u32 value_bytes;
	/*
	 * 0660: written by the consumer, or mapped by it, which needs a read-write descriptor. 0440: looked
	 * up.
	 */
	mode_t mode;
};

extern const struct pin_map_spec pin_maps[PIN_MAPS];

enum pin_iterator {
	PIN_TASKS,
	PIN_MAPPINGS,
	PIN_ITERATORS,
};

/* Binary records by read(2); mode 0440. */
extern const char *const pin_iterators[PIN_ITERATORS];

#define PIN_ITERATOR_MODE 0440
#define PIN_PRIVATE_MODE 0600 /* links and programs: who holds a link read-write may detach it */
#define PIN_DIRECTORY_MODE 0750

#endif
