/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * load.h owns a load: pinned programs, and manifest and kernel symbols in the run directory. It succeeds whole or changes nothing.
 * Room: bourdon-load, as root, one thread. main() calls it.
 */
#ifndef BOURDON_LOADER_LOAD_H
#define BOURDON_LOADER_LOAD_H

#include "loader/programs.h"

#include <stdbool.h>
#include <sys/types.h>

struct load_settings {
	const char *pin_dir;
	const char *run_dir;
	gid_t gid;        /* group that may open the pins */
	bool has_readers; /* pin `threads` for the group `readers`, too */
	gid_t readers;
	struct programs_settings programs;
	bool mounted_bpffs; /* this load mounted bpffs, so --unload may unmount it */
};

/* Logs what failed. Returns an exit status. */
int load_run(const struct load_settings *settings);

#endif
