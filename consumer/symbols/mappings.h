/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mappings.h records the executable mappings of target processes, to find the file that an address belongs
 * to. Mappings are kept for a while after the process has ended, because the history of a capture may need
 * them.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPINGS_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPINGS_H

#include "common/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One process that maps a file. */
struct mapping_user {
	uint32_t tgid;
	uint64_t started_ns;
	uint64_t begins; /* address of the file's mapping */
};

/* A mapped file, shared by all its mappings. */
struct mapped_file {
	uint64_t inode;
	uint32_t device_major, device_minor;
	uint32_t users;
	char *path; /* as the kernel writes it, possibly ending in " (deleted)"; "" if unknown */
	/* mapped_files.c: bourdon-grant refuses the file for processes started until then */
	uint64_t refused_ns;
	bool is_put_off; /* mapped_files.c: the request for it has to wait, which was counted */
	/* the youngest process that a scan has shown, and that scan's number */
	struct mapping_user youngest;
	unsigned int youngest_scan;
};

struct mapping {
	uint64_t begins, ends, file_offset;
	uint32_t flags;           /* MAPPING_* */
	unsigned int since, scan; /* the first and the last scan that showed it */
	struct mapped_file *file; /* NULL: anonymous, or the vDSO */
};

/* A process with all mappings it was seen to have. */
struct mapped_process {
	uint32_t tgid;
	uint64_t started_ns;
	unsigned int scan; /* last scan that showed it */
	/* ascending, not overlapping; those of an earlier scan may no longer exist */
	struct mapping *mappings;
	uint32_t count, room;
};

struct mappings;

/* Returns NULL if out of memory. The caller frees. */
struct mappings *mappings_new(void);
void mappings_free(struct mappings *mappings);

/*
 * Begins a scan of all processes; pass its records to mappings_add_records(). They replace what was known at
 * the same addresses. Mappings that the scan does not show are kept.
 */
void mappings_begin_scan(struct mappings *mappings);

/* Undoes mappings_begin_scan() for a scan that did not finish: what it did not show may still exist. */
void mappings_abandon_scan(struct mappings *mappings);

/* Adds all complete records. Returns the number of bytes consumed, or -EBADMSG for an invalid record. */
long mappings_add_records(struct mappings *mappings, const char *records, size_t bytes);

/* Forgets processes that the last `scans` scans did not show. */
void mappings_forget(struct mappings *mappings, unsigned int scans);

/* Returns the mapping of an address, or NULL. Valid until the next scan. */
const struct mapping *mappings_find(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
				    uint64_t address);

/*
 * Finds the youngest process that maps the file, among those shown by the last scan and started before
 * `before_ns`. Returns false if there is none. Looks at all mappings, except for the youngest of all (UINT64_MAX).
 */
bool mappings_find_user(const struct mappings *mappings, const struct mapped_file *file, uint64_t before_ns,
			struct mapping_user *ret_user);

/* Returns the process at a position, counted from 0, or NULL after the last. Valid until the next scan. */
const struct mapped_process *mappings_process(const struct mappings *mappings, uint32_t position);

/* Returns the number of the last scan: processes and mappings that exist carry it. */
unsigned int mappings_scan(const struct mappings *mappings);

/* Returns the number of mappings and processes dropped so far for lack of room. */
uint64_t mappings_dropped(const struct mappings *mappings);

/* Returns the path of the process's executable, or NULL. */
const char *mappings_exe(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns);

#endif
