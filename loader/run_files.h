/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_files.h owns the run directory: the manifest and the kernel's symbols, which are written beside their
 * final places and renamed there, and which make the directory ours.
 */
#ifndef BOURDON_LOADER_RUN_FILES_H
#define BOURDON_LOADER_RUN_FILES_H

#include "common/manifest.h"

#include <stddef.h>
#include <sys/types.h>

/* What writes them, and for whom. */
struct run_files {
	const char *directory;
	gid_t gid;
	const char *symbols; /* text of the snapshot */
	size_t symbols_bytes;
};

/* What the manifest of the load before this one said. False where there is none. */
bool run_files_manifest(const char *directory, struct manifest *ret_manifest);

/*
 * Writes both beside their places. A directory that is not there is made; one that is somebody else's
 * (systemd's RuntimeDirectory=) stays as it is, and one that others may write to is refused: they could put
 * files in place of ours. Logs what failed; then nothing is left. 0 or -errno.
 */
int run_files_prepare(const struct run_files *files, const struct manifest *manifest);

/* Renames both into place. Logs what failed. 0 or -errno. */
int run_files_commit(const struct run_files *files);

/* Removes what was prepared and not committed. */
void run_files_abandon(const struct run_files *files);

/* Removes both, and the directory with them where it is ours. 0 or -errno. */
int run_files_remove(const char *directory);

#endif
