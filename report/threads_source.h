/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads_source.h reads the iterator `threads`, again and again, without any privilege but that to read this one file.
 */
#ifndef BOURDON_REPORT_THREADS_SOURCE_H
#define BOURDON_REPORT_THREADS_SOURCE_H

#include "report/threads_text.h"

#include <errno.h>
#include <stdbool.h>

struct threads_source {
	char *path;  /* of the pin */
	int held;    /* the pin itself (O_PATH), from which it can be opened again where its path cannot be */
	int stacks;  /* the same of the pin `stacks` beside it; negative: there is none */
	bool failed; /* the last look failed */
};

#define THREADS_SOURCE_NONE                                                                                  \
	{                                                                                                    \
		.held = -EBADF, .stacks = -EBADF                                                             \
	}

/*
 * Finds the pin for readers below the run directory, or else, for those who may, the one that the manifest names. Root then
 * becomes nobody, in the group that may read the pin. 0; or -errno, and the reason was logged.
 */
int threads_source_open(const char *run_dir, struct threads_source *ret_source);

/* Looks at all threads but those of this process, once. After another load it finds the new pin. 0 or -errno. */
int threads_source_look(struct threads_source *source, struct thread_lines *ret_lines);

/* Logs why a look failed: not while ncurses has the terminal. */
void threads_source_explain(const struct threads_source *source, int error);

/*
 * The kernel stack of a thread: functions, innermost first, with ';' between; "-" if it has none now, or root's policy shows
 * none. The caller frees it. NULL if it is not known, or the thread has ended.
 */
char *threads_source_stack(const struct threads_source *source, const char *tid);

void threads_source_close(struct threads_source *source);

#define _cleanup_threads_source_ _cleanup_(threads_source_close)

#endif
