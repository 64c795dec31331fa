/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mappings.h records the executable mappings of target processes, to find the file that an address belongs
 * to. Mappings are kept for a while after the process has ended, because the history of a capture may need
 * them.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPINGS_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPINGS_H

#include "consumer/symbols/mapped_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mappings;

/* Returns NULL if out of memory. The caller frees. */
struct mappings *mappings_new(void);
void mappings_free(struct mappings *mappings);

/*
 * Begins a slice of a scan, of processes with few mappings or with many (MAPPINGS_OF_*): of a new scan, or of
 * the one that mappings_pause_scan() left. Pass the records to mappings_add_records(). They replace what was
 * known at the same addresses. Returns the scan's number.
 */
uint32_t mappings_begin_scan(struct mappings *mappings, uint32_t of);

/*
 * At the end of the iterator. Returns true if some list is not complete: another pass over the iterator with
 * the same number goes on with it. Otherwise the scan has ended: processes that it did not show do not exist
 * any more, and neither do mappings missing in a list.
 */
bool mappings_end_pass(struct mappings *mappings);

/* Ends the scan although some lists are not complete. */
void mappings_end_scan(struct mappings *mappings);

/* Forgets that the scan began: what it did not show may still exist. */
void mappings_abandon_scan(struct mappings *mappings);

/* Adds all complete records. Returns the number of bytes consumed, or -EBADMSG for an invalid record. */
long mappings_add_records(struct mappings *mappings, const char *records, size_t bytes);

/* Call it from time to time, after a scan: it is what processes age by. */
void mappings_grow_older(struct mappings *mappings);

/* Forgets processes that were not shown since mappings_grow_older() was called `age` times. */
void mappings_forget(struct mappings *mappings, unsigned int age);

/* The memory of all mappings, files and their paths, in bytes. */
size_t mappings_bytes(const struct mappings *mappings);

/* How many mappings the last slice of a scan showed for the first time. */
uint32_t mappings_fresh(const struct mappings *mappings);

/* Returns the mapping of an address, or NULL. Valid until the next scan. */
const struct mapping *mappings_find(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
				    uint64_t address);

/*
 * Returns the process, if something of it was seen to be replaced by something else after `since_ns` (CLOCK_MONOTONIC): then
 * mappings_find() may be wrong of a sample since that time. Else NULL. Valid until the next scan.
 */
const struct mapped_process *mappings_changed(const struct mappings *mappings, uint32_t tgid,
					      uint64_t started_ns, uint64_t since_ns);

/*
 * Finds the youngest target that maps the file, among the FILE_USERS youngest that exist and those of them
 * that started before `before_ns`. Returns false if there is none.
 */
bool mappings_find_user(const struct mappings *mappings, const struct mapped_file *file, uint64_t before_ns,
			struct mapping_user *ret_user);

/* Returns the process at a position, counted from 0, or NULL after the last. Valid until the next scan. */
const struct mapped_process *mappings_process(const struct mappings *mappings, uint32_t position);

/* Returns the file at a position, counted from 0, or NULL after the last. Valid until the next scan. */
struct mapped_file *mappings_file(const struct mappings *mappings, uint32_t position);

/* Whether the process existed during the last scan. */
bool mappings_has(const struct mappings *mappings, const struct mapped_process *process);

/* Returns the number of the last slice. */
uint32_t mappings_slice(const struct mappings *mappings);

/* Returns the number of mappings and processes dropped so far for lack of room. */
uint64_t mappings_dropped(const struct mappings *mappings);

/* Processes with many mappings. */
struct mappings_many {
	uint32_t count;
	uint32_t unlisted;                    /* those of them that no complete list has shown yet */
	uint32_t cut;                         /* processes whose list is not whole */
	const struct mapped_process *largest; /* or NULL */
};

struct mappings_many mappings_many(const struct mappings *mappings);

/*
 * Returns a process that could not be listed, because it changed its mappings at that moment, in the pass that
 * ended last; or NULL.
 */
const struct mapped_process *mappings_busy(const struct mappings *mappings);

/* Whether only some of the process's executable mappings are known, because it has too many. */
bool mappings_is_cut(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns);

/* Returns the process with its mappings; NULL if it is not known, or it runs another program now. */
const struct mapped_process *mappings_of(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
					 uint32_t program);

/* Returns the path of the process's executable; NULL if it is not known, or it runs another program now. */
const char *mappings_exe(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
			 uint32_t program);

#endif
