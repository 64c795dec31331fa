/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pin_directory.h owns the directory of pins as a whole: it is filled beside its final place and swapped in
 * with one rename, so that there are always all pins of one load, or none.
 */
#ifndef BOURDON_LOADER_PIN_DIRECTORY_H
#define BOURDON_LOADER_PIN_DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Locks the parent of `pin_dir`, so that one loader works there at a time, and waits PIN_LOCK_SECONDS for
 * another that does. Returns the descriptor that holds the lock, -EBUSY or another -errno.
 */
#define PIN_LOCK_SECONDS 10
int pin_directory_lock(const char *pin_dir);

/* Whether a bourdond uses the pins: it holds the lock of their directory. False where there are none. */
bool pin_directory_is_used(const char *pin_dir);

/*
 * Makes the empty directory PIN_DIR_loading (bpffs refuses dots in names), after removing what a loader
 * that died left there. The caller frees *ret_path. 0 or -errno.
 */
int pin_directory_prepare(const char *pin_dir, gid_t gid, char **ret_path);

/* Puts the prepared directory in place of `pin_dir`. The old one, if any, is at `prepared` then. */
int pin_directory_swap(const char *prepared, const char *pin_dir);

/*
 * Removes a directory of pins and all in it; one that is not there is no error. -EXDEV for a path that is no
 * directory on a BPF file system, or a symbolic link: nothing is removed then. 0 or -errno.
 */
int pin_directory_remove(const char *path);

#endif
