/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jit_map.h owns finding what a runtime wrote about the code that it makes: the perf map of a process.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_JIT_MAP_H
#define BOURDON_CONSUMER_SYMBOLS_JIT_MAP_H

#include "consumer/capture/capture.h"
#include "consumer/symbols/mapped_files.h"

#include <sys/stat.h>

/* Where runtimes put them, all of them: nobody asks them to. */
#define JIT_MAP_DIRECTORY "/tmp"

/*
 * Opens DIRECTORY/perf-TGID.map, or through bourdon-grant what the process calls so in its own mount and pid
 * namespaces, if it can be believed: a regular file of the process's user or of root, which nobody else may
 * write, not larger than is read (PERF_MAP_BYTES_MAX), and written since the process began. Returns the
 * descriptor, and what it is in *ret_at, or -errno. Calls to bourdon-grant end at `deadline_ns`
 * (CLOCK_MONOTONIC).
 */
int jit_map_open(const char *directory, struct mapped_files *files, const struct capture_process *process,
		 uint64_t deadline_ns, struct stat *ret_at);

#endif
