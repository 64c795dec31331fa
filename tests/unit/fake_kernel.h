/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fake_kernel.h owns what stands in for the kernel behind a struct kernel_objects: its maps, ring buffers and iterators.
 * build/unit is linked so that libbpf's functions come here first (mk/tests.mk); for any other descriptor than those of a fake
 * kernel they are libbpf's own. There is one fake kernel at a time.
 */
#ifndef BOURDON_UNIT_FAKE_KERNEL_H
#define BOURDON_UNIT_FAKE_KERNEL_H

#include "consumer/process/kernel_objects.h"

#include <stdbool.h>
#include <stdio.h>

struct fake_kernel {
	struct kernel_objects objects;
	struct fake_map *maps; /* PIN_MAPS of them */
	/* Writes what the programs of the iterator write. It may be called by any thread. */
	void (*iterate)(void *user, enum pin_iterator iterator, FILE *out);
	void *user;
};

/* With so many CPUs, rings of so many slots, and empty maps. */
void fake_kernel_make(struct fake_kernel *kernel, uint32_t cpus, uint32_t slots_per_cpu);
void fake_kernel_free(struct fake_kernel *kernel);

/* Sets an element, as a program does. */
void fake_kernel_put(struct fake_kernel *kernel, enum pin_map map, const void *key, const void *value);

/* Looks an element up; false if there is none. In a trie it is the longest prefix of the key. */
bool fake_kernel_get(struct fake_kernel *kernel, enum pin_map map, const void *key, void *ret_value);

/* The number of elements. */
uint32_t fake_kernel_count(const struct fake_kernel *kernel, enum pin_map map);

/* Adds to the counter, on one CPU. */
void fake_kernel_add_count(struct fake_kernel *kernel, uint32_t counter, uint64_t more);

/* Puts a record into a ring buffer. `rest` is behind it; NULL: nothing. */
void fake_kernel_tell(struct fake_kernel *kernel, enum pin_map ring, const void *record, size_t bytes,
		      const char *rest);

/* Adds it to the events of this metric, of its epoch. */
void fake_kernel_add_tally(struct fake_kernel *kernel, uint32_t metric, const struct histogram_tally *more);

/* So many events of this metric took so long, at this time, of this owner: the programs count them if the group is on. */
void fake_kernel_measure(struct fake_kernel *kernel, uint64_t now_ns, uint32_t metric, uint64_t owner,
			 uint64_t ns, uint64_t count);

#endif
