/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * asking.h owns what a capture on demand is of, and who asked for it. It does not change once the capture has begun, so
 * that both threads may read it.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_ASKING_H
#define BOURDON_CONSUMER_CAPTURE_ASKING_H

#include "common/protocol/capture_request.h"
#include "consumer/process/shares.h"
#include "consumer/rules/rules.h"

/* A process that was asked for by its id, as it was then. */
struct asking_process {
	uint32_t tgid;
	uint64_t started_ns; /* CLOCK_BOOTTIME */
};

struct asking {
	uint64_t serial;  /* of the request, within the run; from 1 on */
	struct rule rule; /* the processes are those that it applies to; it is in no configuration */
	struct asking_process processes[CAPTURE_PIDS_MAX];
	uint32_t processes_count; /* 0: all that the rule applies to; else these alone */
	uint32_t kinds;           /* CAPTURE_* */
	uint64_t for_ns, before_ns;
	uint32_t uid;
	char user[33];            /* name of the user; "": not known */
	char *text;               /* what was asked for, as options of `bourdon capture` */
	char *note;               /* or NULL */
	struct share_owner owner; /* whose share it takes */
};

/* Makes it of a request, without the ids of processes. The caller frees it; NULL without memory. */
struct asking *asking_new(const struct capture_request *request);
void asking_free(struct asking *asking);

/* Whether the process is one of those that were asked for by their ids; true where none was. */
bool asking_names(const struct asking *asking, uint32_t tgid, uint64_t started_ns);

#endif
