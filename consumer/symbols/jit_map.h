/* SPDX-License-Identifier: GPL-2.0-only */
/* jit_map.h finds a process's perf map: the names that a runtime writes for its JIT code. */
#ifndef BOURDON_CONSUMER_SYMBOLS_JIT_MAP_H
#define BOURDON_CONSUMER_SYMBOLS_JIT_MAP_H

#include "consumer/capture/capture.h"
#include "consumer/symbols/mapped_files.h"

#include <sys/stat.h>

/* The directory in which all runtimes write perf maps. */
#define JIT_MAP_DIRECTORY "/tmp"

/*
 * Opens DIRECTORY/perf-TGID.map, or through bourdon-grant the file of that name in the process's own mount
 * and pid namespaces. Accepts only a trustworthy file: regular, owned by the process's user or root, writable
 * by no other user, at most PERF_MAP_BYTES_MAX long, and written since the process began. Returns the
 * descriptor and sets *ret_at, or returns -errno. Requests to bourdon-grant end at `deadline_ns`
 * (CLOCK_MONOTONIC).
 */
int jit_map_open(const char *directory, struct mapped_files *files, const struct capture_process *process,
		 uint64_t deadline_ns, struct stat *ret_at);

#endif
