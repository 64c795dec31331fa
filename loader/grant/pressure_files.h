/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pressure_files.h owns opening pressure files of cgroups, for triggers: root alone may write them.
 */
#ifndef BOURDON_LOADER_GRANT_PRESSURE_FILES_H
#define BOURDON_LOADER_GRANT_PRESSURE_FILES_H

#include "common/grant_request.h"

#include <stdbool.h>

/*
 * Whether a trigger needs to be opened with CAP_SYS_RESOURCE. The kernel judges it by the credentials that
 * opened its file: without that capability it uses the worker that averages anyway, and takes windows of
 * whole two seconds only; with it, a real-time thread for each cgroup.
 */
bool pressure_files_is_privileged(const struct grant_request *request);

/*
 * Opens the file for reading and writing. Takes CAP_DAC_READ_SEARCH, for the cgroup's id, and
 * CAP_DAC_OVERRIDE where the cgroup is delegated to a user. Returns NULL, or in words why not.
 */
const char *pressure_files_open(const struct grant_request *request, int *ret_fd);

#endif
