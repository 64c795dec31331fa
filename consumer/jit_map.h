/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jit_map.h owns finding what a runtime wrote about the code that it makes: the perf map of a process.
 */
#ifndef BOURDON_CONSUMER_JIT_MAP_H
#define BOURDON_CONSUMER_JIT_MAP_H

#include "consumer/capture.h"

#include <sys/stat.h>

/* Where runtimes put them, all of them: nobody asks them to. */
#define JIT_MAP_DIRECTORY "/tmp"

/*
 * Opens DIRECTORY/perf-TGID.map if it can be believed: a regular file of the process's user or of root, not
 * larger than is read (PERF_MAP_BYTES_MAX), that was written since the process began. Returns the descriptor,
 * and what it is in *ret_at, or -errno. The file of a process that has another /tmp, or that knows itself
 * under another id, is not found here.
 */
int jit_map_open(const char *directory, const struct capture_process *process, struct stat *ret_at);

#endif
