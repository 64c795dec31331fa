/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * host.h owns what is in force now on the machine of a capture, if that is this machine: a remedy is true only beside it.
 * Names come from the database, and may be anybody's: none leads out of these directories.
 */
#ifndef BOURDON_REPORT_MODEL_HOST_H
#define BOURDON_REPORT_MODEL_HOST_H

#include "report/model/database.h"

#include <stdbool.h>
#include <stdint.h>

struct host {
	bool is_here;      /* the capture is of this machine; else the rest is not known */
	bool has_systemd;  /* systemd manages it */
	char *cgroups;     /* where cgroup2 is mounted; NULL: nowhere */
	const char *block; /* as /sys/class/block */
	const char *proc;  /* as /proc */
};

/* Returns 0 or -ENOMEM. Free it. */
int host_of(struct database *database, int64_t capture_id, struct host *ret_host);
void host_free(struct host *host);
#define _cleanup_host_ _cleanup_(host_free)

bool host_has_cgroup(const struct host *host, const char *cgroup);

/* Whether a cgroup has this file, which it has only with the controller. */
bool host_has_file(const struct host *host, const char *cgroup, const char *file);

/* The number with which a cgroup's file begins, or its line "default"; negative: there is none. "max" is INT64_MAX. */
int64_t host_cgroup_number(const struct host *host, const char *cgroup, const char *file);

/* What cpu.max of a cgroup allows, in percent of a CPU; negative: there is none. "max" is INT64_MAX. */
int64_t host_quota_percent(const struct host *host, const char *cgroup);

/* The file whose weights share out this disk among cgroups: bfq schedules it, or io.cost is on. NULL: none do. */
const char *host_disk_weight_file(const struct host *host, const char *disk);

/* Stores the disk's "MAJOR:MINOR". Returns false if there is no such disk. */
bool host_disk_number(const struct host *host, const char *disk, char into[32]);

/* Whether this process runs and has this name. */
bool host_has_process(const struct host *host, int64_t tgid, const char *comm);

/*
 * Whether a cgroup is apart from others for the CPU: it or one above has the controller. Without that its threads are with all
 * others, or with those of their session.
 */
bool host_cpu_controlled(const struct host *host, const char *cgroup);

/*
 * The number of the session that the kernel schedules as one (sched(7), autogroup), if the process is in one: a nice value
 * counts within it alone. Negative: it is in none, or not known.
 */
int64_t host_autogroup(const struct host *host, int64_t tgid);

#endif
