/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_files.h owns the run directory: the manifest and the kernel's symbols. Both are written beside their
 * final places and renamed there. A manifest marks the directory as bourdon's.
 */
#ifndef BOURDON_LOADER_RUN_FILES_H
#define BOURDON_LOADER_RUN_FILES_H

#include "common/protocol/manifest.h"

#include <stddef.h>
#include <sys/types.h>

/* The contents of both files. The directory's group may read them; if that is root's, `gid`. */
struct run_files {
	const char *directory;
	gid_t gid;           /* of a directory that is made, too */
	const char *symbols; /* text of the symbol snapshot */
	size_t symbols_bytes;
};

/* Reads the manifest of the previous load. False where there is none. */
bool run_files_manifest(const char *directory, struct manifest *ret_manifest);

/*
 * Writes both files beside their final places. Makes a missing directory; leaves one that somebody else made
 * (systemd's RuntimeDirectory=) as it is; refuses one that others may write to, because they could replace
 * the files. Logs what failed; then nothing is left. 0 or -errno.
 */
int run_files_prepare(const struct run_files *files, const struct manifest *manifest);

/* Renames both into place. Logs what failed. 0 or -errno. */
int run_files_commit(const struct run_files *files);

/* Removes the prepared files that were not committed. */
void run_files_abandon(const struct run_files *files);

/* Removes both files, and the directory if bourdon made it. 0 or -errno. */
int run_files_remove(const char *directory);

#endif
