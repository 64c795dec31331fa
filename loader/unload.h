/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unload.h owns --unload, which removes every trace of a load, and --status, which shows the current one.
 */
#ifndef BOURDON_LOADER_UNLOAD_H
#define BOURDON_LOADER_UNLOAD_H

#include <stdbool.h>

/* Whether unload_run() unmounts bpffs, because a load mounted it. */
bool unload_needs_sys_admin(const char *pin_dir, const char *run_dir);

/*
 * Both log or print, and return an exit status. With nothing loaded, unload returns EXIT_DONE and status
 * EXIT_FAILED.
 */
int unload_run(const char *pin_dir, const char *run_dir);
int load_status_run(const char *pin_dir, const char *run_dir);

#endif
