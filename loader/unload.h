/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unload.h owns the way back: --unload removes every trace of a load, --status shows the one there is.
 */
#ifndef BOURDON_LOADER_UNLOAD_H
#define BOURDON_LOADER_UNLOAD_H

/*
 * Both log or print, and return an exit status. Nothing loaded is EXIT_DONE to unload, EXIT_FAILED to show. /
 */
int unload_run(const char *pin_dir, const char *run_dir);
int load_status_run(const char *pin_dir, const char *run_dir);

#endif
