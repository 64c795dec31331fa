/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_access.h owns a hold on one process through its directory below /proc. The descriptor never refers
 * to another process, however often the pid is reused. Each function returns NULL, or a reason for people to
 * read: no code compares it.
 */
#ifndef BOURDON_LOADER_GRANT_PROCESS_ACCESS_H
#define BOURDON_LOADER_GRANT_PROCESS_ACCESS_H

#include "common/abi/base.h"
#include "loader/grant/process_text.h"

#include <stdint.h>

struct process_access {
	int directory_fd; /* O_PATH */
	uint64_t started_ns;
};

/*
 * Opens the directory of a live process that began at `started_ns`, to the 10 ms that /proc resolves, and
 * that has an address space. The caller closes it, whatever this function returns.
 */
const char *process_access_open(uint32_t tgid, uint64_t started_ns, struct process_access *ret_process);
void process_access_close(struct process_access *process);

/* Fails when the process has ended. */
const char *process_access_check(const struct process_access *process);

/* Finds the executable mapping that begins exactly at `begins`. */
const char *process_access_find_mapping(const struct process_access *process, uint64_t begins,
					struct process_mapping *ret_mapping);

/* Reads the comm, padded with zeros. */
const char *process_access_comm(const struct process_access *process, char ret_comm[ABI_COMM_BYTES]);

const char *process_access_status(const struct process_access *process, struct process_status *ret_status);

#endif
