/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapped_process.h owns the mappings that one process was seen to have, and what they replaced. mappings.h owns the processes, on the
 * worker thread.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPED_PROCESS_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPED_PROCESS_H

#include "consumer/symbols/mapping_history.h"
#include "consumer/symbols/mapping_room.h"

/* A process with all mappings it was seen to have. */
struct mapped_process {
	uint64_t started_ns;
	uint32_t tgid; /* up to here the key */
	uint32_t uid;
	uint32_t program; /* sample.program of what it ran when it was listed last */
	char comm[ABI_COMM_BYTES];
	uint32_t in_kernel; /* mappings of any kind that it has; 0: not known */
	bool is_bystander;  /* it is no target */
	bool is_cut;        /* it has more executable ones than are listed */
	uint32_t slice;     /* last slice that showed the process */
	unsigned int seen;  /* how old the mappings were when it was shown last: mappings_forget() */
	/* mappings with an earlier slice do not exist any more: the list that began with this one is complete */
	uint32_t listed;
	uint32_t exe_slice; /* the list in which the executable's mappings were found */
	/* of its address space (abi.h), when the last complete list was made; 0: not known, or it changed meanwhile */
	uint32_t epoch;
	uint32_t listing,
		listing_epoch;  /* the first slice of the list that was begun last, and its epoch, likewise */
	uint32_t changed_slice; /* when something of it was first replaced by something else; 0: never */
	uint64_t changed_ns;    /* when that was seen last; CLOCK_MONOTONIC */
	struct mapping_history *history; /* NULL: nothing was replaced, or too many processes have one */
	/* ascending, not overlapping */
	struct mapping *mappings;
	uint32_t count, room;
};

/* Frees what the process has, and drops its files. */
void mapped_process_free(struct mapped_process *process);

/* Whether it has more mappings of any kind than are listed of one process: scans list it apart. */
bool mapped_process_has_many(const struct mapped_process *process);

/* The mapping of an address, or NULL. */
const struct mapping *mapped_process_at(const struct mapped_process *process, uint64_t address);

/* The known mapping of the same file at the same addresses, or NULL. */
struct mapping *mapped_process_known(const struct mapped_process *process,
				     const struct mapping_record *record);

/*
 * Inserts a mapping that the scan `from` shows, and removes those it overlaps, which no longer exist. Returns false without memory
 * or room.
 */
bool mapped_process_insert(struct mapped_process *process, const struct mapping *mapping,
			   struct mapping_room *room, uint32_t from);

/* After an exec the old executable's mappings are still known, but no longer as the executable. */
void mapped_process_forget_exe(struct mapped_process *process, uint32_t from);

/* Whether the process had the mapping, which is one of its own, when its list was last complete. */
bool mapping_exists(const struct mapped_process *process, const struct mapping *mapping);

/* Whether something was replaced by what is mapped at the address (mappings_changed()). */
bool mapping_has_changed(const struct mapped_process *process, uint64_t address);

/* Returns the number of a scan that saw the process run that program, at that epoch; 0: none did, or the epoch is 0. */
uint32_t mapping_sighting(const struct mapped_process *process, uint32_t program, uint32_t epoch);

/* What that scan saw at the address, or NULL. Valid until the next scan. */
const struct mapping *mapping_seen_at(const struct mapped_process *process, uint64_t address,
				      uint32_t sighting);

#endif
