/* SPDX-License-Identifier: GPL-2.0-only */
/* weight.h owns the weights that cgroups have now, on the machine where a capture was made. */
#ifndef BOURDON_REPORT_WEIGHT_H
#define BOURDON_REPORT_WEIGHT_H

#include "report/database.h"

#include <stdint.h>

/* Where cgroup2 is mounted, if the capture is of this machine; NULL: not known. The caller frees it. */
char *weight_mount(struct database *database, int64_t capture_id);

/* What `file`, cpu.weight or io.weight, of a cgroup says; negative: not known. A CPU weight of 0 is an idle cgroup's. */
int weight_read(const char *mount, const char *cgroup, const char *file);

#endif
