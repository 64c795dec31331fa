/* SPDX-License-Identifier: GPL-2.0-only */
/* blame.h owns the numbers behind verdicts that name no process: a limit, a disk, interrupts, the hypervisor. */
#ifndef BOURDON_REPORT_BLAME_H
#define BOURDON_REPORT_BLAME_H

#include "report/answer_facts.h"

/* Returns 0; -ENOMEM; or -EIO after a query that failed. */
int blame_find(struct answer *answer, struct blame *ret_blame);

/* Competing processes that bourdond could not name, by its sentence. */
const char *blame_unnamed(const char *because);

/* The last part of a cgroup's path if it is a unit of systemd, else the path. */
const char *blame_unit_of(const char *cgroup);

#endif
