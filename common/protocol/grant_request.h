/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_request.h defines the protocol between the consumer and bourdon-grant: one connection (a Unix stream
 * socket), one request, one answer. A request is one line with decimal numbers, single blanks and a newline:
 *
 *     pressure CGROUP_ID RESOURCE WINDOW_US    a cgroup's pressure file, for a trigger
 *     elf TGID STARTED_NS BEGINS               the ELF file of the executable mapping that begins there
 *     perf-map TGID STARTED_NS                 the perf map that the process writes for its JIT code
 *
 * The last two are granted for targets only. TGID and STARTED_NS together identify a process, as the
 * in-kernel programs report it. The answer is one message: "ok\n" with the descriptor attached (SCM_RIGHTS),
 * or "refused REASON\n" without a descriptor.
 */
#ifndef BOURDON_COMMON_PROTOCOL_GRANT_REQUEST_H
#define BOURDON_COMMON_PROTOCOL_GRANT_REQUEST_H

#include "common/kernel/psi_resource.h"

#include <stddef.h>
#include <stdint.h>

#define GRANT_REQUEST_BYTES_MAX 128
#define GRANT_ANSWER_BYTES_MAX 128
#define GRANT_SOCKET_DEFAULT "/run/bourdon-grant.sock"

#define GRANT_TGID_MAX (1U << 22)      /* PID_MAX_LIMIT, linux/threads.h */
#define GRANT_BEGINS_MULTIPLE_OF 4096U /* the smallest page */

/* A perf map is text; a larger file is not a list of names. */
#define PERF_MAP_BYTES_MAX (64UL << 20)

enum grant_kind { GRANT_PRESSURE, GRANT_ELF, GRANT_PERF_MAP, GRANT_KINDS };

/* Fields of other kinds are 0. */
struct grant_request {
	enum grant_kind kind;
	/* GRANT_PRESSURE */
	uint64_t cgroup_id;
	enum psi_resource resource;
	uint64_t window_us;
	/* GRANT_ELF, GRANT_PERF_MAP */
	uint32_t tgid;
	uint64_t started_ns; /* task_struct.start_boottime */
	uint64_t begins;     /* GRANT_ELF: virtual address */
};

/*
 * Parses one whole request of `bytes` bytes, newline included. Returns 0, -EAGAIN if the newline is missing
 * yet, -E2BIG if it is longer than any valid request, or -EINVAL. Invalid are: unknown words; numbers with a
 * sign, leading zeros or too many digits; windows outside the kernel's limits; impossible process ids;
 * addresses that are not page-aligned; anything after the newline.
 */
int grant_request_parse(const char *text, size_t bytes, struct grant_request *ret_request);

/* Writes a request with its newline into `into`, of GRANT_REQUEST_BYTES_MAX bytes. Returns its length. */
size_t grant_request_format(const struct grant_request *request, char *into);

#define GRANT_OK "ok\n"
#define GRANT_REFUSED "refused "
/* The only reasons that the consumer compares. The first applies to every file, the second to no file. */
#define GRANT_NO_FILES "root's policy hands out no files"
#define GRANT_LATER "over the limit of requests a second; ask later"

#endif
