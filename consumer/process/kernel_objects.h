/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_objects.h owns the consumer's end of the pins: opened and checked once, before confinement, and held until
 * the process ends.
 */
#ifndef BOURDON_CONSUMER_PROCESS_KERNEL_OBJECTS_H
#define BOURDON_CONSUMER_PROCESS_KERNEL_OBJECTS_H

#include "common/abi.h"
#include "common/manifest.h"
#include "common/pins.h"
#include "common/policy.h"

struct kernel_objects {
	int directory_fd; /* iterators are opened below it; it outlives a replacement */
	int lock_fd;      /* of the directory: one consumer at a time */
	int map_fds[PIN_MAPS];
	struct control *control;           /* mapped, shared with the programs */
	const struct sample *slots;        /* mapped; slot i of CPU c is slots[c * slots_per_cpu + i] */
	const struct sample *offcpu_slots; /* likewise */
	size_t slots_bytes;                /* of either */
	int symbols_fd;                    /* the kernel symbol snapshot */
	struct manifest manifest;
	struct policy policy; /* what root allows: as it is checked in the kernel */
};

/*
 * Opens everything and checks kind, key and value size and ABI of each map against what this binary was
 * built for. Logs the one thing that is wrong. 0 or -errno; nothing stays open on failure.
 */
int kernel_objects_open(struct kernel_objects *ret_kernel, const char *pin_dir, const char *run_dir);

/* Maps `control` and the rings. Logs what failed; 0 or -errno, and kernel_objects_close() takes all of it away. */
int kernel_objects_map(struct kernel_objects *kernel);
void kernel_objects_close(struct kernel_objects *kernel);

/* Opens an iterator for one walk: read(2) runs it to its end. Returns the descriptor or -errno. */
int kernel_objects_open_iterator(const struct kernel_objects *kernel, enum pin_iterator iterator);

#endif
