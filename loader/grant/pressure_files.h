/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pressure_files.h owns opening the pressure files of cgroups for PSI triggers: only root may open them for
 * writing.
 */
#ifndef BOURDON_LOADER_GRANT_PRESSURE_FILES_H
#define BOURDON_LOADER_GRANT_PRESSURE_FILES_H

#include "common/protocol/grant_request.h"

#include <stdbool.h>

/*
 * Whether the file must be opened with CAP_SYS_RESOURCE for this trigger. The kernel judges a trigger by the
 * credentials that opened its file. Without that capability it accepts windows of whole multiples of 2 s and
 * serves them from its averaging worker. With it, it starts one real-time thread for each cgroup.
 */
bool pressure_files_is_privileged(const struct grant_request *request);

/*
 * Opens the file for reading and writing. Needs CAP_DAC_READ_SEARCH to open a cgroup by its id, and
 * CAP_DAC_OVERRIDE where the cgroup is delegated to a user. Returns NULL, or the reason for a refusal.
 */
const char *pressure_files_open(const struct grant_request *request, int *ret_fd);

#endif
