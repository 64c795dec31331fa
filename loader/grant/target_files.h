/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target_files.h owns opening the two kinds of files of a target that the consumer needs for names: ELF files
 * that it maps, and its perf map. The process may be hostile, and so may be who asks: nothing is opened but a
 * regular file, and of a perf map none that the process could not have read itself.
 *
 * Both return NULL, or in words why not.
 */
#ifndef BOURDON_LOADER_GRANT_TARGET_FILES_H
#define BOURDON_LOADER_GRANT_TARGET_FILES_H

#include "common/grant_request.h"

/* Takes CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE and CAP_DAC_READ_SEARCH. */
const char *target_files_open_elf(const char *pin_dir, const struct grant_request *request, int *ret_fd);

/* Takes CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. */
const char *target_files_open_perf_map(const char *pin_dir, const struct grant_request *request, int *ret_fd);

#endif
