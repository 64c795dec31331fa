/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h owns a cgroup whose share or limit a remedy changes: which one it is, whether it may be changed, and the command that
 * does it.
 */
#ifndef BOURDON_REPORT_PLACE_H
#define BOURDON_REPORT_PLACE_H

#include "report/host.h"

#include <stdbool.h>
#include <stddef.h>

struct place {
	char *path;       /* owned */
	const char *unit; /* within path; NULL: systemd does not know it */
	bool is_kubernetes, is_docker;
};

/* The cgroup with the first `length` bytes of this path. Returns 0 or -ENOMEM; free it. */
int place_of(const char *cgroup, size_t length, struct place *ret_place);
void place_free(struct place *place);
#define _cleanup_place_ _cleanup_(place_free)

/*
 * The length of a cgroup's path down to the systemd unit at or above that place which is the child of what two cgroups have in
 * common: weights are shared out between such siblings. 0: one is within the other, or they are the same.
 */
size_t place_sibling_length(const char *of, const char *other);

/*
 * The innermost cgroup at or above this path that may get less: that of a unit, if systemd has one there, because what is below
 * a service is the service's own affair. Returns its length; 0: it holds the victim, init, or bourdon.
 */
size_t place_own_length(const char *of, const char *victim);

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
 * The command that changes it. *ret_command is NULL where there is none: no systemd manages the host and the cgroup has no such
 * file. The caller frees it. Returns 0 or -ENOMEM.
 */
int place_command(const struct place *place, const struct host *host, const struct place_change *change,
		  char **ret_command);

#endif
