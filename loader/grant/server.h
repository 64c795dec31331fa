/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * server.h owns one connection of bourdon-grant: it opens a file that the consumer may not open, and passes the descriptor back. It
 * believes nothing that the consumer says but numbers. Once it knows what is asked for, it keeps these capabilities alone:
 *
 *     pressure    CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE; CAP_SYS_RESOURCE for a window that needs it
 *     elf         CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE
 *     perf-map    CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE
 * Room: bourdon-grant, a process a request, as root under a filter. main() calls it.
 */
#ifndef BOURDON_LOADER_GRANT_SERVER_H
#define BOURDON_LOADER_GRANT_SERVER_H

#include <stdint.h>
#include <sys/types.h>

/* Which files of targets bourdon-grant hands out (--files). */
enum grant_files { GRANT_FILES_NONE, GRANT_FILES_ELF, GRANT_FILES_ALL };

struct grant_settings {
	uid_t uid;            /* the consumer's user, who may ask besides root */
	const char *counters; /* file for grant_counters.h; NULL: nothing is counted or limited */
	const char *pin_dir;  /* the directory where the targets map is pinned */
	enum grant_files files;
	uint64_t patience_ns; /* how long a request may take to arrive */
};

/*
 * Serves one request from `socket`. Logs and counts a refusal with its reason. A request over the limit
 * (grant_limits.h) is held, and refused without a look at what it asks for. Returns an exit status.
 */
int grant_serve(int socket, const struct grant_settings *settings);

#endif
