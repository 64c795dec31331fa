/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapped_files.h opens the files that processes have mapped: by path if it still leads to the mapped file,
 * otherwise through bourdon-grant. The path fails if the file was deleted or replaced, is in another mount
 * namespace, or is below a directory that the daemon may not enter. Requests to bourdon-grant are limited
 * (grant_shares.h). May block: only for the worker thread.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPED_FILES_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPED_FILES_H

#include "common/system/log.h"
#include "consumer/process/own_counters.h"
#include "consumer/symbols/grant_shares.h"
#include "consumer/symbols/held_files.h"
#include "consumer/symbols/mappings.h"

#include <sys/stat.h>

/* The caller sets the pointers; the rest starts as zeros. */
struct mapped_files {
	const char *grant_socket;          /* not copied; NULL: never ask bourdon-grant */
	struct own_counters *own_counters; /* counts the requests */
	struct held_files *held; /* NULL: no file is held; of the same mappings as those that are passed */
	uint64_t pause_until_ns; /* CLOCK_MONOTONIC: no requests before this, after a failure */
	uint64_t busy_pause_ns;  /* the last pause, because bourdon-grant was asked too often, or 0 */
	bool absent;
	bool asked; /* whether the last mapped_files_open() sent a request */
	struct grant_shares shares;
	struct log_limit deferred_limit, hung_limit;
};

/*
 * Opens the file for reading, or the one that is held, only if it is the mapped one: its path may lead to a newer version or, in a
 * container, to an unrelated file. Requests to bourdon-grant end at `deadline_ns` (CLOCK_MONOTONIC). Returns
 * the descriptor, which the caller closes, and sets *ret_at; or returns -errno: -EBUSY if the request has to
 * wait, so that the caller opens the file later.
 */
int mapped_files_open(struct mapped_files *files, const struct mappings *mappings, struct mapped_file *file,
		      uint64_t deadline_ns, struct stat *ret_at);

/*
 * Asks bourdon-grant for the perf map of a process. The caller checks owner and trustworthiness. Deadline and
 * result as for mapped_files_open().
 */
int mapped_files_ask_perf_map(struct mapped_files *files, const struct grant_target *target,
			      uint64_t deadline_ns);

/* Whether every request would have to wait now. */
bool mapped_files_must_wait(const struct mapped_files *files);

#endif
