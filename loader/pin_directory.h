/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pin_directory.h owns the directory of pins as a whole. It is filled beside its final place and swapped in
 * by one rename, so that it holds all pins of one load or none.
 */
#ifndef BOURDON_LOADER_PIN_DIRECTORY_H
#define BOURDON_LOADER_PIN_DIRECTORY_H

#include <sys/types.h>

/*
 * Locks the parent of `pin_dir`, for moments only: loaders of other pins work in the same parent. Waits up to
 * PIN_LOCK_SECONDS while that lock is not free, because anybody who may open the parent may hold it, and up to
 * PIN_LOADING_SECONDS while another loader holds PIN_DIR_loading, because a busy machine may verify its programs for long.
 * `own`: this loader's descriptor of PIN_DIR_loading, or -EBADF. Returns the descriptor that holds the lock, -EBUSY, or another
 * -errno.
 */
#define PIN_LOCK_SECONDS 10
#define PIN_LOADING_SECONDS 60
int pin_directory_lock(const char *pin_dir, int own);

/* 1 where a daemon, or a loader that prepares them, holds these pins by its lock; 0 where none does, -errno where there are none. */
int pin_directory_users(const char *pin_dir);

/*
 * Makes the empty directory PIN_DIR_loading (bpffs refuses dots in names), after removing what an interrupted
 * loader left there. Returns a descriptor that holds it against other loaders of `pin_dir`, -EBUSY where one of them
 * holds it, -ENOENT or -ENODEV where there can be no pins, or another -errno. The caller frees *ret_path.
 */
int pin_directory_prepare(const char *pin_dir, gid_t gid, char **ret_path);

/* Swaps the prepared directory with `pin_dir`. The previous pins, if any, are at `prepared` afterwards. */
int pin_directory_swap(const char *prepared, const char *pin_dir);

/*
 * Ends what the programs of these pins deliver: an open iterator and a held pin keep a program in the kernel,
 * but from now on it delivers nothing. A missing directory is no error. -ENODATA: an older version pinned
 * them, and its programs cannot be ended. 0 or another -errno.
 */
int pin_directory_retire(const char *path);

/*
 * Retires a directory of pins and removes it with everything in it; a missing one is no error. -EXDEV, and
 * nothing is removed, where the path is a symbolic link or not a directory on a BPF file system. 0 or -errno.
 */
int pin_directory_remove(const char *path);

#endif
