/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_scope.h owns which processes a capture is about: the targets that its rule applies to, in the cgroup
 * that it watches; or the processes that somebody asked for.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_SCOPE_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_SCOPE_H

#include "consumer/capture/capture.h"
#include "consumer/host/cgroups.h"
#include "consumer/host/targets.h"

struct capture_scope {
	const struct targets *targets;
	struct cgroups *cgroups;
	const struct rule *rule;
	const char *cgroup;        /* NULL: the whole system */
	const struct usage *usage; /* names of processes that are no targets; NULL: none */
	/* of a capture on demand, which has the rule; NULL: a rule's */
	const struct asking *asking;
};

/* A capture_describe; `user` is the scope. */
bool capture_scope_describe(void *user, const struct sample *sample, struct capture_process *process);

/* The same of processes that have used something, for capture_usage.h. It is valid for as long as `scope`. */
struct capture_usage_scope capture_scope_of_usage(struct capture_scope *scope);

/* The same of the kernel programs' accounts. */
struct accounts_scope capture_scope_of_accounts(struct capture_scope *scope);

/* Whether the process of this sample is a target still. */
bool capture_scope_is_live(const struct capture_scope *scope, const struct sample *sample);

/* How long the capture's processes were on a CPU since usage->before. Not after capture_usage_end(). */
uint64_t capture_scope_cpu_ns(const struct capture_scope *scope, const struct capture_usage *usage,
			      const struct usage *now);

#endif
