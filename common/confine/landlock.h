/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * landlock.h confines a process to a Landlock domain: from then on it can open only files below a few named
 * places, whatever its uid. The domain restricts everything that the running kernel supports: also TCP (Linux
 * 6.7), ioctl on devices (6.10), abstract sockets and signals to processes outside the domain (6.12).
 * Descriptors that are open, or received from others, stay usable.
 */
#ifndef BOURDON_COMMON_CONFINE_LANDLOCK_H
#define BOURDON_COMMON_CONFINE_LANDLOCK_H

#include "common/confine/landlock_abi.h"

#include <stddef.h>

enum landlock_use {
	LANDLOCK_READ = 1,       /* files */
	LANDLOCK_LIST = 1 << 1,  /* directories; not valid for a file */
	LANDLOCK_WRITE = 1 << 2, /* existing files */
	LANDLOCK_MAKE = 1 << 3,  /* create and remove regular files and sockets in a directory */
};

struct landlock_place {
	const char *path; /* a file, or a directory with everything below it; a missing path is skipped */
	int fd;           /* descriptor of the place if `path` is NULL */
	unsigned int uses;
};

/*
 * Confines the calling thread, and the threads it creates later, to `places` for good; with no places, to
 * nothing. The caller must have set no_new_privs. Returns the version in force, 0 if the kernel has no
 * Landlock (then nothing is confined), or -errno.
 */
int landlock_confine(const struct landlock_place *places, size_t count);

#endif
