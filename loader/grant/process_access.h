/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_access.h owns holding on to one process by its directory below /proc: a descriptor of it never comes
 * to mean another process, however often the id is reused. Its functions return NULL, or in words why not,
 * for a person to read: no code decides by them.
 */
#ifndef BOURDON_LOADER_GRANT_PROCESS_ACCESS_H
#define BOURDON_LOADER_GRANT_PROCESS_ACCESS_H

#include "common/abi.h"
#include "loader/grant/process_text.h"

#include <stdint.h>

struct process_access {
	int directory_fd; /* O_PATH */
	uint64_t started_ns;
};

/*
 * Holds the live process that began at `started_ns`, as far as /proc tells (10 ms), and that has an address
 * space. The caller closes it, whatever is returned.
 */
const char *process_access_open(uint32_t tgid, uint64_t started_ns, struct process_access *ret_process);
void process_access_close(struct process_access *process);

/* Whether it still lives. */
const char *process_access_check(const struct process_access *process);

/* The executable mapping that begins exactly there. */
const char *process_access_find_mapping(const struct process_access *process, uint64_t begins,
					struct process_mapping *ret_mapping);

/* What it is called, zeroed behind its end. */
const char *process_access_comm(const struct process_access *process, char ret_comm[ABI_COMM_BYTES]);

const char *process_access_status(const struct process_access *process, struct process_status *ret_status);

#endif
