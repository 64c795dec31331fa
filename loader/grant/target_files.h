/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_files.h owns opening the two kinds of files of a target that the consumer needs for names: ELF files
 * that it maps, and its perf map. The process may be hostile, and so may be who asks: nothing is opened but a
 * regular file, and of a perf map none that the process could not have read itself.
 *
 * Returns NULL, or in words why not.
 */
#ifndef BOURDON_LOADER_GRANT_TARGET_FILES_H
#define BOURDON_LOADER_GRANT_TARGET_FILES_H

#include "common/grant_request.h"

/* Takes CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, and for an ELF file CAP_CHECKPOINT_RESTORE. */
const char *grant_files_open(const char *pin_dir, const struct grant_request *request, int *ret_fd);

#endif
