/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target_files.h owns opening the two kinds of files of a target that the consumer needs for names: the ELF
 * files that it maps, and its perf map. Both the process and the requester may be hostile: only regular files
 * are opened, and only a perf map that the process itself could have read.
 *
 * Returns NULL, or the reason for a refusal.
 */
#ifndef BOURDON_LOADER_GRANT_TARGET_FILES_H
#define BOURDON_LOADER_GRANT_TARGET_FILES_H

#include "common/protocol/grant_request.h"

/* Needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, and for an ELF file CAP_CHECKPOINT_RESTORE. */
const char *target_files_open(const char *pin_dir, const struct grant_request *request, int *ret_fd);

#endif
