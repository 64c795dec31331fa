/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target_files.h owns opening the two kinds of files of a target that the consumer needs for names: the ELF
 * files that it maps, and its perf map. Both the process and the requester may be hostile: only regular files
 * are opened, and only a perf map that the process itself could have read.
 *
 * Both functions return NULL, or the reason for a refusal.
 */
#ifndef BOURDON_LOADER_GRANT_TARGET_FILES_H
#define BOURDON_LOADER_GRANT_TARGET_FILES_H

#include "common/grant_request.h"

/* Needs CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE and CAP_DAC_READ_SEARCH. */
const char *target_files_open_elf(const char *pin_dir, const struct grant_request *request, int *ret_fd);

/* Needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. */
const char *target_files_open_perf_map(const char *pin_dir, const struct grant_request *request, int *ret_fd);

#endif
