/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_memory.h owns what the memory controller of cgroup v2 says of a capture's span: memory, page cache, refaults and
 * reclaim of the cgroups whose processes hold, read or write most, and of the whole host; and what its I/O controller says of
 * these, because only it tells who dirtied the pages that kernel threads write. Where the memory controller is that of version
 * 1, nothing is read.
 *
 * A user may have made any number of cgroups. So only those of processes are read, that many, and for that long.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CGROUP_MEMORY_H
#define BOURDON_CONSUMER_CAPTURE_CGROUP_MEMORY_H

#include "consumer/host/usage.h"

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_MEMORY_MAX 65U /* with the root */

/* Bytes; -1: not known. */
struct cgroup_memory_counts {
	int64_t current; /* memory.current; the root has none */
	int64_t anon, file;
	int64_t refaulted, scanned, reclaimed; /* running sums */
	/* running sums of io.stat over all block devices; kernel documentation, cgroup-v2.rst, "Writeback" */
	int64_t device_read, device_written;
};

struct cgroup_memory_row {
	char *cgroup; /* path. The memory controller may be on for one above that of the processes only */
	struct cgroup_memory_counts before, after; /* before: not known where it was not read at the begin */
	bool was_read;                             /* since the begin */
	uint64_t cgroup_id;                        /* another cgroup may be made in its place */
};

/* Begins as zeros. */
struct cgroup_memory {
	struct cgroup_memory_row *rows; /* the root first */
	uint32_t count;
	uint32_t next;           /* of cgroup_memory_look() */
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
};

/* The path of a cgroup, or NULL where it is not known. Valid until the next call. */
typedef const char *(*cgroup_memory_path)(void *user, uint64_t cgroup_id);

/* `mount` is that of cgroup2. Without memory, and where a file is missing, cgroups are left out. */
void cgroup_memory_begin(struct cgroup_memory *memory, const char *mount, const struct usage *usage,
			 cgroup_memory_path path, void *user, uint64_t now_ns);

/* Reads again what may be removed before the end, and begins where the last call had no more time: it takes 2 ms of CPU time. */
void cgroup_memory_look(struct cgroup_memory *memory, const char *mount);

/* Reads all again, and cgroups that have come up since. Removes those that were gone before they were read again. */
void cgroup_memory_end(struct cgroup_memory *memory, const char *mount, const struct usage *usage,
		       cgroup_memory_path path, void *user, uint64_t now_ns);

void cgroup_memory_free(struct cgroup_memory *memory);

#endif
