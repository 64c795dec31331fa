/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads_source.h reads the iterator `threads`, again and again, without any privilege but that to read this one file.
 */
#ifndef BOURDON_REPORT_LIVE_THREADS_SOURCE_H
#define BOURDON_REPORT_LIVE_THREADS_SOURCE_H

#include "report/live/look_source.h"

#include <errno.h>
#include <stdbool.h>

struct threads_source {
	char *path; /* of the pin */
	int held;   /* the pin itself (O_PATH), from which it can be opened again where its path cannot be */
	int stacks; /* the same of the pin `stacks` beside it; negative: there is none */
	int ticks;  /* the clock of looks; negative: there is none yet */
	unsigned int hz, looks; /* in a second: all, and those that were */
};

#define THREADS_SOURCE_NONE                                                                                  \
	{                                                                                                    \
		.held = -EBADF, .stacks = -EBADF, .ticks = -EBADF                                            \
	}

/*
 * Finds the pin for readers below the run directory, or else, for those who may, the one that the manifest names. Root then
 * becomes nobody, in the group that may read the pin. 0; or -errno, and the reason was logged.
 */
int threads_source_open(const char *run_dir, struct threads_source *ret_source);

/*
 * Looks at all threads but those of this process, `hz` times a second from now on, and after another load at the new pin.
 * 0 or -errno; `source` outlives what it returns.
 */
int threads_source_begin(struct threads_source *source, unsigned int hz, struct look_source *ret_looks);

void threads_source_close(struct threads_source *source);

#define _cleanup_threads_source_ _cleanup_(threads_source_close)

#endif
