/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_objects.h owns the descriptors and mappings of the pinned maps and iterators. They are opened and
 * checked once, before confinement, and held until the process ends.
 */
#ifndef BOURDON_CONSUMER_PROCESS_KERNEL_OBJECTS_H
#define BOURDON_CONSUMER_PROCESS_KERNEL_OBJECTS_H

#include "common/abi/abi.h"
#include "common/policy/policy.h"
#include "common/protocol/manifest.h"
#include "common/protocol/pins.h"

/* Of an element; 0: a ring buffer. */
struct map_bytes {
	__u32 key, value;
};

extern const struct map_bytes map_bytes[PIN_MAPS];

struct kernel_objects {
	/*
	 * of the pin directory, from which iterators are opened; it stays valid when the directory is
	 * replaced
	 */
	int directory_fd;
	int lock_fd; /* holds the lock on the directory: one consumer at a time */
	int map_fds[PIN_MAPS];
	struct control *control;              /* mapped, shared with the programs */
	const struct sample *slots;           /* mapped; slot i of CPU c is slots[c * slots_per_cpu + i] */
	const struct sample *offcpu_slots;    /* mapped; the same layout, of intervals off CPU */
	size_t slots_bytes;                   /* of each of the two mappings */
	const struct activity_slot *activity; /* mapped; ACTIVITY_SLOTS of them */
	int symbols_fd;                       /* the kernel symbol snapshot */
	struct manifest manifest;
	struct policy policy; /* root's policy, as the kernel programs enforce it */
};

/*
 * Opens all pins and checks the kind, the key and value sizes and the ABI of each map against this binary.
 * Logs the first mismatch. 0 or -errno; on failure nothing stays open.
 */
int kernel_objects_open(struct kernel_objects *ret_kernel, const char *pin_dir, const char *run_dir);

/*
 * Maps `control`, the rings and `activity`. Logs what failed. 0 or -errno; the caller calls kernel_objects_close() in
 * either case.
 */
int kernel_objects_map(struct kernel_objects *kernel);
void kernel_objects_close(struct kernel_objects *kernel);

/* Opens an iterator for one pass: read(2) runs its program to the end. Returns the descriptor or -errno. */
int kernel_objects_open_iterator(const struct kernel_objects *kernel, enum pin_iterator iterator);

#endif
