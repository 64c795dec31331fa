/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cleanup.h provides attributes that tie a resource to a scope: it is released on every path out of the
 * function. TAKE_PTR and TAKE_FD move ownership elsewhere.
 */
#ifndef BOURDON_COMMON_BASE_CLEANUP_H
#define BOURDON_COMMON_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Forgets the number, too: closed a second time, it would be a descriptor that another thread has opened since. */
static inline void cleanup_close(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;

		close(*fd);
		*fd = -EBADF;
		errno = saved;
	}
}

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_file_ _cleanup_(cleanup_file)
#define _cleanup_dir_ _cleanup_(cleanup_dir)

#define TAKE_PTR(pointer)                                                                                    \
	({                                                                                                   \
		__typeof__(pointer) taken_ = (pointer);                                                      \
		(pointer) = NULL;                                                                            \
		taken_;                                                                                      \
	})

#define TAKE_FD(fd)                                                                                          \
	({                                                                                                   \
		int taken_ = (fd);                                                                           \
		(fd) = -EBADF;                                                                               \
		taken_;                                                                                      \
	})

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
