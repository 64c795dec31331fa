/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * load.h owns a load: the programs into the kernel, their pins into place, the manifest and the kernel's
 * symbols into the run directory. All of it or nothing.
 */
#ifndef BOURDON_LOADER_LOAD_H
#define BOURDON_LOADER_LOAD_H

#include "loader/programs.h"

#include <stdbool.h>
#include <sys/types.h>

struct load_settings {
	const char *pin_dir;
	const char *run_dir;
	gid_t gid; /* who may open the pins */
	struct programs_settings programs;
	bool mounted_bpffs; /* for this load, so that an unload may unmount it */
};

/* Logs what failed. Returns an exit status. */
int load_run(const struct load_settings *settings);

#endif
