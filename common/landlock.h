/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * landlock.h owns the kernel's Landlock domains: from then on a process opens what lies below a few named
 * places, and nothing else, whoever it is. It asks for all that the running kernel can refuse: also TCP
 * (Linux 6.7), ioctl on devices (6.10), abstract sockets and signals to processes outside the domain (6.12).
 * What is open already stays usable, as are descriptors that others send.
 */
#ifndef BOURDON_LANDLOCK_H
#define BOURDON_LANDLOCK_H

#include "common/landlock_abi.h"

#include <stddef.h>

enum landlock_use {
	LANDLOCK_READ = 1,       /* files */
	LANDLOCK_LIST = 1 << 1,  /* directories; no file can have it */
	LANDLOCK_WRITE = 1 << 2, /* files that are there */
	LANDLOCK_MAKE = 1 << 3,  /* and remove: regular files and sockets, in a directory */
};

struct landlock_place {
	const char *path; /* a file, or a directory with all below it; one that is not there is left out */
	int fd;           /* of it, where `path` is NULL */
	unsigned int uses;
};

/*
 * Confines the calling thread, and those that it makes from now on, to `places`; of none, to nothing. For
 * good. The caller has set no_new_privs. Returns the version in force, 0 where the kernel has none (then
 * nothing is confined), or -errno.
 */
int landlock_confine(const struct landlock_place *places, size_t count);

#endif
