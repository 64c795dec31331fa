/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_request.h defines the request for a capture on demand, which `bourdon capture` sends over the control socket: one
 * line (status_line.h) of the kind "capture". The daemon trusts none of it.
 */
#ifndef BOURDON_COMMON_PROTOCOL_CAPTURE_REQUEST_H
#define BOURDON_COMMON_PROTOCOL_CAPTURE_REQUEST_H

#include "common/abi/records.h"
#include "common/policy/comm_pattern.h"
#include "common/protocol/latency_groups.h"
#include "common/protocol/status_line.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_PIDS_MAX 16U
#define CAPTURE_NOTE_BYTES 256U
/* As of a rule's `capture` and `history`. */
#define CAPTURE_FOR_NS_MIN 1000000000ULL
#define CAPTURE_FOR_NS_MAX 3600000000000ULL
#define CAPTURE_BEFORE_NS_MAX 600000000000ULL

/* Lines of these kinds ask for the captures under way, and to end the one with the number `id`. */
#define CAPTURE_WHO "who"
#define CAPTURE_END "end"

/* A longer line is refused. */
#define CAPTURE_REQUEST_BYTES_MAX 16384U

/* Which samples of the processes are kept: bits. */
#define CAPTURE_ON_CPU 1U
#define CAPTURE_OFF_CPU 2U

/*
 * Either `everyone`, or processes by their ids, or processes that match all the others that are set: comm, and unit or
 * cgroup.
 */
struct capture_request {
	bool everyone; /* every process with an address space */
	uint32_t pids[CAPTURE_PIDS_MAX];
	uint32_t pids_count;
	bool has_comm;
	struct comm_pattern comm;
	char unit[NAME_MAX + 1];            /* name or glob, as in a rule; "": none */
	char cgroup[CGROUP_PATH_BYTES + 1]; /* path below the mount of cgroup2; "": none */
	uint32_t kinds;                     /* CAPTURE_* */
	bool has_probes;                    /* false: all groups of latencies that are measured */
	uint32_t probes;                    /* else these: a bit for each LATENCY_* */
	uint64_t for_ns, before_ns;
	char note[CAPTURE_NOTE_BYTES + 1]; /* "": none */
};

/* Returns NULL, or what is wrong with the request as a whole, in the words of the command line. */
const char *capture_request_mistake(const struct capture_request *request);

/* Writes the line. */
void capture_request_write(const struct capture_request *request, FILE *out);

/*
 * Reads the fields of a line of the kind "capture". Returns NULL, or what is wrong with it; then nothing is stored. The
 * text is constant.
 */
const char *capture_request_read(const struct status_line *line, struct capture_request *ret_request);

/* What was asked for, as options of `bourdon capture`, without the note. The caller frees; NULL without memory. */
char *capture_request_text(const struct capture_request *request);

#endif
