/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * confinement.h owns the doctor's check of the running daemon: whether every thread of it and of its children
 * is confined. Everything comes from /proc files that any user can read.
 *
 * Room: is it well: `status`, `doctor`, and `capture`, which asks for one. It reads the daemon's socket, its
 * files and /proc.
 */
#ifndef BOURDON_REPORT_HEALTH_CONFINEMENT_H
#define BOURDON_REPORT_HEALTH_CONFINEMENT_H

#include "common/kernel/requirements.h"
#include "common/system/findings.h"

#include <sys/types.h>

/*
 * The process that holds the lock of the database in the state directory: found by the device and inode of the
 * lock file, and of the user who owns that file. 0: none; negative: -errno.
 */
pid_t confinement_find_daemon(const struct machine *machine, const char *state_dir);

/* Adds its findings. */
void confinement_check(const struct machine *machine, const char *state_dir, struct findings *findings);

#endif
