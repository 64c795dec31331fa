/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h owns a cgroup whose share or limit a remedy changes: which one it is, whether it may be changed, and the command that
 * does it.
 */
#ifndef BOURDON_REPORT_ANSWER_PLACE_H
#define BOURDON_REPORT_ANSWER_PLACE_H

#include "report/answer/answer.h"
#include "report/model/host.h"

#include <limits.h>
#include <stdbool.h>

struct place {
	char path[PATH_MAX]; /* "": longer than any is */
	bool is_unit;        /* the path ends with a unit that systemd knows */
	bool is_kubernetes, is_docker;
};

/* The cgroup with this path. */
struct place place_of(const char *cgroup);

/*
 * The systemd unit, or the cgroup, at or above `of` which is the child of what two cgroups have in common: weights are shared out
 * between such siblings. Returns false: one is within the other, or they are the same.
 */
bool place_sibling(const char *of, const char *other, struct place *ret_place);

/*
 * The innermost cgroup at or above this path that may get less: that of a unit, if systemd has one there, because what is below
 * a service is the service's own affair. Returns false: it holds the victim, init, or bourdon.
 */
bool place_own(const char *of, const char *victim, struct place *ret_place);

/* Whether a cgroup holds init or bourdon themselves, as system.slice does: it must not get less. */
bool place_is_shared(const struct place *place);

/* Unit, else path. */
const char *place_name(const struct place *place);

/* Whether it has ended, as far as the host tells. */
bool place_is_gone(const struct place *place, const struct host *host);

/* One change of a place. */
struct place_change {
	const char *property, *value;  /* for systemctl; the value as a shell's word */
	const char *file, *file_value; /* of the cgroup; file_value NULL: there is none */
	const char *docker;            /* options of 'docker update'; NULL: it has none */
};

/*
 * The command that changes it, kept with the answer. "": there is none, because no systemd manages the host and the cgroup has no
 * such file. NULL without memory.
 */
const char *place_command(struct answer *answer, const struct place *place, const struct host *host,
			  const struct place_change *change);

#endif
