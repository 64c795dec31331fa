/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * held_files.h holds files open that could not be opened again: those that bourdon-grant has opened, which it does while a process
 * that maps them lives and is a target, and the youngest of the others, which may be deleted. Names are looked up when a capture
 * has ended, and the process perhaps with it. A file is held as long as mappings.h knows a mapping of it. For the worker thread only.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_HELD_FILES_H
#define BOURDON_CONSUMER_SYMBOLS_HELD_FILES_H

#include "consumer/symbols/mapping.h"

#define HELD_GRANTED 96U
#define HELD_OPENED 32U
#define HELD_MAX (HELD_GRANTED + HELD_OPENED) /* descriptors */

struct held_file {
	struct mapped_file *file; /* NULL: the place is free */
	int fd;
	uint64_t turn; /* the lowest was held first */
};

/* Starts as zeros. */
struct held_files {
	struct held_file held[HELD_MAX]; /* of bourdon-grant, then the others */
	uint64_t turns;
};

/* Returns a descriptor of its own for the caller, who closes it; -ENOENT if the file is not held, or -errno. */
int held_files_open(const struct held_files *files, const struct mapped_file *file);

/*
 * Holds the file, unless it is held; its descriptor stays the caller's. The one held first goes for it, where there is no room; that of the same user,
 * if this is not root and has half of all. Without a descriptor it is not held.
 */
void held_files_add(struct held_files *files, struct mapped_file *file, int fd, bool is_granted);

/* Closes the files of which no mapping is known any more: after mappings_forget(). */
void held_files_sweep(struct held_files *files);

/* Closes all, before mappings_free(). */
void held_files_close(struct held_files *files);

#endif
