/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * confinement.h owns the doctor's look at the daemon: whether it runs, and whether every thread of it and of
 * its children is as confined as it promises. From /proc, as anyone may read it.
 */
#ifndef BOURDON_REPORT_CONFINEMENT_H
#define BOURDON_REPORT_CONFINEMENT_H

#include "common/findings.h"
#include "common/requirements.h"

#include <sys/types.h>

/* The process that holds the lock on the state directory's database; 0: none, or -errno. */
pid_t confinement_find_daemon(const struct machine *machine, const char *state_dir);

/* Adds its findings. */
void confinement_check(const struct machine *machine, const char *state_dir, struct findings *findings);

#endif
