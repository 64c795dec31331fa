/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_text.h owns parsing the files below /proc/PID (proc(5)). The process chooses the bytes of its comm
 * and of its paths: they must not be mistaken for another field.
 */
#ifndef BOURDON_LOADER_GRANT_PROCESS_TEXT_H
#define BOURDON_LOADER_GRANT_PROCESS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_stat {
	char state;           /* 'R', 'S', ... */
	uint32_t flags;       /* PF_* of the kernel */
	uint64_t start_ticks; /* since boot, in units of sysconf(_SC_CLK_TCK) */
};

/* /proc/PID/stat. 0 or -EBADMSG. */
int process_text_stat(const char *text, struct process_stat *ret_stat);

/* As the kernel orders them. */
enum process_uid { PROCESS_REAL, PROCESS_EFFECTIVE, PROCESS_SAVED, PROCESS_FILESYSTEM, PROCESS_UIDS };

struct process_status {
	uint32_t innermost_id; /* the pid in the process's own pid namespace */
	uid_t uids[PROCESS_UIDS];
};

/* /proc/PID/status. 0 or -EBADMSG. */
int process_text_status(const char *text, struct process_status *ret_status);

struct process_mapping {
	uint64_t begins, ends;
	bool executable;
};

/* One line of /proc/PID/maps. 0 or -EBADMSG. */
int process_text_mapping(const char *line, struct process_mapping *ret_mapping);

#endif
