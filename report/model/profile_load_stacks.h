/* SPDX-License-Identifier: GPL-2.0-only */
/* profile_load_stacks.h owns reading the stacks of a profile: the tree of their nodes, the frames of each, the modules of these. */
#ifndef BOURDON_REPORT_MODEL_PROFILE_LOAD_STACKS_H
#define BOURDON_REPORT_MODEL_PROFILE_LOAD_STACKS_H

#include "report/model/profile.h"

/* For profile_load(), which has added a row for each stack. Nodes are then behind their parents. Returns 0, -ENOMEM or -E2BIG. */
int profile_load_stacks(struct database *database, struct profile *profile);

#endif
