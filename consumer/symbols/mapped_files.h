/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapped_files.h owns opening the files that processes run: by their path where that leads to what is mapped,
 * else through bourdon-grant, because a file may have been deleted or replaced since, may lie in another
 * mount namespace, or below a directory that is not ours to enter. It may wait: for the store thread only.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPED_FILES_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPED_FILES_H

#include "consumer/process/own_counters.h"
#include "consumer/symbols/mappings.h"

#include <sys/stat.h>

/* The two pointers come from the caller; the rest begins with zeros. */
struct mapped_files {
	const char *grant_socket;          /* not copied; NULL: nobody is asked */
	struct own_counters *own_counters; /* what is asked is counted here */
	uint64_t pause_until_ns;           /* CLOCK_MONOTONIC: nobody answered as it should */
	bool absent;
	bool asked; /* whether the last file that was opened, or was not, took a call */
};

/*
 * Opens the file for reading only if it is the one that is mapped: a path may lead to a newer version, or in
 * a container to another file altogether. Calls to bourdon-grant end at `deadline_ns` (CLOCK_MONOTONIC).
 * Returns the descriptor, which the caller closes, with *ret_at, or -errno.
 */
int mapped_files_open(struct mapped_files *files, const struct mappings *mappings, struct mapped_file *file,
		      uint64_t deadline_ns, struct stat *ret_at);

/*
 * Asks bourdon-grant for the perf map of a process. Whose it is, and whether it can be believed, is the
 * caller's to check. Deadline and result as above.
 */
int mapped_files_ask_perf_map(struct mapped_files *files, uint32_t tgid, uint64_t started_ns,
			      uint64_t deadline_ns);

#endif
