/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own_usage.h tells what the daemon itself uses. The confined daemon cannot open /proc, so what is needed of it is
 * opened before. The symbolizers' CPU time is in no sum of their parents, which do not wait for them: of the daemon and its
 * children together, the cgroup of its unit tells.
 */
#ifndef BOURDON_CONSUMER_PROCESS_OWN_USAGE_H
#define BOURDON_CONSUMER_PROCESS_OWN_USAGE_H

#include <stdint.h>

#define OWN_CGROUP_BYTES 1024

struct own_usage {
	int statm_fd;
	char *cgroup_mount;            /* of cgroup2, or NULL */
	char cgroup[OWN_CGROUP_BYTES]; /* path below the mount of cgroup2, if that is a service's; else "" */
};

/* What is not known is -1. */
struct own_used {
	int64_t cpu_ns;                  /* of the daemon's threads */
	int64_t resident_bytes;          /* of the daemon */
	int64_t unit_cpu_ns, unit_bytes; /* of the daemon's unit, children included */
};

/* Call it before confinement. What cannot be opened is not known later. */
void own_usage_open(struct own_usage *ret_usage);
void own_usage_close(struct own_usage *usage);

/* From /proc/self/cgroup: the path, if its last part is a service; else "". */
void own_cgroup_parse(const char *text, char into[OWN_CGROUP_BYTES]);

void own_usage_read(const struct own_usage *usage, struct own_used *ret_used);

#endif
