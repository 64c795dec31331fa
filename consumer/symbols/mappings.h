/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mappings.h owns what the addresses of target processes belong to: the executable mappings that the
 * iterator has shown, kept a while after the process is gone, because history may need them.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPINGS_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPINGS_H

#include "common/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapped file, shared by all mappings of it. */
struct mapped_file {
	uint64_t inode;
	uint32_t device_major, device_minor;
	uint32_t users;
	char *path; /* as the kernel writes it: " (deleted)" may be at its end; "" where it could not be had
		     */
	uint64_t refused_ns; /* mapped_files.c: bourdon-grant does not open it for processes that began until
				then */
};

struct mapping {
	uint64_t begins, ends, file_offset;
	uint32_t flags;           /* MAPPING_* */
	unsigned int since, scan; /* the first, and the last, that showed it */
	struct mapped_file *file; /* NULL: anonymous, or the vDSO */
};

/* A process, with all that it was seen to have mapped. */
struct mapped_process {
	uint32_t tgid;
	uint64_t started_ns;
	unsigned int scan;        /* the last that showed it */
	struct mapping *mappings; /* ascending, without overlap; those of an earlier scan may be gone */
	uint32_t count, room;
};

struct mappings;

/* The caller frees. NULL without memory. */
struct mappings *mappings_new(void);
void mappings_free(struct mappings *mappings);

/*
 * Begins a walk over all processes, whose records mappings_add_records() is then given: what they show takes the
 * place of what was known at the same addresses; what they do not show any more stays.
 */
void mappings_begin_walk(struct mappings *mappings);

/* It did not come to its end, and does not count: what it has not shown may be there all the same. */
void mappings_abandon_walk(struct mappings *mappings);

/* Takes records, as many as are whole. Returns the bytes taken, or -EBADMSG for one that cannot be. */
long mappings_add_records(struct mappings *mappings, const char *records, size_t bytes);

/* Forgets processes that the last `scans` reads have not shown. */
void mappings_forget(struct mappings *mappings, unsigned int scans);

/* What the address belongs to, or NULL. Valid until the next read. */
const struct mapping *mappings_find(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
				    uint64_t address);

struct mapping_user {
	uint32_t tgid;
	uint64_t started_ns;
	uint64_t begins; /* where it maps the file */
};

/*
 * Of the processes that the last read has shown and that began before `before_ns`, the youngest that maps the
 * file. False: none does.
 */
bool mappings_find_user(const struct mappings *mappings, const struct mapped_file *file, uint64_t before_ns,
			struct mapping_user *ret_user);

/* The process at a position, from 0 on; NULL behind the last. Valid until the next read. */
const struct mapped_process *mappings_process(const struct mappings *mappings, uint32_t position);

/* The number of the last read: of a process that is there, and of what it has mapped. */
unsigned int mappings_scan(const struct mappings *mappings);

/* Mappings and processes that did not fit so far. */
uint64_t mappings_dropped(const struct mappings *mappings);

/* The path of the process's executable, or NULL. */
const char *mappings_exe(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns);

#endif
